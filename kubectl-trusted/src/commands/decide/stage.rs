//! How far a decision has come.
//!
//! Owns the stages and what keeps a decision from the next one; pure.

use serde::Serialize;
use trusted_crds::condition::{self, APPROVED};
use trusted_crds::{AttestationKey, Condition, Delivered, Fingerprint, reason};

use super::action::Action;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// The API server has the decision.
    Recorded,
    /// The operator trusts the key.
    Bound,
    /// Trustee has the key.
    Delivered,
    /// The operator does not trust the key.
    Unbound,
    /// Trustee does not have the key.
    Undelivered,
}

impl Stage {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Stage::Recorded => "recorded",
            Stage::Bound => "bound",
            Stage::Delivered => "delivered",
            Stage::Unbound => "unbound",
            Stage::Undelivered => "undelivered",
        }
    }

    /// Whether nothing is left to wait for.
    pub(crate) fn is_last(self) -> bool {
        matches!(self, Stage::Delivered | Stage::Undelivered)
    }

    /// Whether the operator has answered, and Trustee is what is waited for.
    pub(crate) fn is_up_to_trustee(self) -> bool {
        matches!(self, Stage::Bound | Stage::Unbound)
    }
}

/// The reason while the operator says nothing.
pub(crate) const NOT_ANSWERED: &str = "NotReconciled";

const NOT_VISIBLE: &str =
    "whether Trustee has the key cannot be seen: that takes the right to list deployments.apps";

/// What Trustee's Deployment says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    NotVisible,
    NoTrustee,
    Known { mounted: bool, rolled_out: bool },
}

impl Delivery {
    pub(crate) fn of(
        deployment: Option<&k8s_openapi::api::apps::v1::Deployment>,
        fingerprint: &Fingerprint,
    ) -> Delivery {
        let Some(deployment) = deployment else { return Delivery::NoTrustee };
        let delivered = Delivered::read(deployment);
        Delivery::Known { mounted: delivered.has_key(fingerprint), rolled_out: delivered.rolled_out }
    }
}

/// Where a decision stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) stage: Stage,
    /// What the operator says, once it has answered this generation.
    pub(crate) reason: String,
    /// Why it is not further, in words.
    pub(crate) message: String,
    /// The operator decided against it, so waiting longer is of no use.
    pub(crate) is_final: bool,
}

/// Where the decision that `generation` carries stands.
pub(crate) fn standing(
    action: Action,
    key: &AttestationKey,
    generation: i64,
    delivery: Delivery,
) -> Standing {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let approved = condition::find(conditions, APPROVED);
    let answered = approved.filter(|approved| approved.observed_generation.unwrap_or_default() >= generation);
    let Some(approved) = answered else {
        return Standing {
            stage: Stage::Recorded,
            reason: NOT_ANSWERED.to_owned(),
            message:
                "the operator has not answered yet; perhaps none serves this namespace, or it does not run"
                    .to_owned(),
            is_final: false,
        };
    };
    match (action, approved.status == "True") {
        (Action::Approve, true) => bound(approved, delivery),
        (Action::Approve, false) => not_bound(approved),
        (Action::Deny | Action::Revoke, true) => still_bound(action, approved),
        (Action::Deny | Action::Revoke, false) => unbound(approved, delivery),
    }
}

fn not_bound(approved: &Condition) -> Standing {
    let finals = [reason::CONFLICT, reason::DENIED, reason::INVALID_KEY, reason::APPROVAL_MISMATCH];
    Standing {
        stage: Stage::Recorded,
        reason: approved.reason.clone(),
        message: format!("the operator does not trust it: {}", approved.message),
        is_final: finals.contains(&approved.reason.as_str()),
    }
}

fn bound(approved: &Condition, delivery: Delivery) -> Standing {
    let message = match delivery {
        Delivery::NotVisible => NOT_VISIBLE,
        Delivery::NoTrustee => "Trustee is not deployed in this namespace, so nothing can be delivered yet",
        Delivery::Known { mounted: false, .. } => "Trustee's Deployment does not mount the key yet",
        Delivery::Known { mounted: true, rolled_out: false } => "Trustee is being restarted with the key",
        Delivery::Known { mounted: true, rolled_out: true } => "",
    };
    Standing {
        stage: if message.is_empty() { Stage::Delivered } else { Stage::Bound },
        reason: approved.reason.clone(),
        message: message.to_owned(),
        is_final: false,
    }
}

/// A denial always counts. What was taken back may not have been what the trust rests on.
fn still_bound(action: Action, approved: &Condition) -> Standing {
    Standing {
        stage: Stage::Recorded,
        reason: approved.reason.clone(),
        message: format!("the operator still trusts the key: {}", approved.message),
        is_final: action == Action::Revoke,
    }
}

fn unbound(approved: &Condition, delivery: Delivery) -> Standing {
    let message = match delivery {
        Delivery::NotVisible => NOT_VISIBLE,
        Delivery::Known { mounted: true, .. } => "Trustee's Deployment still mounts the key",
        Delivery::Known { mounted: false, rolled_out: false } => {
            "Trustee is being restarted, and a pod of before may still have the key"
        }
        Delivery::NoTrustee | Delivery::Known { mounted: false, rolled_out: true } => "",
    };
    Standing {
        stage: if message.is_empty() { Stage::Undelivered } else { Stage::Unbound },
        reason: approved.reason.clone(),
        message: message.to_owned(),
        is_final: false,
    }
}
