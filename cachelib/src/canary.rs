//! Tells a watch that shows everything from one that is open and shows nothing.
//!
//! An API server whose watch cache has stopped keeps connections open, accepts new ones and answers reads; only no
//! event ever comes. Silence alone proves nothing, since a quiet kind is silent too. So the API server is asked now
//! and then for the version it has reached, and the stream must come to it, by an event or by a bookmark, which a
//! sound server sends about once a minute.
//!
//! Owns the question, whose turn it is to ask, and the time given. Must never write, and reads one object's metadata at
//! most.

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use kube::{Api, api::ListParams};
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, sleep_until, timeout},
};

use crate::{Cached, Metadata, guard::Guard};

/// The shortest period: bookmarks come once a minute, with some jitter.
pub(crate) const SHORTEST_PERIOD: Duration = Duration::from_secs(120);

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The stream has shown what it had to.
    Alive,
    /// It has not: the version that it did not come to.
    Frozen(u64),
}

/// The highest version that one stream has shown.
#[derive(Clone, Debug)]
pub(crate) struct Progress(Arc<watch::Sender<u64>>);

impl Default for Progress {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Progress {
    pub(crate) fn saw(&self, version: u64) {
        self.0.send_if_modified(|highest| {
            let higher = version > *highest;
            *highest = version.max(*highest);
            higher
        });
    }

    async fn reached(&self, version: u64) {
        // The sender is this value, so that it outlives the wait.
        let _ = self.0.subscribe().wait_for(|highest| *highest >= version).await;
    }
}

/// The questions of all kinds of one [`Builder`](crate::Builder): one a period, whichever kind's turn it is.
#[derive(Clone)]
pub(crate) struct Canary {
    period: Duration,
    /// When the last question was asked. Locked in the order in which it is asked for.
    asked: Arc<Mutex<Instant>>,
}

impl Canary {
    pub(crate) fn new(period: Duration) -> Self {
        Self { period, asked: Arc::new(Mutex::new(Instant::now())) }
    }

    async fn turn(&self) {
        let mut asked = self.asked.lock().await;
        sleep_until(*asked + self.period).await;
        *asked = Instant::now();
    }
}

/// Asks as often as it may for as long as it is polled. With `needed`, that version must be shown first.
pub(crate) fn signs<K: Cached>(
    api: Api<Guard<Metadata<K>>>,
    canary: Canary,
    progress: Progress,
    needed: Option<u64>,
) -> BoxStream<'static, Sign> {
    stream::unfold(needed, move |needed| {
        let (api, canary, progress) = (api.clone(), canary.clone(), progress.clone());
        async move {
            let wanted = match needed {
                Some(version) => version,
                None => next_question(&api, &canary).await,
            };
            let reached = timeout(canary.period, progress.reached(wanted)).await.is_ok();
            let sign = if reached { Sign::Alive } else { Sign::Frozen(wanted) };
            Some((sign, None))
        }
    })
    .boxed()
}

/// Waits for its turn and asks; again when there is no answer, which other parts notice.
async fn next_question<K: Cached>(api: &Api<Guard<Metadata<K>>>, canary: &Canary) -> u64 {
    loop {
        canary.turn().await;
        // Without a version the answer is as new as the question.
        let listed = timeout(canary.period, api.list(&ListParams::default().limit(1))).await;
        let version = listed.ok().and_then(Result::ok).and_then(|list| list.metadata.resource_version);
        if let Some(version) = version.and_then(|version| version.parse().ok()) {
            return version;
        }
    }
}

/// Finds the versions of bookmarks in the bytes of a watch, which kube keeps to itself. Only lines that begin like a
/// bookmark are looked at.
#[derive(Debug, Default)]
pub(crate) struct Bookmarks {
    line: Vec<u8>,
    skipping: bool,
}

const BOOKMARK: &[u8] = br#"{"type":"BOOKMARK""#;

impl Bookmarks {
    /// Takes in the next bytes and returns the highest version of the bookmarks completed by them.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<u64> {
        let mut highest = None;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.skipping {
                self.line.extend_from_slice(part);
                let compared = self.line.len().min(BOOKMARK.len());
                self.skipping = self.line[..compared] != BOOKMARK[..compared];
            }
            if part.ends_with(b"\n") {
                highest = highest.max(self.version());
                self.skipping = false;
            }
            if self.skipping || part.ends_with(b"\n") {
                self.line.clear();
            }
        }
        highest
    }

    fn version(&self) -> Option<u64> {
        if self.skipping {
            return None;
        }
        let event: serde_json::Value = serde_json::from_slice(&self.line).ok()?;
        event["object"]["metadata"]["resourceVersion"].as_str()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"99"},"text":"{\"type\":\"BOOKMARK\""}}"#,
        "\n",
        r#"{"type":"BOOKMARK","object":{"kind":"ConfigMap","metadata":{"resourceVersion":"41"}}}"#,
        "\n",
        r#"{"type":"BOOKMARK","object":{"kind":"ConfigMap","metadata":{"resourceVersion":"42"}}}"#,
        "\n",
    );

    #[test]
    fn bookmarks_are_found_however_the_bytes_are_cut() {
        for size in 1..LINES.len() {
            let mut bookmarks = Bookmarks::default();
            let found: Vec<_> =
                LINES.as_bytes().chunks(size).filter_map(|chunk| bookmarks.feed(chunk)).collect();
            assert_eq!(found.last(), Some(&42), "cut into {size} bytes");
            assert!(found.iter().all(|version| (41..=42).contains(version)), "{found:?}");
        }
    }

    #[test]
    fn events_are_not_kept() {
        let mut bookmarks = Bookmarks::default();
        assert_eq!(bookmarks.feed(&LINES.as_bytes()[..80]), None);
        assert!(bookmarks.line.is_empty() && bookmarks.skipping);
    }
}
