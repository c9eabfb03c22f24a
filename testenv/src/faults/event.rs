//! Events of a watch, one JSON object a line.

use std::{fmt, sync::Arc};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http_body_util::{BodyDataStream, BodyExt};
use kube::client::Body;
use serde::Deserialize;
use serde_json::Value;

/// One event. What is no event (it should not happen) has no type and is passed on as it is.
#[derive(Clone)]
pub(super) struct Event {
    /// The line with its end.
    pub(super) line: Bytes,
    /// ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
    pub(super) kind: String,
    pub(super) object: Arc<Value>,
}

#[derive(Default, Deserialize)]
struct Parts {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

impl Event {
    pub(super) fn parse(line: Bytes) -> Event {
        let parts: Parts = serde_json::from_slice(&line).unwrap_or_default();
        Event { line, kind: parts.kind, object: Arc::new(parts.object) }
    }

    /// The API server writes the type first, and some clients rely on it.
    pub(super) fn new(kind: &str, object: Value) -> Event {
        let line = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        Event { line: line.into(), kind: kind.to_owned(), object: Arc::new(object) }
    }

    pub(super) fn rewritten(self, change: &(impl Fn(&mut Value) + ?Sized)) -> Event {
        let mut object = Value::clone(&self.object);
        change(&mut object);
        Event::new(&self.kind, object)
    }

    /// A text field of the object's metadata.
    pub(super) fn metadata(&self, field: &str) -> &str {
        self.object["metadata"][field].as_str().unwrap_or_default()
    }
}

/// Type, name and version, as the log names an event.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}@{}", self.kind, self.metadata("name"), self.metadata("resourceVersion"))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The lines of a body.
pub(super) struct Lines {
    data: BodyDataStream<Body>,
    buffer: BytesMut,
}

impl Lines {
    pub(super) fn new(body: Body) -> Lines {
        Lines { data: body.into_data_stream(), buffer: BytesMut::new() }
    }

    /// The next line with its end. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, kube::Error>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                return Some(Ok(self.buffer.split_to(end + 1).freeze()));
            }
            match self.data.next().await {
                Some(Ok(chunk)) => self.buffer.extend_from_slice(&chunk),
                Some(Err(error)) => return Some(Err(error)),
                None if self.buffer.is_empty() => return None,
                None => return Some(Ok(self.buffer.split().freeze())),
            }
        }
    }
}
