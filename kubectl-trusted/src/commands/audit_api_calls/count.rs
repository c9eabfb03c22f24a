//! Counting requests by verb, group, resource, subresource and code.
//!
//! Owns the key and how both sources are brought to the same words: audit logs say `create`, metrics say `POST`.

use std::collections::BTreeMap;

pub(crate) use auditlog::Key;

use super::document::{Kind, Row};
use super::log::{Event, Sink};

/// The verb of the metrics in the words of the audit log.
pub(crate) fn audit_verb(metric: &str) -> String {
    match metric {
        "POST" => "create".to_owned(),
        "PUT" => "update".to_owned(),
        // The metrics count server-side apply and streaming lists by themselves, the audit log does not.
        "APPLY" => "patch".to_owned(),
        "WATCHLIST" => "watch".to_owned(),
        other => other.to_ascii_lowercase(),
    }
}

/// The verb of counters that know none.
pub(crate) const ANY_VERB: &str = "any";

/// Whether a verb is one of Kubernetes. HTTP methods are in capitals.
pub(crate) fn is_known(verb: &str) -> bool {
    verb != ANY_VERB && !verb.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The verbs a budget can name. Those of the second line are of requests to no resource, whose verb is the HTTP
/// method.
pub(crate) const VERBS: [&str; 14] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "connect",
    "proxy", //
    "post",
    "put",
    "head",
    "options",
];

/// The numbers, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(BTreeMap<Key, u64>);

impl Counts {
    pub(crate) fn add(&mut self, key: Key, count: u64) {
        let entry = self.0.entry(key).or_default();
        *entry = entry.saturating_add(count);
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// What these counters added since an earlier reading, and how many of them fell. One that fell began anew: what it
    /// counted since then was added at least.
    pub(crate) fn added_since(&self, before: &Counts) -> (Counts, usize) {
        let (mut added, mut fallen) = (Counts::default(), 0);
        for (key, after) in &self.0 {
            let earlier = before.0.get(key).copied().unwrap_or_default();
            fallen += usize::from(*after < earlier);
            let count = after.checked_sub(earlier).unwrap_or(*after);
            if count > 0 {
                added.add(key.clone(), count);
            }
        }
        (added, fallen)
    }

    /// Takes away what is known not to belong to what was measured.
    pub(crate) fn subtract(&mut self, key: &Key, count: u64) {
        if let Some(counted) = self.0.get_mut(key) {
            *counted = counted.saturating_sub(count);
            if *counted == 0 {
                self.0.remove(key);
            }
        }
    }

    /// By kind, whatever the codes.
    pub(crate) fn by_kind(&self) -> BTreeMap<&Kind, u64> {
        let mut kinds = BTreeMap::new();
        for (key, count) in &self.0 {
            *kinds.entry(&key.kind).or_default() += count;
        }
        kinds
    }

    pub(crate) fn extend(&mut self, more: &Counts) {
        more.0.iter().for_each(|(key, count)| self.add(key.clone(), *count));
    }

    pub(crate) fn rows(self) -> Vec<Row> {
        self.0.into_iter().map(|(key, count)| Row { kind: key.kind, code: key.code, count }).collect()
    }
}

impl Sink for Counts {
    fn count(&mut self, event: &Event<'_>) {
        self.add(event.key(), 1);
    }
}

impl<'a> FromIterator<&'a Row> for Counts {
    fn from_iter<T: IntoIterator<Item = &'a Row>>(rows: T) -> Counts {
        let mut counts = Counts::default();
        for row in rows {
            counts.add(Key { kind: row.kind.clone(), code: row.code }, row.count);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_never_negative() {
        let key = |verb: &str| Key { kind: Kind { verb: verb.into(), ..Kind::default() }, code: 200 };
        let (mut before, mut after) = (Counts::default(), Counts::default());
        for (verb, counts) in [("get", (5, 9)), ("list", (8, 3)), ("watch", (2, 2)), ("patch", (0, 4))] {
            before.add(key(verb), counts.0);
            after.add(key(verb), counts.1);
        }
        let (mut added, fallen) = after.added_since(&before);
        added.subtract(&key("patch"), 1);
        added.subtract(&key("get"), 9);
        let rows: Vec<_> = added.rows().into_iter().map(|row| (row.kind.verb, row.count)).collect();
        assert_eq!((rows, fallen), (vec![("list".to_owned(), 3), ("patch".to_owned(), 3)], 1));
    }

    #[test]
    fn verbs_of_the_metrics_become_those_of_the_log() {
        for (metric, verb) in [("POST", "create"), ("PUT", "update"), ("APPLY", "patch"), ("LIST", "list")] {
            assert_eq!(audit_verb(metric), verb);
        }
    }
}
