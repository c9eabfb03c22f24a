//! Which group of requests a request belongs to.

use auditlog::Event;

/// Kinds of requests that are counted apart from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// What the process is there for. Only these are reads and writes in a report.
    Work,
    /// Leader election.
    Lease,
    /// Kubernetes Events.
    Event,
    /// Asking what is possible: dry runs, reviews of rights and identities, URLs that are no resource.
    Preflight,
    /// Reading the content of one Secret, which no store holds.
    Verify,
    /// Asking which version the API server has reached: a list of one object at most.
    Canary,
}

impl Group {
    /// The group of a request.
    pub(super) fn of(event: &Event<'_>) -> Group {
        let query = event.request_uri().split_once('?').map_or("", |(_, query)| query);
        let asks = |wanted| query.split('&').any(|pair| pair == wanted);
        match (event.group(), event.resource()) {
            _ if asks("dryRun=All") => Group::Preflight,
            _ if event.verb == "list" && asks("limit=1") => Group::Canary,
            ("authorization.k8s.io" | "authentication.k8s.io", _) | (_, "") => Group::Preflight,
            ("coordination.k8s.io", "leases") => Group::Lease,
            ("" | "events.k8s.io", "events") => Group::Event,
            ("", "secrets") if event.verb == "get" && !event.name().is_empty() => Group::Verify,
            _ => Group::Work,
        }
    }
}
