//! The running caches of a process.
//!
//! Owns the tasks: they end when this is dropped or told to. Must never wait for a single kind only: every report
//! names all kinds that are not ready.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use kube::Client;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    Cached, Diagnostics, Difference, KindStatus, ListError, Mismatch, Readiness, Source, SyncError,
    cache::Core,
    diagnostics::{self, checksum},
    task::Task,
};

/// A store that is behind needs a moment, and a list costs the API server something.
const BETWEEN_COMPARISONS: Duration = Duration::from_millis(200);

/// A kind that is registered and not started.
pub(crate) trait Registered: Send {
    fn identity(&self) -> (String, Source);
    /// Starts its task.
    fn start(self: Box<Self>) -> JoinHandle<()>;
    /// Lists it once.
    fn load(self: Box<Self>) -> BoxFuture<'static, Result<(), ListError>>;
}

impl<K: Cached, T: Send + Sync + 'static> Registered for Task<K, T> {
    fn identity(&self) -> (String, Source) {
        self.writer.core().identity()
    }

    fn start(self: Box<Self>) -> JoinHandle<()> {
        tokio::spawn(self.run())
    }

    fn load(self: Box<Self>) -> BoxFuture<'static, Result<(), ListError>> {
        Task::load(*self).boxed()
    }
}

/// What is needed of a kind whatever its type.
pub(crate) trait Kind: Send + Sync {
    fn status(&self) -> KindStatus;
    fn readiness(&self) -> watch::Receiver<Readiness>;
    fn diagnostics(&self) -> Diagnostics;
    fn differences(&self, client: Client) -> BoxFuture<'_, Result<Vec<Difference>, Mismatch>>;
}

/// A kind `K` whose objects are kept as `T`.
pub(crate) struct Typed<K, T> {
    core: Arc<Core<T>>,
    kind: PhantomData<fn() -> K>,
}

impl<K, T> Typed<K, T> {
    pub(crate) fn new(core: Arc<Core<T>>) -> Self {
        Self { core, kind: PhantomData }
    }
}

impl<K: Cached, T: Send + Sync> Kind for Typed<K, T> {
    fn status(&self) -> KindStatus {
        self.core.status()
    }

    fn readiness(&self) -> watch::Receiver<Readiness> {
        self.core.readiness()
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics { status: self.core.status(), checksum: checksum(&self.core.store.identities()) }
    }

    fn differences(&self, client: Client) -> BoxFuture<'_, Result<Vec<Difference>, Mismatch>> {
        let core = &self.core;
        diagnostics::compare::<K>(client, &core.source, &core.resource, || core.store.identities()).boxed()
    }
}

/// The running tasks of all registered kinds. Dropping it stops them.
pub struct Running {
    sync_timeout: Duration,
    kinds: Vec<Arc<dyn Kind>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn new(
        sync_timeout: Duration,
        kinds: Vec<Arc<dyn Kind>>,
        registered: Vec<Box<dyn Registered>>,
    ) -> Self {
        let tasks = registered.into_iter().map(Registered::start).collect();
        Self { sync_timeout, kinds, tasks }
    }

    /// Waits until every required kind is synced, at most for [`Options::sync_timeout`](crate::Options).
    ///
    /// # Errors
    ///
    /// As [`synced`](Self::synced).
    pub async fn ready(&self) -> Result<(), SyncError> {
        self.synced(self.sync_timeout).await
    }

    /// Waits until every required kind is synced, at most for `timeout`.
    ///
    /// # Errors
    ///
    /// When time is up: names every required kind that is not synced, with the cause. The tasks go on trying, so this can be
    /// called again.
    pub async fn synced(&self, timeout: Duration) -> Result<(), SyncError> {
        let deadline = Instant::now() + timeout;
        let waits = self.kinds.iter().filter(|kind| kind.status().required).map(|kind| async {
            let mut readiness = kind.readiness();
            let synced = timeout_at(deadline, readiness.wait_for(Readiness::is_synced)).await;
            matches!(synced, Ok(Ok(_)))
        });
        if join_all(waits).await.into_iter().all(|synced| synced) {
            return Ok(());
        }
        let late = self.kinds().into_iter().filter(|kind| kind.required && !kind.readiness.is_synced());
        let kinds: Vec<_> = late.map(|status| (status.kind, status.readiness)).collect();
        // The last kind may have become ready just after its time was up.
        if kinds.is_empty() { Ok(()) } else { Err(SyncError { waited: timeout, kinds }) }
    }

    /// State of every kind, in the order of registration.
    pub fn kinds(&self) -> Vec<KindStatus> {
        self.kinds.iter().map(|kind| kind.status()).collect()
    }

    /// State, figures and checksum of every kind, in the order of registration. Costs a sort of all keys.
    pub fn diagnostics(&self) -> Vec<Diagnostics> {
        self.kinds.iter().map(|kind| kind.diagnostics()).collect()
    }

    /// Compares every store with what the API server holds, by a live list of metadata with `client`, until they are
    /// equal. For tests and for a person who doubts a store; a process that works does not need it.
    ///
    /// # Errors
    ///
    /// What still differs, or could not be asked for, after `limit`.
    pub async fn equals_server(&self, client: &Client, limit: Duration) -> Result<(), Mismatch> {
        let deadline = Instant::now() + limit;
        loop {
            match self.compare(client).await {
                Err(_) if Instant::now() < deadline => sleep(BETWEEN_COMPARISONS).await,
                outcome => return outcome,
            }
        }
    }

    async fn compare(&self, client: &Client) -> Result<(), Mismatch> {
        let mut all = Vec::new();
        for kind in &self.kinds {
            all.extend(kind.differences(client.clone()).await?);
        }
        if all.is_empty() { Ok(()) } else { Err(Mismatch::Differences(all)) }
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
