//! What kube's watcher does not tell about its requests.
//!
//! The watcher gives no sign when a watch is accepted again after an error, does not read `Retry-After`, starts a
//! watch anew at once when the server ends it at once, waits without limit for a watch to be answered, and streams
//! lists from version 0. Nor does it tell how long a watch has been open, or of bookmarks. Owns a thin client around
//! the caller's that fills these gaps for one kind. Must never hold back or change a body.

use std::{
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header::RETRY_AFTER};
use http_body_util::BodyExt;
use kube::{
    Client,
    client::{Body, ClientBuilder},
};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tower::service_fn;

use crate::{
    canary::{Bookmarks, Progress},
    client::labels::is_watch,
    outage::Outage,
};

/// Shortest time between two starts of the same watch. A healthy watch lives for minutes; one that ends at once
/// would otherwise be restarted thousands of times a second.
const MIN_BETWEEN_WATCH_STARTS: Duration = Duration::from_secs(1);

/// Longest delay a server can ask for, so that a mistaken header does not switch a kind off.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Signals from the requests of one kind to its task.
#[derive(Default)]
pub(crate) struct Signals {
    opened: AtomicBool,
    woken: Notify,
    retry_after: Mutex<Option<Duration>>,
    last_start: Mutex<Option<Instant>>,
    last_watch: Mutex<LastWatch>,
    answered: AtomicBool,
    outage: Outage,
}

/// What was noted up to a failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interruption {
    /// The delay the server asked for.
    pub(crate) asked: Option<Duration>,
    /// Whether the last request was answered before something failed.
    pub(crate) answered: bool,
    /// How long the watch was open that failed, or that ended before the request that failed.
    pub(crate) open_for: Duration,
}

/// The life of the watch that was accepted last.
#[derive(Default)]
struct LastWatch {
    accepted: Option<Instant>,
    lasted: Duration,
}

impl LastWatch {
    /// It has ended, in whatever way.
    fn end(&mut self) {
        if let Some(accepted) = self.accepted.take() {
            self.lasted = accepted.elapsed();
        }
    }
}

impl Signals {
    pub(crate) fn new(outage: Outage) -> Self {
        Self { outage, ..Self::default() }
    }

    /// Waits until a watch was accepted since the last look.
    pub(crate) async fn watch_open(&self) {
        loop {
            if self.opened.swap(false, Ordering::AcqRel) {
                return;
            }
            self.woken.notified().await;
        }
    }

    /// Takes what was noted up to a failure. A watch that was accepted before it failed is forgotten, so that it is
    /// not taken for one accepted after.
    pub(crate) fn interrupted(&self) -> Interruption {
        self.opened.store(false, Ordering::Release);
        let mut last_watch = self.last_watch.lock();
        last_watch.end();
        let open_for = std::mem::take(&mut last_watch.lasted);
        let (asked, answered) = (self.retry_after.lock().take(), self.answered.load(Ordering::Acquire));
        Interruption { asked, answered, open_for }
    }

    /// Delays the start of a watch that follows the last one too closely.
    async fn pace(&self) {
        // A watch is asked for anew when the one before has ended.
        self.last_watch.lock().end();
        let start = {
            let mut last = self.last_start.lock();
            let now = Instant::now();
            let start = last.map_or(now, |last| now.max(last + MIN_BETWEEN_WATCH_STARTS));
            *last = Some(start);
            start
        };
        tokio::time::sleep_until(start).await;
    }

    fn answered(&self, watch: bool, response: &Response<Body>) {
        self.answered.store(true, Ordering::Release);
        self.outage.answered();
        if response.status().is_success() {
            if watch {
                self.opened.store(true, Ordering::Release);
                self.last_watch.lock().accepted = Some(Instant::now());
                self.woken.notify_one();
            }
        } else {
            *self.retry_after.lock() = retry_after(response.headers());
        }
    }
}

/// A client that sends through `client` and reports to `signals`. Must be called within a Tokio runtime.
///
/// `progress` is told of the bookmarks in watches. A watch that is not answered within `patience` has failed.
pub(crate) fn observed(
    client: Client,
    signals: Arc<Signals>,
    progress: Option<Progress>,
    patience: Duration,
) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let (client, signals, progress) = (client.clone(), Arc::clone(&signals), progress.clone());
        async move {
            let watch = is_watch(request.method(), request.uri());
            if watch {
                signals.pace().await;
            }
            signals.answered.store(false, Ordering::Release);
            // Lists have a deadline in the task, whichever way they come.
            let bare = watch && !request.uri().query().is_some_and(asks_for_list);
            let sent = client.send(as_consistent_read(request));
            let response = if bare { answered_within(patience, sent).await? } else { sent.await? };
            signals.answered(watch, &response);
            Ok::<_, kube::Error>(with_bookmarks(response, progress.filter(|_| watch)))
        }
    });
    ClientBuilder::new(service, namespace).build()
}

/// Takes a watch without an answer for failed. Nothing else would notice for minutes, and what the watch before has
/// left would be taken for up to date.
async fn answered_within(
    patience: Duration,
    sent: impl Future<Output = kube::Result<Response<Body>>>,
) -> kube::Result<Response<Body>> {
    let late = |_| kube::Error::Service(format!("no answer within {patience:?}").into());
    timeout(patience, sent).await.map_err(late)?
}

/// Lets the bookmarks of a watch be seen in passing.
fn with_bookmarks(
    response: Response<Body>,
    progress: Option<Progress>,
) -> Response<impl http_body::Body<Data = Bytes, Error = kube::Error> + Send> {
    let mut bookmarks = Bookmarks::default();
    response.map(|body| {
        body.map_frame(move |frame| {
            if let Some(progress) = &progress
                && let Some(version) = frame.data_ref().and_then(|bytes| bookmarks.feed(bytes))
            {
                progress.saw(version);
            }
            frame
        })
    })
}

fn asks_for_list(query: &str) -> bool {
    query.contains("sendInitialEvents=true")
}

/// kube asks for a streamed list at version 0, which a server may answer from a state of any age. Without a version
/// it must be as new as the request.
fn as_consistent_read(mut request: Request<Body>) -> Request<Body> {
    let uri = request.uri();
    let Some(query) = uri.query().filter(|query| asks_for_list(query)) else {
        return request;
    };
    let kept: Vec<_> = query.split('&').filter(|pair| *pair != "resourceVersion=0").collect();
    if let Ok(uri) = format!("{}?{}", uri.path(), kept.join("&")).parse() {
        *request.uri_mut() = uri;
    }
    request
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests;
