//! Bodies of answers, whole and damaged.

use std::{convert::Infallible, future, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http_body_util::{BodyDataStream, BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer to the client. An error in it closes the connection at that point.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// The connection is closed here, without another byte.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("cut by the fault proxy")]
pub(super) struct Cut;

impl Cut {
    /// Lets the connection send what it has been given before, and then cuts it.
    pub(super) async fn after_flush() -> Cut {
        // One turn in which the body has nothing to offer is the one in which the connection flushes.
        tokio::task::yield_now().await;
        Cut
    }
}

pub(super) fn full(bytes: Bytes) -> AnswerBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}

pub(super) fn from_stream(
    stream: impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static,
) -> AnswerBody {
    StreamBody::new(stream.map(|bytes| bytes.map(Frame::data))).boxed_unsync()
}

/// How a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Early {
    /// As if this had been all.
    Clean,
    /// With the connection.
    Cut,
}

/// The first bytes of a body.
pub(super) fn first_bytes(body: AnswerBody, count: usize, early: Early) -> AnswerBody {
    let state = Some((body.into_data_stream(), count));
    from_stream(stream::unfold(state, move |state| async move {
        let (mut data, left) = state?;
        if left == 0 {
            return match early {
                Early::Clean => None,
                Early::Cut => Some((Err(Cut::after_flush().await.into()), None)),
            };
        }
        let next = data.next().await?;
        Some(match next {
            Ok(mut chunk) => {
                chunk.truncate(left);
                let left = left - chunk.len();
                (Ok(chunk), Some((data, left)))
            }
            Err(error) => (Err(error), None),
        })
    }))
}

/// A body in small pieces with a pause before each.
pub(super) fn slow(body: AnswerBody, bytes: usize, pause: Duration) -> AnswerBody {
    let state = (body.into_data_stream(), Bytes::new());
    from_stream(stream::unfold(state, move |(mut data, mut rest)| async move {
        if rest.is_empty() {
            match data.next().await? {
                Ok(chunk) => rest = chunk,
                Err(error) => return Some((Err(error), (data, rest))),
            }
        }
        tokio::time::sleep(pause).await;
        let piece = rest.split_to(bytes.max(1).min(rest.len()));
        Some((Ok(piece), (data, rest)))
    }))
}

/// A body that never has a byte and never ends. Keeps the real one, so that the API server sees an open connection.
pub(super) fn silent(body: AnswerBody) -> AnswerBody {
    from_stream(stream::unfold(body.into_data_stream(), |data: BodyDataStream<AnswerBody>| async move {
        future::pending::<()>().await;
        Some((Ok(Bytes::new()), data))
    }))
}
