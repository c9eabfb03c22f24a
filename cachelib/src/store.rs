//! The objects of one kind and their indexes.
//!
//! Owns the content that readers see: objects, index tables and the names of malformed objects change together under
//! one write lock, so at no instant can a reader see one without the other. Only the kind's own task writes; readers
//! never wait for anything but a point update or the swap of a pointer. Must never go back in time: an older version
//! of an object does not replace a newer one.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::Arc,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::RwLock;

use crate::{
    Cached, Key,
    diagnostics::Identity,
    guard::{Guard, Malformed},
    index::{IndexSpec, IndexTable},
    version,
};

/// One difference between the content before and after a step, as subscribers are told of it.
#[derive(Clone, Debug)]
pub(crate) struct Change<K> {
    pub(crate) old: Option<Arc<K>>,
    pub(crate) new: Option<Arc<K>>,
}

/// Everything readers can see.
struct Content<K> {
    objects: HashMap<Arc<Key>, Arc<K>>,
    tables: Vec<IndexTable<K>>,
    malformed: BTreeMap<Key, Box<Malformed>>,
}

/// The store of one kind.
pub(crate) struct Store<K> {
    indexes: Vec<IndexSpec<K>>,
    annotation_prefixes: Option<Vec<String>>,
    content: RwLock<Content<K>>,
}

/// What the store holds under a key, as the ledger of own writes compares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) uid: String,
    pub(crate) deleting: bool,
    pub(crate) version: String,
}

impl Held {
    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        Self {
            uid: meta.uid.clone().unwrap_or_default(),
            deleting: meta.deletion_timestamp.is_some(),
            version: meta.resource_version.clone().unwrap_or_default(),
        }
    }
}

// --- readers ---

impl<K: Cached> Store<K> {
    pub(crate) fn new(indexes: Vec<IndexSpec<K>>, annotation_prefixes: Option<Vec<String>>) -> Self {
        let content = RwLock::new(Content::empty(indexes.len()));
        Self { indexes, annotation_prefixes, content }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<K>> {
        self.content.read().objects.get(key).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.content.read().objects.len()
    }

    /// All objects of one instant, sorted by key. Sorting happens after the lock is released.
    pub(crate) fn list(&self) -> Vec<Arc<K>> {
        let mut objects: Vec<_> = {
            let content = self.content.read();
            content.objects.iter().map(|(key, object)| (Arc::clone(key), Arc::clone(object))).collect()
        };
        objects.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        objects.into_iter().map(|(_, object)| object).collect()
    }

    /// The place of an index.
    pub(crate) fn position(&self, index: &str) -> Option<usize> {
        self.indexes.iter().position(|spec| spec.name == index)
    }

    /// The objects that have a value in the index at this place, sorted by key.
    pub(crate) fn by_index(&self, position: usize, value: &str) -> Vec<Arc<K>> {
        self.content.read().tables.get(position).map(|table| table.get(value)).unwrap_or_default()
    }

    pub(crate) fn malformed(&self) -> Vec<(Key, String)> {
        let content = self.content.read();
        content.malformed.iter().map(|(key, entry)| (key.clone(), entry.reason.clone())).collect()
    }

    /// The version in which an object was found malformed.
    pub(crate) fn malformed_version(&self, key: &Key) -> Option<String> {
        self.content.read().malformed.get(key).map(|entry| Held::of(&entry.meta).version)
    }

    /// What is known to exist, be it sound or malformed.
    pub(crate) fn identities(&self) -> BTreeMap<Key, Identity> {
        let content = self.content.read();
        let sound =
            content.objects.iter().map(|(key, object)| (key.as_ref().clone(), Identity::of(object.meta())));
        let malformed = content.malformed.iter().map(|(key, entry)| (key.clone(), Identity::of(&entry.meta)));
        sound.chain(malformed).collect()
    }

    /// What is known to exist under a key, be it sound or malformed.
    pub(crate) fn held(&self, key: &Key) -> Option<Held> {
        let content = self.content.read();
        let sound = content.objects.get(key).map(|object| Held::of(object.meta()));
        sound.or_else(|| content.malformed.get(key).map(|entry| Held::of(&entry.meta)))
    }
}

// --- the one writer ---

impl<K: Cached> Store<K> {
    /// Takes in an object that was added or modified.
    pub(crate) fn apply(&self, guard: Guard<K>) -> Vec<Change<K>> {
        let key = Arc::new(guard.key());
        let held = self.held(&key);
        if held.is_some_and(|held| !supersedes(&Held::of(kube::Resource::meta(&guard)), &held)) {
            return Vec::new();
        }
        match guard {
            Guard::Sound(object) => self.put(&key, object),
            Guard::Malformed(malformed) => {
                let old = self.get(&key);
                self.update(&key, old.as_ref(), None, Some(malformed));
                changes(old, None)
            }
        }
    }

    /// Takes in that an object was deleted. A deletion of an earlier object of the same name changes nothing.
    pub(crate) fn delete(&self, guard: &Guard<K>) -> Vec<Change<K>> {
        let key = guard.key();
        let Some(held) = self.held(&key) else { return Vec::new() };
        let gone = Held::of(kube::Resource::meta(guard));
        if gone.uid != held.uid && version::older(&gone.version, &held.version) {
            return Vec::new();
        }
        let old = self.get(&key);
        self.update(&Arc::new(key), old.as_ref(), None, None);
        changes(old, None)
    }

    /// Takes in a complete list: builds the new content aside, swaps it in, and returns all differences.
    pub(crate) fn replace(&self, listed: Vec<Guard<K>>) -> Vec<Change<K>> {
        let mut fresh = Content::empty(self.indexes.len());
        let mut differences = Vec::new();
        for guard in listed {
            let key = guard.key();
            match guard {
                Guard::Sound(object) => {
                    let held = self.get(&key);
                    let object = self.newer_of(object, held.as_ref());
                    if !held.as_ref().is_some_and(|held| same_version(held.as_ref(), object.as_ref())) {
                        differences.extend(changes(held, Some(Arc::clone(&object))));
                    }
                    self.insert_into(&mut fresh, key, object);
                }
                Guard::Malformed(malformed) => {
                    fresh.malformed.insert(key, malformed);
                }
            }
        }
        let lost = self.swap(fresh);
        differences.extend(lost.into_iter().flat_map(|object| changes(Some(object), None)));
        differences
    }

    fn put(&self, key: &Arc<Key>, object: K) -> Vec<Change<K>> {
        let old = self.get(key);
        let new = Arc::new(self.pruned(object));
        self.update(key, old.as_ref(), Some(&new), None);
        changes(old, Some(new))
    }

    /// The single place where one object changes: objects, indexes and malformed names under one lock. Index values
    /// are worked out before the lock is taken, so that no function of a caller runs under it.
    fn update(
        &self,
        key: &Arc<Key>,
        old: Option<&Arc<K>>,
        new: Option<&Arc<K>>,
        malformed: Option<Box<Malformed>>,
    ) {
        let values = |object: Option<&Arc<K>>| -> Vec<Vec<String>> {
            object
                .map(|object| self.indexes.iter().map(|spec| spec.values(object)).collect())
                .unwrap_or_default()
        };
        let (old_values, new_values) = (values(old), values(new));
        let mut content = self.content.write();
        for (table, values) in content.tables.iter_mut().zip(old_values) {
            table.remove(&values, key);
        }
        if let Some(new) = new {
            for (table, values) in content.tables.iter_mut().zip(new_values) {
                table.insert(values, key, new);
            }
            content.objects.insert(Arc::clone(key), Arc::clone(new));
        } else {
            content.objects.remove(&**key);
        }
        match malformed {
            Some(entry) => content.malformed.insert(key.as_ref().clone(), entry),
            None => content.malformed.remove(&**key),
        };
    }

    /// Puts the new content in place and returns the objects that are no longer there. The old content is dropped
    /// after the lock is released.
    fn swap(&self, mut fresh: Content<K>) -> Vec<Arc<K>> {
        {
            let mut content = self.content.write();
            mem::swap(&mut *content, &mut fresh);
        }
        let content = self.content.read();
        let mut lost: Vec<_> =
            fresh.objects.into_iter().filter(|(key, _)| !content.objects.contains_key(&**key)).collect();
        drop(content);
        lost.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        lost.into_iter().map(|(_, object)| object).collect()
    }

    fn insert_into(&self, content: &mut Content<K>, key: Key, object: Arc<K>) {
        let key = Arc::new(key);
        for (table, spec) in content.tables.iter_mut().zip(&self.indexes) {
            table.insert(spec.values(&object), &key, &object);
        }
        content.objects.insert(key, object);
    }

    /// The listed object, unless the store already holds that version or a newer one of the very same object.
    fn newer_of(&self, listed: K, held: Option<&Arc<K>>) -> Arc<K> {
        match held {
            Some(held)
                if held.meta().uid == listed.meta().uid
                    && !supersedes(&Held::of(listed.meta()), &Held::of(held.meta())) =>
            {
                Arc::clone(held)
            }
            _ => Arc::new(self.pruned(listed)),
        }
    }

    fn pruned(&self, mut object: K) -> K {
        if let (Some(prefixes), Some(annotations)) =
            (&self.annotation_prefixes, &mut object.meta_mut().annotations)
        {
            annotations.retain(|name, _| prefixes.iter().any(|prefix| name.starts_with(prefix)));
        }
        object
    }
}

impl<K> Content<K> {
    fn empty(indexes: usize) -> Self {
        Self {
            objects: HashMap::new(),
            tables: (0..indexes).map(|_| IndexTable::default()).collect(),
            malformed: BTreeMap::new(),
        }
    }
}

/// Whether `new` may take the place of `held`: it is another version of the same object that is not known to be
/// older, or another object that is not known to be from an earlier time.
fn supersedes(new: &Held, held: &Held) -> bool {
    if new.uid == held.uid && new.version == held.version {
        return false;
    }
    !version::older(&new.version, &held.version)
}

fn same_version<K: Cached>(left: &K, right: &K) -> bool {
    let (left, right) = (left.meta(), right.meta());
    left.uid == right.uid && left.resource_version == right.resource_version
}

/// The changes to announce. Another uid under the same name is another object: the old one went, a new one came.
fn changes<K: Cached>(old: Option<Arc<K>>, new: Option<Arc<K>>) -> Vec<Change<K>> {
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), Some(new)) if old.meta().uid != new.meta().uid => {
            vec![Change { old: Some(old), new: None }, Change { old: None, new: Some(new) }]
        }
        (old, new) => vec![Change { old, new }],
    }
}

#[cfg(test)]
mod tests;
