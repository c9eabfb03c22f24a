//! The task of one kind: keeps a stream going and hands its events to the writer.
//!
//! Owns back-off and recovery. kube's watcher does the list and the watch; what it does not recover from by itself
//! (HTTP 410 when a watch starts, a list that never completes) is answered with a new stream. Must never end by
//! itself: a kind that cannot be served now may be served later.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{
    FutureExt, Stream, StreamExt,
    stream::{self, BoxStream},
};
use kube::{Client, runtime::watcher};
use tokio::time::{sleep, timeout};
use tracing::{error, info, warn};

use crate::{
    Cached, Cause, ListError, Metadata, Options,
    canary::{self, Canary, Progress, Sign},
    cause,
    guard::Guard,
    oneshot,
    outage::Outage,
    watch_client::{Interruption, Signals, observed},
    writer::Writer,
};

mod delays;

use delays::Delays;

/// Everything the task of one kind needs.
pub(crate) struct Task<K: Cached, T> {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) writer: Writer<K, T>,
    /// Asks for proof that the stream is alive, if at all.
    pub(crate) canary: Option<Canary>,
    /// What it shares with the other kinds while nothing answers.
    pub(crate) outage: Outage,
}

/// What to do after an event or error.
enum Next {
    /// Go on with the same stream; kube's watcher resumes it.
    Resume,
    /// Drop the stream and start a new one.
    Rebuild,
}

type Events<K> = watcher::Result<watcher::Event<Guard<K>>>;

impl<K: Cached, T: Send + Sync> Task<K, T> {
    /// Runs until it is aborted.
    pub(crate) async fn run(mut self) {
        let mut delays = Delays::default();
        loop {
            let outcome = AssertUnwindSafe(self.follow(&mut delays)).catch_unwind().await;
            if outcome.is_err() {
                // Only functions given by the caller can panic: index extractors, mappings and Deserialize.
                error!(kind = self.resource(), "a function of this kind's user panicked, listing again");
                let cause = Cause::Other("a function of this kind's user panicked".to_owned());
                self.pause(&cause, &Interruption::default(), &mut delays).await;
            }
        }
    }

    /// Lists the kind once. With the end of the writer, readiness says that it is not kept up to date.
    pub(crate) async fn load(mut self) -> Result<(), ListError> {
        let listed = oneshot::list(&self.client, &self.writer.core().source, &self.options).await?;
        self.writer.take_list(listed);
        Ok(())
    }

    /// Follows one stream until a new one is needed.
    async fn follow(&mut self, delays: &mut Delays) {
        let progress = self.canary.as_ref().map(|_| Progress::default());
        self.writer.start_over(self.options.streaming_lists, progress.clone());
        let mut signs = self.signs(progress.clone());
        let signals = Arc::new(Signals::new(self.outage.clone()));
        let client = observed(self.client.clone(), Arc::clone(&signals), progress, self.options.list_timeout);
        let source = &self.writer.core().source;
        let api = source.api::<K>(client);
        let mut stream = watcher(api, self.options.watcher_config(source.label_selector())).boxed();
        loop {
            let next = tokio::select! {
                biased;
                () = signals.watch_open() => {
                    self.writer.watch_open();
                    Next::Resume
                }
                event = self.next_event(&mut stream) => self.step(event, &signals, delays).await,
                Some(sign) = signs.next() => self.heed(sign, &signals, delays).await,
            };
            if matches!(next, Next::Rebuild) {
                return;
            }
        }
    }

    /// What the canary has to say of the stream.
    fn signs(&self, progress: Option<Progress>) -> BoxStream<'static, Sign> {
        let Some((canary, progress)) = self.canary.clone().zip(progress) else {
            return stream::pending().boxed();
        };
        let api = self.writer.core().source.api::<Metadata<K>>(self.client.clone());
        canary::signs(api, canary, progress, self.writer.needed())
    }

    async fn heed(&mut self, sign: Sign, signals: &Signals, delays: &mut Delays) -> Next {
        match sign {
            Sign::Alive => {
                self.writer.alive();
                Next::Resume
            }
            Sign::Frozen(version) => {
                self.writer.frozen(version);
                self.pause(&Cause::Frozen(version), &signals.interrupted(), delays).await;
                Next::Rebuild
            }
        }
    }

    /// The next event; while a list is under way, only within the time a page may take.
    async fn next_event(
        &self,
        stream: &mut (impl Stream<Item = Events<K>> + Unpin),
    ) -> Result<Option<Events<K>>, Cause> {
        if self.writer.is_listing() {
            timeout(self.options.list_timeout, stream.next()).await.map_err(|_| Cause::Deadline)
        } else {
            Ok(stream.next().await)
        }
    }

    async fn step(
        &mut self,
        event: Result<Option<Events<K>>, Cause>,
        signals: &Signals,
        delays: &mut Delays,
    ) -> Next {
        match event {
            Ok(Some(Ok(watcher::Event::Init)))
                if self.options.streaming_lists && self.writer.has_begun_list() =>
            {
                // kube would ask for the next one at once, and for ever.
                self.list_in_pages("the API server ended the list before it was complete");
                Next::Rebuild
            }
            Ok(Some(Ok(event))) => {
                self.writer.handle(event);
                Next::Resume
            }
            Ok(Some(Err(error))) => {
                if self.is_refused_stream(&error) {
                    self.list_in_pages("the API server does not accept it");
                    return Next::Rebuild;
                }
                let core = self.writer.core();
                let cause = Cause::of_watcher(&error, &core.resource, core.source.namespace());
                let next = after(&cause);
                let mut interruption = signals.interrupted();
                interruption.asked = interruption.asked.max(asked_delay(&error));
                self.pause(&with_delay(cause, interruption.asked), &interruption, delays).await;
                next
            }
            Ok(None) => Next::Rebuild,
            Err(cause) => {
                if self.options.streaming_lists {
                    self.list_in_pages("the API server did not end the list in time");
                }
                self.pause(&cause, &signals.interrupted(), delays).await;
                Next::Rebuild
            }
        }
    }

    /// Whether the API server turned a streamed list down as a bad request: one that does not know them, or has them
    /// switched off, does so each time.
    fn is_refused_stream(&self, error: &watcher::Error) -> bool {
        let refused = matches!(
            error,
            watcher::Error::WatchStartFailed(kube::Error::Api(status)) if matches!(status.code, 400 | 405 | 422)
        );
        refused && self.options.streaming_lists && self.writer.is_listing()
    }

    /// From now on lists are read page by page. Said once, since it is not tried again.
    fn list_in_pages(&mut self, because: &str) {
        self.options.streaming_lists = false;
        info!(kind = self.resource(), because, "no streamed list, listing page by page");
    }

    /// Notes a failure and waits before the next try. Logged here and only here, so once for each try.
    async fn pause(&mut self, cause: &Cause, interruption: &Interruption, delays: &mut Delays) {
        self.writer.failed(cause);
        let core = self.writer.core();
        if matches!(cause, Cause::Unreachable(_)) && !interruption.answered {
            warn!(kind = core.resource, scope = %core.source, %cause, "kind is not kept up to date, nothing answers");
            self.outage.wait().await;
            return;
        }
        let delay = delays.next(cause, interruption);
        warn!(kind = core.resource, scope = %core.source, %cause, retry_in = ?delay, "kind is not kept up to date");
        sleep(delay).await;
    }

    fn resource(&self) -> &str {
        &self.writer.core().resource
    }
}

/// Whether kube's watcher recovers from an error by itself.
///
/// It repeats a watch from the same version for ever, which can never succeed once the server does not have that
/// version, whether it says so by refusing the watch or by an event in it. And it goes on after an event that it could
/// not read, which would leave the store without that change.
fn after(cause: &Cause) -> Next {
    match cause {
        Cause::Expired | Cause::Malformed(_) => Next::Rebuild,
        _ => Next::Resume,
    }
}

/// The delay asked for in the body of an answer.
fn asked_delay(error: &watcher::Error) -> Option<Duration> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => cause::retry_after(status),
        watcher::Error::InitialListFailed(_)
        | watcher::Error::WatchStartFailed(_)
        | watcher::Error::WatchFailed(_)
        | watcher::Error::NoResourceVersion => None,
    }
}

/// Completes a cause with the delay asked for in a header, which the error does not carry.
fn with_delay(cause: Cause, asked: Option<Duration>) -> Cause {
    match cause {
        Cause::Throttled { retry_after } => Cause::Throttled { retry_after: retry_after.max(asked) },
        other => other,
    }
}

#[cfg(test)]
mod canary_tests;
#[cfg(test)]
mod outage_tests;
#[cfg(test)]
mod streaming_tests;
#[cfg(test)]
mod tests;
