//! Answers in the API server's place.

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::{Value, json};

use super::{
    body::{self, AnswerBody},
    event::Event,
};

/// An answer that says no, with the body the API server would send. A number is a refusal with this HTTP code.
#[derive(Clone, Debug)]
pub struct Refusal {
    code: StatusCode,
    retry_after: Option<u64>,
    body: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Status(Value),
    Text(String),
}

impl Refusal {
    /// A Status of this HTTP code, with the reason the API server gives most often for it. A code that is none
    /// becomes 500.
    pub fn code(code: u16) -> Refusal {
        let message = format!("the fault proxy answers {code}");
        Refusal::status(json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason(code), "code": code,
        }))
    }

    /// A Status as it is given; its `code` is the HTTP code.
    pub fn status(status: Value) -> Refusal {
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let code = code.and_then(|code| StatusCode::from_u16(code).ok());
        Refusal {
            code: code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            retry_after: None,
            body: Kind::Status(status),
        }
    }

    /// Plain text, as from a load balancer, from the API server's own overload protection (429), or for a group that
    /// is not installed (404).
    pub fn text(code: u16, text: &str) -> Refusal {
        Refusal { body: Kind::Text(text.to_owned()), ..Refusal::code(code) }
    }

    /// 410 for a version that has been compacted away, as a list or the ERROR event of a watch has it.
    pub fn expired() -> Refusal {
        Refusal::code(410).message("too old resource version: 1 (2)")
    }

    /// 410 for a continue token that is too old, with another one to go on with.
    pub fn expired_continue(token: &str) -> Refusal {
        Refusal::code(410)
            .message("The provided continue parameter is too old to display a consistent list result.")
            .with("metadata", json!({"continue": token}))
    }

    /// 504 for a read at a version the API server has not seen yet.
    pub fn version_too_large() -> Refusal {
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        Refusal::code(504)
            .message("Timeout: Too large resource version: 2, current: 1")
            .with("details", json!({"causes": [cause], "retryAfterSeconds": 1}))
    }

    /// With another reason, such as `AlreadyExists` for 409.
    #[must_use]
    pub fn reason(self, reason: &str) -> Refusal {
        self.with("reason", reason.into())
    }

    /// With another message.
    #[must_use]
    pub fn message(self, message: &str) -> Refusal {
        self.with("message", message.into())
    }

    /// With a Retry-After header.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Refusal {
        Refusal { retry_after: Some(seconds), ..self }
    }

    fn with(mut self, field: &str, value: Value) -> Refusal {
        if let Kind::Status(status) = &mut self.body {
            status[field] = value;
        }
        self
    }

    pub(super) fn response(&self) -> Response<AnswerBody> {
        let (kind, text) = match &self.body {
            Kind::Status(status) => ("application/json", status.to_string()),
            Kind::Text(text) => ("text/plain; charset=utf-8", text.clone()),
        };
        let mut response = Response::new(body::full(Bytes::from(text)));
        *response.status_mut() = self.code;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// The same as the last event of a watch.
    pub(super) fn event(&self) -> Event {
        match &self.body {
            Kind::Status(status) => Event::new("ERROR", status.clone()),
            Kind::Text(text) => Event::new("ERROR", text.clone().into()),
        }
    }
}

impl From<u16> for Refusal {
    fn from(code: u16) -> Refusal {
        Refusal::code(code)
    }
}

fn reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "Unknown",
    }
}
