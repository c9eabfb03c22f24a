//! Secondary indexes: from a value to the objects that have it.
//!
//! Owns the definition of an index and its look-up table. A table is part of the store's content and changes under
//! the same lock; it must never be reachable on its own.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    fmt,
    sync::Arc,
};

use crate::Key;

type Extract<T> = Arc<dyn Fn(&T) -> Vec<String> + Send + Sync>;

/// A named function from an object to its index values. The function must be pure: it is asked again for the old
/// values when the object goes.
pub(crate) struct IndexSpec<T> {
    pub(crate) name: String,
    extract: Extract<T>,
}

impl<T> IndexSpec<T> {
    pub(crate) fn new(
        name: impl Into<String>,
        extract: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), extract: Arc::new(extract) }
    }

    pub(crate) fn values(&self, object: &T) -> Vec<String> {
        (self.extract)(object)
    }
}

impl<T> fmt::Debug for IndexSpec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexSpec").field(&self.name).finish()
    }
}

/// The look-up table of one index. Objects of one value are sorted by key.
pub(crate) struct IndexTable<T> {
    buckets: HashMap<Box<str>, Bucket<T>>,
}

/// The objects of one value. Most indexes are by something unique, where a tree of one would be most of the index.
enum Bucket<T> {
    One(Arc<Key>, Arc<T>),
    Many(BTreeMap<Arc<Key>, Arc<T>>),
}

impl<T> Default for IndexTable<T> {
    fn default() -> Self {
        Self { buckets: HashMap::new() }
    }
}

impl<T> IndexTable<T> {
    pub(crate) fn insert(&mut self, values: Vec<String>, key: &Arc<Key>, object: &Arc<T>) {
        for value in values {
            let (key, object) = (Arc::clone(key), Arc::clone(object));
            match self.buckets.entry(value.into_boxed_str()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(Bucket::One(key, object));
                }
                Entry::Occupied(mut occupied) => occupied.get_mut().insert(key, object),
            }
        }
    }

    pub(crate) fn remove(&mut self, values: &[String], key: &Key) {
        for value in values {
            if self.buckets.get_mut(value.as_str()).is_some_and(|bucket| bucket.remove(key)) {
                self.buckets.remove(value.as_str());
            }
        }
    }

    pub(crate) fn get(&self, value: &str) -> Vec<Arc<T>> {
        match self.buckets.get(value) {
            None => Vec::new(),
            Some(Bucket::One(_, object)) => vec![Arc::clone(object)],
            Some(Bucket::Many(objects)) => objects.values().cloned().collect(),
        }
    }
}

impl<T> Bucket<T> {
    fn insert(&mut self, key: Arc<Key>, object: Arc<T>) {
        match self {
            Self::One(held, _) if *held == key => *self = Self::One(key, object),
            Self::One(held, first) => {
                let first = (Arc::clone(held), Arc::clone(first));
                *self = Self::Many(BTreeMap::from([first, (key, object)]));
            }
            Self::Many(objects) => {
                objects.insert(key, object);
            }
        }
    }

    /// Returns whether nothing is left.
    fn remove(&mut self, key: &Key) -> bool {
        match self {
            Self::One(held, _) => **held == *key,
            Self::Many(objects) => {
                objects.remove(key);
                objects.is_empty()
            }
        }
    }
}
