//! Readers' handle to one kind.
//!
//! Owns nothing: a [`Cache`] shares the kind's core with the task that fills it. No method makes a request or waits
//! for the API server.

use std::{
    fmt,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::{
    BuildError, Cached, Cause, Key, KindStatus, Readiness, Source, Subscription,
    index::IndexSpec,
    ledger::Ledger,
    source::resource_name,
    store::Store,
    subscribe::{Announce, Mapped, Queue, Subscribers},
};

/// What the task and all handles of one kind share.
pub(crate) struct Core<T> {
    pub(crate) resource: String,
    pub(crate) source: Source,
    pub(crate) store: Store<T>,
    pub(crate) ledger: Ledger,
    pub(crate) subscribers: Subscribers<T>,
    pub(crate) counts: Counts,
    pub(crate) required: bool,
    readiness: watch::Sender<Readiness>,
}

/// Running figures of one kind.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) lists: AtomicU64,
    pub(crate) errors: AtomicU64,
    reads: AtomicU64,
    version: AtomicU64,
    last_event: AtomicI64,
}

impl Counts {
    /// Notes a resource version the stream has shown. The highest counts: all before it has been shown too.
    pub(crate) fn saw_version(&self, version: Option<u64>) {
        self.version.fetch_max(version.unwrap_or_default(), Ordering::Release);
    }

    pub(crate) fn saw_event(&self) {
        self.last_event.store(Timestamp::now().as_millisecond(), Ordering::Relaxed);
    }

    /// The highest version seen; versions begin at 1.
    pub(crate) fn version(&self) -> Option<u64> {
        Some(self.version.load(Ordering::Acquire)).filter(|version| *version > 0)
    }

    fn saw_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    fn last_event(&self) -> Option<Timestamp> {
        let milliseconds = Some(self.last_event.load(Ordering::Relaxed)).filter(|time| *time > 0)?;
        Timestamp::from_millisecond(milliseconds).ok()
    }
}

impl<T> Core<T> {
    pub(crate) fn new<K: Cached>(source: Source, indexes: Vec<IndexSpec<T>>, required: bool) -> Self {
        Self {
            resource: resource_name::<K>(),
            source,
            store: Store::new(indexes),
            ledger: Ledger::default(),
            subscribers: Subscribers::default(),
            counts: Counts::default(),
            required,
            readiness: watch::Sender::new(Readiness::Pending),
        }
    }

    /// What no other kind of the same builder has.
    pub(crate) fn identity(&self) -> (String, Source) {
        (self.resource.clone(), self.source.clone())
    }

    pub(crate) fn readiness(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Returns whether this changed anything.
    pub(crate) fn set_synced(&self) -> bool {
        self.set(|_| Readiness::Synced)
    }

    /// Returns whether this changed anything.
    pub(crate) fn set_failed(&self, cause: &Cause) -> bool {
        self.set(|readiness| readiness.after(cause.clone()))
    }

    fn set(&self, next: impl FnOnce(&Readiness) -> Readiness) -> bool {
        self.readiness.send_if_modified(|readiness| {
            let next = next(readiness);
            let changed = *readiness != next;
            *readiness = next;
            changed
        })
    }

    pub(crate) fn status(&self) -> KindStatus {
        KindStatus {
            kind: self.resource.clone(),
            namespace: self.source.namespace.clone(),
            labels: self.source.labels.clone(),
            required: self.required,
            readiness: self.readiness.borrow().clone(),
            objects: self.store.len(),
            malformed: self.store.malformed().into_iter().map(|(key, _)| key).collect(),
            subscribers: self.subscribers.len(),
            lists: self.counts.lists.load(Ordering::Relaxed),
            errors: self.counts.errors.load(Ordering::Relaxed),
            reads: self.counts.reads.load(Ordering::Relaxed),
            version: self.counts.version(),
            last_event: self.counts.last_event(),
        }
    }
}

/// Reads of one kind, answered from memory. Clones are cheap and see the same store.
///
/// `T` is what is kept of each object: the object itself, or what [`Builder::cache_as`](crate::Builder::cache_as) was
/// told to make of it.
///
/// Objects are shared and immutable; what a method returns is one consistent state of the store at one instant.
/// Until a kind is first synced ([`Readiness::Pending`] or [`Readiness::Failed`]) its store may be empty, so callers
/// wait for [`Running::ready`](crate::Running::ready) first.
pub struct Cache<T> {
    core: Arc<Core<T>>,
}

impl<T> Clone for Cache<T> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<T: Send + Sync + 'static> Cache<T> {
    pub(crate) fn new(core: Arc<Core<T>>) -> Self {
        Self { core }
    }

    pub(crate) fn identity(&self) -> (String, Source) {
        self.core.identity()
    }

    /// The object of that key.
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.core.counts.saw_read();
        self.core.store.get(key)
    }

    /// The object of that name, where the source has one namespace or the kind is cluster-scoped.
    pub fn find(&self, name: &str) -> Option<Arc<T>> {
        self.get(&self.key(name))
    }

    /// The key of a name in the source's one namespace, or of a cluster-scoped object.
    pub fn key(&self, name: &str) -> Key {
        Key::new(self.core.source.namespace().unwrap_or_default(), name)
    }

    /// All objects, sorted by key.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.core.counts.saw_read();
        self.core.store.list()
    }

    /// The index of that name, to be asked as often as needed.
    ///
    /// # Errors
    ///
    /// When no index of that name was registered.
    pub fn index(&self, name: &str) -> Result<Index<T>, BuildError> {
        match self.core.store.position(name) {
            Some(position) => Ok(Index { core: Arc::clone(&self.core), position }),
            None => Err(BuildError::NoIndex { resource: self.core.resource.clone(), index: name.to_owned() }),
        }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.core.store.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Objects that could not be parsed, with the reason. They are not served until they are mended.
    pub fn malformed(&self) -> Vec<(Key, String)> {
        self.core.store.malformed()
    }

    /// Follows the state of the kind. Every receiver is woken by every change.
    pub fn readiness(&self) -> watch::Receiver<Readiness> {
        self.core.readiness()
    }

    /// What is known of the kind at this moment.
    pub fn status(&self) -> KindStatus {
        self.core.status()
    }

    /// Subscribes to all changes of the kind.
    ///
    /// `map` turns a change into items of the subscriber's own, such as the keys of a work queue. It is called with
    /// the object before and after: `(None, new)` for an object that came, `(old, new)` for one that changed,
    /// `(old, None)` for one that was deleted, was missing from a new list, or is no longer parseable. Another uid
    /// under the same name is two changes, one that went and one that came. Items wait in the order in which they
    /// came, each once, so memory is bounded by the number of distinct items and nobody can hold up the cache.
    ///
    /// Objects already present are announced as `(None, object)`, so it does not matter when one subscribes.
    ///
    /// `map` runs in the kind's own task, under no lock; it should only compute. What other caches say can change
    /// without `map` being asked again, so look at other kinds when an item is handled, not here.
    pub fn subscribe<I, F>(&self, map: F) -> Subscription<I>
    where
        I: Hash + Eq + Clone + Send + Sync + 'static,
        F: Fn(Option<&T>, Option<&T>) -> Vec<I> + Send + Sync + 'static,
    {
        let queue = Arc::new(Queue::default());
        let subscriber = Arc::new(Mapped { queue: Arc::clone(&queue), map });
        // Entered before the store is read: a change in between is announced twice rather than never.
        let id = self.core.subscribers.add(Arc::clone(&subscriber) as Arc<dyn Announce<T>>);
        for object in self.core.store.list() {
            subscriber.announce(None, Some(&object));
        }
        let core = Arc::downgrade(&self.core);
        let forget = move || {
            if let Some(core) = core.upgrade() {
                core.subscribers.remove(id);
            }
        };
        Subscription::new(queue, Box::new(forget))
    }

    /// Notes that an own POST, PUT or PATCH was answered with this version of the object.
    ///
    /// Meant for objects the source includes: the stream does not show others, and nothing but later events of the
    /// kind would tell that the write was passed.
    pub fn expect_version(&self, key: &Key, uid: &str, resource_version: &str) {
        let shown = || (self.core.store.held(key), self.core.counts.version());
        self.core.ledger.expect_version(key, uid, resource_version, shown);
    }

    /// Notes that an own DELETE of the object was accepted.
    pub fn expect_gone(&self, key: &Key, uid: &str) {
        self.core.ledger.expect_gone(key, uid, || self.core.store.held(key));
    }

    /// Whether the store shows every own write to the object that was noted.
    ///
    /// An expectation ends when the stream has shown that version or a later one, when the object was seen deleted,
    /// after a list that began after the write, or after 30 s, which is logged.
    pub fn is_current(&self, key: &Key) -> bool {
        self.core.ledger.is_current(key)
    }

    /// Waits until [`is_current`](Self::is_current), at most for `timeout`; returns whether it is.
    pub async fn caught_up(&self, key: &Key, timeout: Duration) -> bool {
        self.core.ledger.caught_up(key, timeout).await
    }
}

/// Look-ups of one kind by one index. Clones are cheap and see the same store, with which an index agrees at every
/// instant.
pub struct Index<T> {
    core: Arc<Core<T>>,
    position: usize,
}

impl<T> Clone for Index<T> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core), position: self.position }
    }
}

impl<T> Index<T> {
    /// The objects that have this value, sorted by key. Takes the same time however many others there are.
    pub fn get(&self, value: &str) -> Vec<Arc<T>> {
        self.core.counts.saw_read();
        self.core.store.by_index(self.position, value)
    }
}

impl<T> fmt::Debug for Index<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("resource", &self.core.resource).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("resource", &self.core.resource)
            .field("source", &self.core.source)
            .field("objects", &self.core.store.len())
            .finish_non_exhaustive()
    }
}
