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
    Key,
    arrival::Arrival,
    compact::Compact,
    diagnostics::Identity,
    index::{IndexSpec, IndexTable},
    version,
};

/// One difference between the content before and after a step, as subscribers are told of it.
#[derive(Clone, Debug)]
pub(crate) struct Change<T> {
    pub(crate) old: Option<Arc<T>>,
    pub(crate) new: Option<Arc<T>>,
}

/// Everything readers can see.
struct Content<T> {
    objects: HashMap<Arc<Key>, Entry<T>>,
    tables: Vec<IndexTable<T>>,
    malformed: BTreeMap<Arc<Key>, Malformed>,
}

/// One object. What is kept of it need not tell which object it is, so that is kept beside it.
struct Entry<T> {
    object: Arc<T>,
    identity: Compact,
}

/// An object that is known to exist and is not served.
struct Malformed {
    identity: Compact,
    reason: String,
}

/// The store of one kind, of whose objects it keeps `T`.
pub(crate) struct Store<T> {
    indexes: Vec<IndexSpec<T>>,
    content: RwLock<Content<T>>,
}

/// What the store holds under a key, as the ledger of own writes compares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

impl<T> Store<T> {
    pub(crate) fn new(indexes: Vec<IndexSpec<T>>) -> Self {
        let content = RwLock::new(Content::empty(indexes.len()));
        Self { indexes, content }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.content.read().objects.get(key).map(|entry| Arc::clone(&entry.object))
    }

    pub(crate) fn len(&self) -> usize {
        self.content.read().objects.len()
    }

    /// All objects of one instant, sorted by key. Sorting happens after the lock is released.
    pub(crate) fn list(&self) -> Vec<Arc<T>> {
        let mut objects: Vec<_> = {
            let objects = &self.content.read().objects;
            objects.iter().map(|(key, entry)| (Arc::clone(key), Arc::clone(&entry.object))).collect()
        };
        objects.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        objects.into_iter().map(|(_, object)| object).collect()
    }

    /// The place of an index.
    pub(crate) fn position(&self, index: &str) -> Option<usize> {
        self.indexes.iter().position(|spec| spec.name == index)
    }

    /// The objects that have a value in the index at this place, sorted by key.
    pub(crate) fn by_index(&self, position: usize, value: &str) -> Vec<Arc<T>> {
        self.content.read().tables.get(position).map(|table| table.get(value)).unwrap_or_default()
    }

    pub(crate) fn malformed(&self) -> Vec<(Key, String)> {
        let content = self.content.read();
        content.malformed.iter().map(|(key, entry)| (Key::clone(key), entry.reason.clone())).collect()
    }

    /// Whether an object was found malformed in just this version.
    pub(crate) fn is_malformed(&self, key: &Key, identity: &Compact) -> bool {
        self.content.read().malformed.get(key).is_some_and(|entry| entry.identity == *identity)
    }

    /// What is known to exist, be it sound or malformed.
    pub(crate) fn identities(&self) -> BTreeMap<Key, Identity> {
        let content = self.content.read();
        let sound = content.objects.iter().map(|(key, entry)| (key, &entry.identity));
        let malformed = content.malformed.iter().map(|(key, entry)| (key, &entry.identity));
        sound.chain(malformed).map(|(key, identity)| (Key::clone(key), identity.held().into())).collect()
    }

    /// What is known to exist under a key, be it sound or malformed.
    pub(crate) fn held(&self, key: &Key) -> Option<Held> {
        self.content.read().identity(key).map(Compact::held)
    }

    /// What the store has of an object, if it has just this version of it.
    pub(crate) fn arrived_before(&self, key: &Key, identity: &Compact) -> Option<Arrival<T>> {
        let content = self.content.read();
        let (key, entry) = content.objects.get_key_value(key)?;
        let arrival = || Arrival {
            key: Arc::clone(key),
            identity: entry.identity.clone(),
            content: Ok(Arc::clone(&entry.object)),
        };
        (entry.identity == *identity).then(arrival)
    }
}

// --- the one writer ---

impl<T> Store<T> {
    /// Takes in an object that was added or modified.
    pub(crate) fn apply(&self, arrival: Arrival<T>) -> Vec<Change<T>> {
        let Arrival { key, identity, content } = arrival;
        if self.held(&key).is_some_and(|held| !supersedes(&identity.held(), &held)) {
            return Vec::new();
        }
        let old = self.entry(&key);
        match content {
            Ok(object) => {
                let new = Entry { object, identity };
                self.update(&key, old.as_ref(), Some(&new), None);
                changes(old, Some(new))
            }
            Err(reason) => {
                self.update(&key, old.as_ref(), None, Some(Malformed { identity, reason }));
                changes(old, None)
            }
        }
    }

    /// Takes in that an object was deleted. A deletion of an earlier object of the same name changes nothing.
    pub(crate) fn delete(&self, key: &Key, gone: &Held) -> Vec<Change<T>> {
        let Some(held) = self.held(key) else { return Vec::new() };
        if gone.uid != held.uid && version::older(&gone.version, &held.version) {
            return Vec::new();
        }
        let old = self.entry(key);
        self.update(&Arc::new(key.clone()), old.as_ref(), None, None);
        changes(old, None)
    }

    /// Takes in a complete list: builds the new content aside, swaps it in, and returns all differences.
    pub(crate) fn replace(&self, listed: Vec<Arrival<T>>) -> Vec<Change<T>> {
        let mut fresh = Content::empty(self.indexes.len());
        let mut differences = Vec::new();
        for Arrival { key, identity, content } in listed {
            match content {
                Ok(object) => {
                    let held = self.entry(&key);
                    let entry = newer_of(Entry { object, identity }, held.as_ref());
                    if !held.as_ref().is_some_and(|held| held.identity == entry.identity) {
                        differences.extend(changes(held, Some(entry.clone())));
                    }
                    self.insert_into(&mut fresh, key, entry);
                }
                Err(reason) => {
                    fresh.malformed.insert(key, Malformed { identity, reason });
                }
            }
        }
        let lost = self.swap(fresh);
        differences.extend(lost.into_iter().flat_map(|entry| changes(Some(entry), None)));
        differences
    }

    fn entry(&self, key: &Key) -> Option<Entry<T>> {
        self.content.read().objects.get(key).cloned()
    }

    /// The single place where one object changes: objects, indexes and malformed names under one lock. Index values
    /// are worked out before the lock is taken, so that no function of a caller runs under it.
    fn update(
        &self,
        key: &Arc<Key>,
        old: Option<&Entry<T>>,
        new: Option<&Entry<T>>,
        malformed: Option<Malformed>,
    ) {
        let values = |entry: Option<&Entry<T>>| -> Vec<Vec<String>> {
            let values =
                |entry: &Entry<T>| self.indexes.iter().map(|spec| spec.values(&entry.object)).collect();
            entry.map(values).unwrap_or_default()
        };
        let (old_values, new_values) = (values(old), values(new));
        let mut content = self.content.write();
        for (table, values) in content.tables.iter_mut().zip(old_values) {
            table.remove(&values, key);
        }
        if let Some(new) = new {
            for (table, values) in content.tables.iter_mut().zip(new_values) {
                table.insert(values, key, &new.object);
            }
            content.objects.insert(Arc::clone(key), new.clone());
        } else {
            content.objects.remove(&**key);
        }
        match malformed {
            Some(entry) => content.malformed.insert(Arc::clone(key), entry),
            None => content.malformed.remove(&**key),
        };
    }

    /// Puts the new content in place and returns the objects that are no longer there. The old content is dropped
    /// after the lock is released.
    fn swap(&self, mut fresh: Content<T>) -> Vec<Entry<T>> {
        {
            let mut content = self.content.write();
            mem::swap(&mut *content, &mut fresh);
        }
        let content = self.content.read();
        let mut lost: Vec<_> =
            fresh.objects.into_iter().filter(|(key, _)| !content.objects.contains_key(&**key)).collect();
        drop(content);
        lost.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        lost.into_iter().map(|(_, entry)| entry).collect()
    }

    fn insert_into(&self, content: &mut Content<T>, key: Arc<Key>, entry: Entry<T>) {
        for (table, spec) in content.tables.iter_mut().zip(&self.indexes) {
            table.insert(spec.values(&entry.object), &key, &entry.object);
        }
        content.objects.insert(key, entry);
    }
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self { object: Arc::clone(&self.object), identity: self.identity.clone() }
    }
}

impl<T> Content<T> {
    fn empty(indexes: usize) -> Self {
        Self {
            objects: HashMap::new(),
            tables: (0..indexes).map(|_| IndexTable::default()).collect(),
            malformed: BTreeMap::new(),
        }
    }

    fn identity(&self, key: &Key) -> Option<&Compact> {
        let sound = self.objects.get(key).map(|entry| &entry.identity);
        sound.or_else(|| self.malformed.get(key).map(|entry| &entry.identity))
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

/// The listed object, unless the store already holds that version or a newer one of the very same object.
fn newer_of<T>(listed: Entry<T>, held: Option<&Entry<T>>) -> Entry<T> {
    match held {
        Some(held)
            if held.identity.has_uid_of(&listed.identity)
                && !supersedes(&listed.identity.held(), &held.identity.held()) =>
        {
            held.clone()
        }
        _ => listed,
    }
}

/// The changes to announce. Another uid under the same name is another object: the old one went, a new one came.
fn changes<T>(old: Option<Entry<T>>, new: Option<Entry<T>>) -> Vec<Change<T>> {
    let is_other =
        old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| !old.identity.has_uid_of(&new.identity));
    let (old, new) = (old.map(|old| old.object), new.map(|new| new.object));
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), Some(new)) if is_other => {
            vec![Change { old: Some(old), new: None }, Change { old: None, new: Some(new) }]
        }
        (old, new) => vec![Change { old, new }],
    }
}

#[cfg(test)]
mod tests;
