//! Waiting for a condition instead of sleeping.
//!
//! Purpose: tests never sleep for a fixed time; they ask until the answer is there or a deadline passes, and a
//! failure names what was waited for and what the last answer was.

use std::{fmt::Display, future::Future, time::Duration};

use tokio::time::Instant;

use crate::Error;

/// Between two questions: short enough not to blur measurements, long enough to leave two cores to the server.
const INTERVAL: Duration = Duration::from_millis(25);

/// What a question may answer: the value, or (in words) that it is not there yet.
pub trait Answer {
    /// The value waited for.
    type Value;

    /// The value, or what the answer was instead.
    fn into_result(self) -> Result<Self::Value, String>;
}

impl<T> Answer for Option<T> {
    type Value = T;

    fn into_result(self) -> Result<T, String> {
        self.ok_or_else(|| "not yet".to_owned())
    }
}

impl<T, E: Display> Answer for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}

/// Asks until there is a value. Panics after `timeout` with `what` and the last answer.
#[expect(clippy::panic, reason = "a test that waited in vain has failed; the panic says for what")]
pub async fn eventually<F, Fut, A>(what: &str, timeout: Duration, question: F) -> A::Value
where
    F: FnMut() -> Fut,
    Fut: Future<Output = A>,
    A: Answer,
{
    match poll(what, timeout, question).await {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Like [`eventually`], with an error instead of a panic.
pub async fn poll<F, Fut, A>(what: &str, timeout: Duration, mut question: F) -> Result<A::Value, Error>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = A>,
    A: Answer,
{
    let deadline = Instant::now() + timeout;
    let mut last = "no answer at all".to_owned();
    loop {
        match tokio::time::timeout_at(deadline, question()).await.map(Answer::into_result) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(answer)) => last = answer,
            Err(_) => return Err(Error::Timeout { what: format!("{what} ({timeout:?})"), last }),
        }
        if Instant::now() + INTERVAL >= deadline {
            return Err(Error::Timeout { what: format!("{what} ({timeout:?})"), last });
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
