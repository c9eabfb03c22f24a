//! The running caches of a process.
//!
//! Owns the tasks: they end when this is dropped or told to. Must never wait for a single kind only: every report
//! names all kinds that are not ready.

use std::{fmt, sync::Arc, time::Duration};

use futures::future::join_all;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, timeout_at},
};

use crate::{Cached, KindStatus, Readiness, SyncError, cache::Core};

/// Starts the task of one kind.
pub(crate) type Start = Box<dyn FnOnce() -> JoinHandle<()> + Send>;

/// What is needed of a kind whatever its type.
pub(crate) trait Kind: Send + Sync {
    fn status(&self) -> KindStatus;
    fn readiness(&self) -> watch::Receiver<Readiness>;
}

impl<K: Cached> Kind for Core<K> {
    fn status(&self) -> KindStatus {
        Self::status(self)
    }

    fn readiness(&self) -> watch::Receiver<Readiness> {
        Self::readiness(self)
    }
}

/// The running tasks of all registered kinds. Dropping it stops them.
pub struct Running {
    sync_timeout: Duration,
    kinds: Vec<Arc<dyn Kind>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn new(sync_timeout: Duration, kinds: Vec<Arc<dyn Kind>>, starts: Vec<Start>) -> Self {
        let tasks = starts.into_iter().map(|start| start()).collect();
        Self { sync_timeout, kinds, tasks }
    }

    /// Waits until every kind is synced, at most for [`Options::sync_timeout`](crate::Options).
    ///
    /// # Errors
    ///
    /// As [`synced`](Self::synced).
    pub async fn ready(&self) -> Result<(), SyncError> {
        self.synced(self.sync_timeout).await
    }

    /// Waits until every kind is synced, at most for `timeout`.
    ///
    /// # Errors
    ///
    /// When time is up: names every kind that is not synced, with the cause. The tasks go on trying, so this can be
    /// called again.
    pub async fn synced(&self, timeout: Duration) -> Result<(), SyncError> {
        let deadline = Instant::now() + timeout;
        let waits = self.kinds.iter().map(|kind| async {
            let mut readiness = kind.readiness();
            let synced = timeout_at(deadline, readiness.wait_for(Readiness::is_synced)).await;
            matches!(synced, Ok(Ok(_)))
        });
        if join_all(waits).await.into_iter().all(|synced| synced) {
            return Ok(());
        }
        let late = self.kinds().into_iter().filter(|status| !status.readiness.is_synced());
        let kinds: Vec<_> = late.map(|status| (status.kind, status.readiness)).collect();
        // The last kind may have become ready just after its time was up.
        if kinds.is_empty() { Ok(()) } else { Err(SyncError { waited: timeout, kinds }) }
    }

    /// State of every kind, in the order of registration.
    pub fn kinds(&self) -> Vec<KindStatus> {
        self.kinds.iter().map(|kind| kind.status()).collect()
    }

    /// Stops all tasks. Stores stay readable as they are, subscriptions end, readiness reports it.
    pub fn shutdown(&self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds().iter().map(|status| &status.kind)).finish()
    }
}
