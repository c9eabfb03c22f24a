//! The series of an API server.
//!
//! Owns their names and labels. Sources: pkg/endpoints/metrics and pkg/util/flowcontrol/metrics of
//! kubernetes/apiserver. The counters know no client: they count everybody.

use super::text::Labels;
use super::{Family, Meaning};
use crate::commands::audit_api_calls::count::{ANY_VERB, Key, audit_verb};
use crate::commands::audit_api_calls::document::Kind;

/// What an API server answers to a request that it does not let in.
const TOO_MANY_REQUESTS: u16 = 429;

pub(super) fn meaning(name: &str) -> Option<Meaning> {
    match name {
        "apiserver_request_total" => Some(Meaning::Requests(Family::ApiServer)),
        "apiserver_longrunning_requests" => Some(Meaning::OpenRequests),
        _ => None,
    }
}

pub(super) fn meaning_of_flows(name: &str) -> Option<Meaning> {
    match name {
        "apiserver_flowcontrol_dispatched_requests_total" => Some(Meaning::Requests(Family::FlowSchema)),
        "apiserver_flowcontrol_rejected_requests_total" => Some(Meaning::Rejected),
        _ => None,
    }
}

pub(super) fn request(mut labels: Labels) -> Key {
    let mut take = |name: &str| labels.remove(name).unwrap_or_default();
    let mut kind = Kind {
        verb: audit_verb(&take("verb")),
        group: take("group"),
        resource: take("resource"),
        subresource: take("subresource"),
    };
    if kind.resource.is_empty() && kind.subresource.starts_with('/') {
        kind.resource = std::mem::take(&mut kind.subresource);
    }
    Key { kind, code: take("code").parse().unwrap_or_default() }
}

/// What a request that is open is for, if it is a watch.
pub(super) fn open_watches(mut labels: Labels, open: u64) -> Option<((String, String), u64)> {
    let verb = labels.get("verb").map(|verb| audit_verb(verb));
    let mut take = |name: &str| labels.remove(name).unwrap_or_default();
    (open > 0 && verb.as_deref() == Some("watch")).then(|| ((take("group"), take("resource")), open))
}

pub(super) fn dispatched() -> Key {
    Key { kind: Kind { verb: ANY_VERB.to_owned(), ..Kind::default() }, code: 0 }
}

pub(super) fn rejected() -> Key {
    Key { code: TOO_MANY_REQUESTS, ..dispatched() }
}
