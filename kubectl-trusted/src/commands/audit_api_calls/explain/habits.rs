//! What each client does, counted per object.
//!
//! Owns the counts and their bound: clients choose names, so that there may be any number of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::super::document::Kind;
use super::super::log::{Event, Sink};

/// Objects told apart in each count.
const MOST: usize = 100_000;

/// A client and a kind of request.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Act {
    pub(super) user: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Default)]
pub(super) struct Habits {
    /// GETs of one object by one client, by namespace and name.
    pub(super) gets: HashMap<(Act, String, String), u64>,
    /// LISTs from their beginning: further pages of one are part of it.
    pub(super) lists: HashMap<(Act, String), u64>,
    pub(super) watches: HashMap<(Act, String), u64>,
    /// Requests that were refused, by their code.
    pub(super) refused: HashMap<(Act, u16), u64>,
    /// Writes that left the object's version as it was.
    pub(super) unchanged: HashMap<Act, u64>,
    /// All writes of a client of a kind.
    pub(super) all: HashMap<Act, u64>,
    versions: HashMap<(Kind, String, String), String>,
    pub(super) writes: u64,
    pub(super) versions_seen: u64,
    pub(super) forgotten: u64,
}

impl Sink for Habits {
    fn count(&mut self, event: &Event<'_>) {
        let key = event.key();
        let act = Act { user: event.user().to_owned(), kind: key.kind };
        if key.code >= 400 {
            add(&mut self.refused, (act.clone(), key.code), &mut self.forgotten);
        }
        let namespace = event.namespace().to_owned();
        match act.kind.verb.as_str() {
            "get" if !event.name().is_empty() => {
                let object = (act.clone(), namespace, event.name().to_owned());
                add(&mut self.gets, object, &mut self.forgotten);
            }
            "list" if !is_further_page(event.request_uri()) => {
                add(&mut self.lists, (act.clone(), namespace), &mut self.forgotten);
            }
            "watch" => add(&mut self.watches, (act.clone(), namespace), &mut self.forgotten),
            "create" | "update" | "patch" if key.code < 400 => self.written(event, &act),
            _ => {}
        }
        add(&mut self.all, act, &mut self.forgotten);
    }
}

impl Habits {
    /// A write that changes nothing leaves the version; the version before is that of the last write seen, or what an
    /// update was sent with.
    fn written(&mut self, event: &Event<'_>, act: &Act) {
        self.writes += 1;
        let Some(after) = event.version_after() else { return };
        self.versions_seen += 1;
        let kind = Kind { verb: String::new(), subresource: String::new(), ..act.kind.clone() };
        let object = (kind, event.namespace().to_owned(), event.name().to_owned());
        let sent = if act.kind.verb == "update" { event.version_sent() } else { None };
        let before = if self.versions.len() < MOST || self.versions.contains_key(&object) {
            self.versions.insert(object, after.clone())
        } else {
            None
        };
        if act.kind.verb != "create" && (before.as_ref() == Some(&after) || sent.as_ref() == Some(&after)) {
            add(&mut self.unchanged, act.clone(), &mut self.forgotten);
        }
    }
}

fn is_further_page(uri: &str) -> bool {
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|part| part.strip_prefix("continue=").is_some_and(|token| !token.is_empty()))
}

fn add<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u64>, key: K, forgotten: &mut u64) {
    let is_full = counts.len() >= MOST;
    match counts.entry(key) {
        Entry::Occupied(mut entry) => *entry.get_mut() += 1,
        Entry::Vacant(_) if is_full => *forgotten += 1,
        Entry::Vacant(entry) => {
            entry.insert(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_part_of_their_list() {
        assert!(is_further_page("/api/v1/pods?limit=500&continue=abc"));
        assert!(!is_further_page("/api/v1/pods?limit=500&continue="));
        assert!(!is_further_page("/api/v1/pods?labelSelector=continue%3Da"));
        assert!(!is_further_page("/api/v1/pods"));
    }
}
