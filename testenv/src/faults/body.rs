//! Bodies of answers.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer to the client. An error in it closes the connection at that point.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// The connection is closed here, without another byte.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("cut by the fault proxy")]
pub(super) struct Cut;
