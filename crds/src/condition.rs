//! Condition types, and how a list of conditions is built and compared.
//!
//! A status is applied whole by one controller, so [`merge`] returns only what that controller says: conditions of
//! other writers belong to them and stay untouched by a server-side apply.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

use crate::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

/// TrustedExecutionCluster: all children are in place.
pub const INSTALLED: &str = "Installed";
/// TrustedExecutionCluster: machines can be told where Trustee is.
pub const KNOWN_TRUSTEE_ADDRESS: &str = "KnownTrusteeAddress";
/// TrustedExecutionCluster: Trustee runs with what is to be delivered.
pub const TRUSTEE_READY: &str = "TrusteeReady";
/// TrustedExecutionCluster: approvals by hand cannot be forged.
pub const APPROVAL_PROTECTED: &str = "ApprovalProtected";
/// Machine: its disk key exists.
pub const KEY_READY: &str = "KeyReady";
/// Machine: an attestation key is bound to it.
pub const ATTESTATION_KEY_BOUND: &str = "AttestationKeyBound";
/// AttestationKey: it is trusted.
pub const APPROVED: &str = "Approved";
/// ApprovedImage: its reference values are in force.
pub const COMMITTED: &str = "Committed";

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    True,
    False,
    Unknown,
}

impl Status {
    /// The form it has in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        }
    }
}

impl From<bool> for Status {
    fn from(value: bool) -> Self {
        if value { Status::True } else { Status::False }
    }
}

/// A condition as a controller wants it, before times and generation are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCondition {
    pub type_: String,
    pub status: Status,
    pub reason: String,
    pub message: String,
}

/// A condition as a controller wants it.
pub fn new(type_: &str, status: impl Into<Status>, reason: &str, message: impl Into<String>) -> NewCondition {
    NewCondition {
        type_: type_.to_owned(),
        status: status.into(),
        reason: reason.to_owned(),
        message: message.into(),
    }
}

/// The condition of a type.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether the condition of a type is True.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| has_status(condition, Status::True))
}

/// Whether a condition has this status.
pub fn has_status(condition: &Condition, status: Status) -> bool {
    condition.status == status.as_str()
}

/// A kind whose status holds conditions.
pub trait HasConditions {
    /// Its conditions; none before anybody has looked at it.
    fn conditions(&self) -> &[Condition];

    /// The condition of a type.
    fn condition(&self, type_: &str) -> Option<&Condition> {
        find(self.conditions(), type_)
    }
}

macro_rules! has_conditions {
    ($($kind:ty),+) => {$(
        impl HasConditions for $kind {
            fn conditions(&self) -> &[Condition] {
                self.status.as_ref().map_or(&[], |status| &status.conditions)
            }
        }
    )+};
}

has_conditions!(TrustedExecutionCluster, Machine, AttestationKey, ApprovedImage);

/// The list to apply: the desired conditions, each with the transition time it had while its status stays the same.
/// Times are whole seconds, the form every Kubernetes client writes.
pub fn merge(
    current: &[Condition],
    desired: &[NewCondition],
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let complete = |wanted: &NewCondition| {
        let since = find(current, &wanted.type_)
            .filter(|condition| condition.status == wanted.status.as_str())
            .map_or(Time(now), |condition| condition.last_transition_time.clone());
        Condition {
            type_: wanted.type_.clone(),
            status: wanted.status.as_str().to_owned(),
            reason: wanted.reason.clone(),
            message: wanted.message.clone(),
            observed_generation: Some(generation),
            last_transition_time: since,
        }
    };
    desired.iter().map(complete).collect()
}

/// Whether two lists say the same, whatever their order and transition times.
pub fn same(a: &[Condition], b: &[Condition]) -> bool {
    let says = |condition: &Condition, other: &Condition| {
        condition.status == other.status
            && condition.reason == other.reason
            && condition.message == other.message
            && condition.observed_generation == other.observed_generation
    };
    a.len() == b.len() && a.iter().all(|one| find(b, &one.type_).is_some_and(|other| says(one, other)))
}

/// Whether, of the types a controller writes, the present list says the same as the desired one; conditions of others
/// are theirs.
pub fn same_among(ours: &[&str], current: &[Condition], desired: &[Condition]) -> bool {
    let is_ours = |condition: &&Condition| ours.contains(&condition.type_.as_str());
    let current: Vec<Condition> = current.iter().filter(is_ours).cloned().collect();
    same(&current, desired)
}

/// The condition of a type as it is, for a list in which it is to stay.
pub fn kept(current: &[Condition], type_: &str) -> Option<NewCondition> {
    let condition = find(current, type_)?;
    let is = |status: &Status| has_status(condition, *status);
    let status = [Status::True, Status::False].into_iter().find(is).unwrap_or(Status::Unknown);
    Some(new(type_, status, &condition.reason, condition.message.clone()))
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
