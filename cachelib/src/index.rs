//! Secondary indexes: from a value to the objects that have it.
//!
//! Owns the definition of an index and its look-up table. A table is part of the store's content and changes under
//! the same lock; it must never be reachable on its own.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use crate::Key;

type Extract<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// A named function from an object to its index values. The function must be pure: it is asked again for the old
/// values when the object goes.
pub(crate) struct IndexSpec<K> {
    pub(crate) name: String,
    extract: Extract<K>,
}

impl<K> IndexSpec<K> {
    pub(crate) fn new(
        name: impl Into<String>,
        extract: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), extract: Arc::new(extract) }
    }

    pub(crate) fn values(&self, object: &K) -> Vec<String> {
        (self.extract)(object)
    }
}

impl<K> fmt::Debug for IndexSpec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexSpec").field(&self.name).finish()
    }
}

/// The look-up table of one index. Objects of one value are sorted by key.
pub(crate) struct IndexTable<K> {
    buckets: HashMap<String, BTreeMap<Arc<Key>, Arc<K>>>,
}

impl<K> Default for IndexTable<K> {
    fn default() -> Self {
        Self { buckets: HashMap::new() }
    }
}

impl<K> IndexTable<K> {
    pub(crate) fn insert(&mut self, values: Vec<String>, key: &Arc<Key>, object: &Arc<K>) {
        for value in values {
            self.buckets.entry(value).or_default().insert(Arc::clone(key), Arc::clone(object));
        }
    }

    pub(crate) fn remove(&mut self, values: &[String], key: &Key) {
        for value in values {
            let Some(bucket) = self.buckets.get_mut(value) else { continue };
            bucket.remove(key);
            if bucket.is_empty() {
                self.buckets.remove(value);
            }
        }
    }

    pub(crate) fn get(&self, value: &str) -> Vec<Arc<K>> {
        self.buckets.get(value).map(|bucket| bucket.values().cloned().collect()).unwrap_or_default()
    }
}
