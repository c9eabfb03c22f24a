//! Fan-out of changes to any number of subscribers.
//!
//! Owns the list of subscribers of a kind and one queue for each. A queue is a set in the order of arrival: an item
//! that already waits is not added again, so a subscriber that never looks costs at most its distinct items and
//! never holds up the writer. Must never call a mapping closure while holding a lock.

use std::{
    any::type_name,
    collections::{HashSet, VecDeque},
    fmt,
    hash::Hash,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use futures::{Stream, stream};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tracing::error;

/// What the writer knows of a subscriber: it can be told of a change, and that no more will come.
pub(crate) trait Announce<K>: Send + Sync {
    fn announce(&self, old: Option<&K>, new: Option<&K>);
    fn close(&self);
}

/// The subscribers of one kind.
pub(crate) struct Subscribers<K> {
    roll: Mutex<Roll<K>>,
}

struct Roll<K> {
    closed: bool,
    next_id: u64,
    entries: Vec<(u64, Arc<dyn Announce<K>>)>,
}

impl<K> Default for Subscribers<K> {
    fn default() -> Self {
        Self { roll: Mutex::new(Roll { closed: false, next_id: 0, entries: Vec::new() }) }
    }
}

impl<K> Subscribers<K> {
    /// Adds a subscriber and returns the number by which it is removed again.
    pub(crate) fn add(&self, subscriber: Arc<dyn Announce<K>>) -> u64 {
        let mut roll = self.roll.lock();
        if roll.closed {
            subscriber.close();
        }
        let id = roll.next_id;
        roll.next_id += 1;
        roll.entries.push((id, subscriber));
        id
    }

    pub(crate) fn remove(&self, id: u64) {
        // The closure is dropped after the lock: what it owns may itself subscribe or unsubscribe when it goes.
        let removed = {
            let mut roll = self.roll.lock();
            let position = roll.entries.iter().position(|(entry, _)| *entry == id);
            position.map(|position| roll.entries.swap_remove(position))
        };
        drop(removed);
    }

    /// The subscribers at this instant, to be called without the lock.
    pub(crate) fn current(&self) -> Vec<Arc<dyn Announce<K>>> {
        self.roll.lock().entries.iter().map(|(_, subscriber)| Arc::clone(subscriber)).collect()
    }

    /// Tells every subscriber, present and future, that nothing more will come.
    pub(crate) fn close(&self) {
        self.roll.lock().closed = true;
        for subscriber in self.current() {
            subscriber.close();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.roll.lock().entries.len()
    }
}

/// A subscriber: the caller's mapping and the queue it fills.
pub(crate) struct Mapped<T, F> {
    pub(crate) queue: Arc<Queue<T>>,
    pub(crate) map: F,
}

impl<K, T, F> Announce<K> for Mapped<T, F>
where
    T: Hash + Eq + Clone + Send + Sync + 'static,
    F: Fn(Option<&K>, Option<&K>) -> Vec<T> + Send + Sync + 'static,
{
    fn announce(&self, old: Option<&K>, new: Option<&K>) {
        // One subscriber's mistake must not end the kind for all others.
        match catch_unwind(AssertUnwindSafe(|| (self.map)(old, new))) {
            Ok(items) if items.is_empty() => {}
            Ok(items) => self.queue.extend(items),
            Err(_) => error!(
                mapping = type_name::<F>(),
                "the mapping of a subscriber panicked, change not delivered"
            ),
        }
    }

    fn close(&self) {
        self.queue.close();
    }
}

/// How much room a queue keeps when it is empty; what a new list of many thousand objects took is given back.
const ROOM: usize = 256;

/// First in, first out, each item at most once.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Notify,
}

struct State<T> {
    order: VecDeque<Arc<T>>,
    waiting: HashSet<Arc<T>>,
    closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let state = State { order: VecDeque::new(), waiting: HashSet::new(), closed: false };
        Self { state: Mutex::new(state), filled: Notify::new() }
    }
}

enum Pop<T> {
    Item(T),
    Empty,
    Closed,
}

impl<T: Hash + Eq + Clone> Queue<T> {
    fn extend(&self, items: Vec<T>) {
        let mut state = self.state.lock();
        for item in items {
            if !state.waiting.contains(&item) {
                let item = Arc::new(item);
                state.waiting.insert(Arc::clone(&item));
                state.order.push_back(item);
            }
        }
        drop(state);
        self.filled.notify_one();
    }

    fn pop(&self) -> Pop<T> {
        let mut state = self.state.lock();
        match state.order.pop_front() {
            Some(item) => {
                state.waiting.remove(&*item);
                if state.order.is_empty() && state.order.capacity() > ROOM {
                    (state.order, state.waiting) = (VecDeque::new(), HashSet::new());
                }
                Pop::Item(Arc::unwrap_or_clone(item))
            }
            None if state.closed => Pop::Closed,
            None => Pop::Empty,
        }
    }
}

impl<T> Queue<T> {
    fn close(&self) {
        self.state.lock().closed = true;
        self.filled.notify_one();
    }

    fn len(&self) -> usize {
        self.state.lock().order.len()
    }
}

/// The changes of one kind, mapped to items of the subscriber's own and free of repetition.
///
/// Made by [`Cache::subscribe`](crate::Cache::subscribe). An item is delivered at least once after each change that
/// the mapping turned into it; several changes before the next look are delivered once. Dropping it unsubscribes.
pub struct Subscription<T> {
    queue: Arc<Queue<T>>,
    forget: Box<dyn Fn() + Send + Sync>,
}

impl<T: Hash + Eq + Clone + Send + Sync + 'static> Subscription<T> {
    pub(crate) fn new(queue: Arc<Queue<T>>, forget: Box<dyn Fn() + Send + Sync>) -> Self {
        Self { queue, forget }
    }

    /// The next item, waiting for one if need be; `None` once the caches are shut down and nothing is left.
    ///
    /// Cancel-safe: an item is taken out only when it is returned.
    pub async fn next(&mut self) -> Option<T> {
        loop {
            match self.queue.pop() {
                Pop::Item(item) => return Some(item),
                Pop::Closed => return None,
                Pop::Empty => self.queue.filled.notified().await,
            }
        }
    }

    /// The next item if one is waiting.
    pub fn try_next(&mut self) -> Option<T> {
        match self.queue.pop() {
            Pop::Item(item) => Some(item),
            Pop::Empty | Pop::Closed => None,
        }
    }

    /// The same items as a stream, which ends when the caches are shut down.
    pub fn into_stream(self) -> impl Stream<Item = T> + Send {
        stream::unfold(self, |mut subscription| async move {
            subscription.next().await.map(|item| (item, subscription))
        })
    }
}

impl<T> Subscription<T> {
    /// Number of items waiting.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        (self.forget)();
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("waiting", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
