//! Requests counted from events.

use std::collections::{BTreeMap, BTreeSet};

use auditlog::{Event, Sink};
use jiff::Timestamp;
use serde::Serialize;

use super::group::Group;

/// One request that counts.
#[derive(Clone, Debug)]
pub struct Request {
    /// The API server's number for it.
    pub audit_id: String,
    /// The verb in lower case: get, list, watch, create, update, patch, delete, deletecollection.
    pub verb: String,
    /// API group, empty for the core group.
    pub api_group: String,
    /// Resource in plural form; the path of the URL for a request that is about none.
    pub resource: String,
    /// Subresource, such as `status`.
    pub subresource: String,
    /// Namespace, empty for none.
    pub namespace: String,
    /// Object name, empty for lists, watches and most creates.
    pub name: String,
    /// HTTP status code of the answer.
    pub code: u16,
    /// Group it is counted in.
    pub group: Group,
    /// User-Agent header.
    pub user_agent: String,
    /// Path and query.
    pub uri: String,
    /// When the API server received it.
    pub received: Timestamp,
    /// When it was answered; for a watch, when it was opened.
    pub answered: Timestamp,
}

impl Request {
    /// True for verbs that change something.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }

    fn of(event: &Event<'_>) -> Request {
        let path = event.request_uri().split('?').next().unwrap_or_default();
        let resource = if event.resource().is_empty() { path } else { event.resource() };
        Request {
            audit_id: event.audit_id().to_owned(),
            verb: event.verb.to_string(),
            api_group: event.group().to_owned(),
            resource: resource.to_owned(),
            subresource: event.subresource().to_owned(),
            namespace: event.namespace().to_owned(),
            name: event.name().to_owned(),
            code: event.code(),
            group: Group::of(event),
            user_agent: event.user_agent.to_string(),
            uri: event.request_uri().to_owned(),
            received: event.request_received_timestamp,
            answered: event.stage_timestamp,
        }
    }
}

/// Requests of equal kind and answer, counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Verb in lower case.
    pub verb: String,
    /// API group, empty for the core group.
    pub group: String,
    /// Resource in plural form.
    pub resource: String,
    /// Subresource, empty for none.
    pub subresource: String,
    /// HTTP status code.
    pub code: u16,
    /// How many.
    pub count: usize,
}

/// The requests of one user within a window, in the order of the log.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    requests: Vec<Request>,
    ended: BTreeSet<String>,
}

impl Sink for Requests {
    fn count(&mut self, event: &Event<'_>) {
        self.requests.push(Request::of(event));
    }

    fn ended(&mut self, event: &Event<'_>) {
        self.ended.insert(event.audit_id().to_owned());
    }
}

impl Requests {
    /// All requests.
    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }

    /// How many requests.
    pub fn total(&self) -> usize {
        self.requests.len()
    }

    /// How many requests with this verb and resource; `resource` may name a subresource, as `machines/status`, and
    /// `*` means any.
    pub fn count(&self, verb: &str, resource: &str) -> usize {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let matches = |request: &&Request| {
            (verb == "*" || request.verb == verb)
                && (resource == "*" || (request.resource == resource && request.subresource == subresource))
        };
        self.requests.iter().filter(matches).count()
    }

    /// Those for which `keep` holds.
    pub fn filter(&self, keep: impl Fn(&Request) -> bool) -> Requests {
        Requests {
            requests: self.requests.iter().filter(|request| keep(request)).cloned().collect(),
            ended: self.ended.clone(),
        }
    }

    /// Those of one group.
    pub fn of_group(&self, group: Group) -> Requests {
        self.filter(|request| request.group == group)
    }

    /// What the process is there for.
    pub fn work(&self) -> Requests {
        self.of_group(Group::Work)
    }

    /// Those received within a window.
    pub fn within(&self, window: super::Window) -> Requests {
        self.filter(|request| window.contains(request.received))
    }

    /// How many that change something.
    pub fn writes(&self) -> usize {
        self.requests.iter().filter(|request| request.is_write()).count()
    }

    /// How many were answered with this code.
    pub fn answered(&self, code: u16) -> usize {
        self.requests.iter().filter(|request| request.code == code).count()
    }

    /// Counts by verb, resource, subresource and code, the largest first.
    pub fn by_resource(&self) -> Vec<Row> {
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for request in &self.requests {
            let Request { verb, api_group, resource, subresource, code, .. } = request;
            *counts.entry((verb, api_group, resource, subresource, *code)).or_default() += 1;
        }
        let row = |((verb, group, resource, subresource, code), count): (
            (&String, &String, &String, &String, u16),
            _,
        )| Row {
            verb: verb.clone(),
            group: group.clone(),
            resource: resource.clone(),
            subresource: subresource.clone(),
            code,
            count,
        };
        let mut rows: Vec<Row> = counts.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// Counts by verb.
    pub fn by_verb(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for request in &self.requests {
            *counts.entry(request.verb.clone()).or_default() += 1;
        }
        counts
    }

    /// Watches that were opened and have not ended, by resource.
    pub fn open_watches(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let open = |request: &&Request| {
            request.verb == "watch" && request.code == 200 && !self.ended.contains(&request.audit_id)
        };
        for request in self.requests.iter().filter(open) {
            *counts.entry(request.resource.clone()).or_default() += 1;
        }
        counts
    }
}
