//! One object of the stream on its way into the store, already in the form in which it is kept.
//!
//! Owns the turn from what was parsed to what is kept. It happens as each object comes in, so that a list under way
//! holds no more of its objects than the store will.

use std::sync::Arc;

use kube::Resource;

use crate::{
    Cached, Key,
    compact::Compact,
    guard::Guard,
    store::{Held, Store},
};

/// Makes what is kept of an object.
pub(crate) type Keep<K, T> = Box<dyn Fn(K) -> T + Send + Sync>;

/// An object as it came in, or what is wrong with it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival<T> {
    pub(crate) key: Arc<Key>,
    pub(crate) identity: Compact,
    pub(crate) content: Result<Arc<T>, String>,
}

impl<T> Arrival<T> {
    pub(crate) fn of<K: Cached>(guard: Guard<K>, keep: impl FnOnce(K) -> T) -> Self {
        let (key, held) = (Arc::new(guard.key()), Held::of(guard.meta()));
        let content = match guard {
            Guard::Sound(object) => Ok(Arc::new(keep(object))),
            Guard::Malformed(malformed) => Err(malformed.reason),
        };
        Self { key, identity: held.into(), content }
    }

    /// The same of an object in a list; what the store holds in this version already is not made again, so that a new
    /// list of objects that did not change takes hardly any room.
    pub(crate) fn listed<K: Cached>(guard: Guard<K>, store: &Store<T>, keep: impl FnOnce(K) -> T) -> Self {
        let identity = Compact::from(Held::of(guard.meta()));
        store.arrived_before(&guard.key(), &identity).unwrap_or_else(|| Self::of(guard, keep))
    }
}
