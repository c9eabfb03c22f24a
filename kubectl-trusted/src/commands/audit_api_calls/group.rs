//! The groups in which people speak of requests: reads, writes, watches, leases.
//!
//! Owns which request is in which group. Leases are a group of their own, since leader election costs the same
//! whatever an operator does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::change::per_minute;
use super::document::{GroupCount, Kind, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Group {
    Reads,
    Writes,
    Watches,
    Leases,
    /// Long-running connections such as exec, and verbs that are none of Kubernetes.
    Other,
}

impl Group {
    pub(crate) fn of(kind: &Kind) -> Group {
        match kind.verb.as_str() {
            "watch" => Group::Watches,
            _ if kind.group == "coordination.k8s.io" && kind.resource == "leases" => Group::Leases,
            "get" | "list" | "head" | "options" | "GET" | "HEAD" | "OPTIONS" => Group::Reads,
            "create" | "update" | "patch" | "delete" | "deletecollection" | "post" | "put" => Group::Writes,
            "POST" | "PUT" | "PATCH" | "DELETE" => Group::Writes,
            _ => Group::Other,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Group::Reads => "reads",
            Group::Writes => "writes",
            Group::Watches => "watches",
            Group::Leases => "leases",
            Group::Other => "other",
        }
    }
}

pub(crate) fn counts(rows: &[Row], minutes: Option<f64>) -> Vec<GroupCount> {
    let mut groups = BTreeMap::<Group, u64>::new();
    for row in rows {
        *groups.entry(Group::of(&row.kind)).or_default() += row.count;
    }
    let group = |(name, count)| GroupCount { name, count, per_minute: per_minute(count, minutes) };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(verb: &str, group: &str, resource: &str) -> &'static str {
        let [verb, group, resource] = [verb, group, resource].map(str::to_owned);
        Group::of(&Kind { verb, group, resource, subresource: String::new() }).word()
    }

    #[test]
    fn leases_are_apart_unless_watched() {
        assert_eq!(group("update", "coordination.k8s.io", "leases"), "leases");
        assert_eq!(group("get", "coordination.k8s.io", "leases"), "leases");
        assert_eq!(group("watch", "coordination.k8s.io", "leases"), "watches");
        assert_eq!(group("list", "", "pods"), "reads");
        assert_eq!(group("patch", "", "pods"), "writes");
        assert_eq!(group("connect", "", "pods"), "other");
        assert_eq!(group("get", "example.com", "leases"), "reads");
    }
}
