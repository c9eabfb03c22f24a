//! One line of the audit log, and which group of requests it belongs to.

use jiff::Timestamp;
use serde::Deserialize;

/// An event as the API server writes it; what is not used here is left out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(rename = "auditID")]
    pub(super) audit_id: String,
    pub(super) stage: Stage,
    #[serde(rename = "requestURI")]
    pub(super) request_uri: String,
    pub(super) verb: String,
    pub(super) user: EventUser,
    #[serde(default)]
    pub(super) user_agent: String,
    #[serde(default)]
    pub(super) object_ref: Option<ObjectRef>,
    #[serde(default)]
    pub(super) response_status: Option<ResponseStatus>,
    #[serde(rename = "requestReceivedTimestamp")]
    pub(super) received: Timestamp,
    #[serde(rename = "stageTimestamp")]
    pub(super) stage_time: Timestamp,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) enum Stage {
    RequestReceived,
    ResponseStarted,
    ResponseComplete,
    Panic,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventUser {
    #[serde(default)]
    pub(super) username: String,
}

/// What a request was about; absent for URLs that are no resource.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ObjectRef {
    pub(super) api_group: String,
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ResponseStatus {
    #[serde(default)]
    pub(super) code: u16,
}

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
    pub(super) fn of(event: &Event) -> Group {
        let Some(object) = &event.object_ref else { return Group::Preflight };
        let query = event.request_uri.split_once('?').map_or("", |(_, query)| query);
        let asks = |wanted| query.split('&').any(|pair| pair == wanted);
        match (object.api_group.as_str(), object.resource.as_str()) {
            _ if asks("dryRun=All") => Group::Preflight,
            _ if event.verb == "list" && asks("limit=1") => Group::Canary,
            ("authorization.k8s.io" | "authentication.k8s.io", _) | (_, "") => Group::Preflight,
            ("coordination.k8s.io", "leases") => Group::Lease,
            ("" | "events.k8s.io", "events") => Group::Event,
            ("", "secrets") if event.verb == "get" && !object.name.is_empty() => Group::Verify,
            _ => Group::Work,
        }
    }
}
