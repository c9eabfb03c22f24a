//! How far an approval has come.
//!
//! Owns the three stages and what keeps an approval from the next one; pure.

use serde::Serialize;
use trusted_crds::condition::{self, APPROVED};
use trusted_crds::{AttestationKey, Condition, Delivered, Fingerprint, reason};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// The API server has the approval.
    Recorded,
    /// The operator trusts the key.
    Bound,
    /// Trustee has the key.
    Delivered,
}

impl Stage {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Stage::Recorded => "recorded",
            Stage::Bound => "bound",
            Stage::Delivered => "delivered",
        }
    }
}

/// The reason while the operator says nothing.
pub(crate) const NOT_ANSWERED: &str = "NotReconciled";

/// What Trustee's Deployment says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    NotVisible,
    NoTrustee,
    NotMounted,
    RollingOut,
    Done,
}

impl Delivery {
    pub(crate) fn of(
        deployment: Option<&k8s_openapi::api::apps::v1::Deployment>,
        fingerprint: &Fingerprint,
    ) -> Delivery {
        let Some(deployment) = deployment else { return Delivery::NoTrustee };
        let delivered = Delivered::read(deployment);
        match (delivered.has_key(fingerprint), delivered.rolled_out) {
            (false, _) => Delivery::NotMounted,
            (true, false) => Delivery::RollingOut,
            (true, true) => Delivery::Done,
        }
    }
}

/// Where an approval stands.
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

/// Where the approval that `generation` carries stands.
pub(crate) fn standing(key: &AttestationKey, generation: i64, delivery: Delivery) -> Standing {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let approved = condition::find(conditions, APPROVED);
    let answered = approved.filter(|approved| approved.observed_generation.unwrap_or_default() >= generation);
    match answered {
        None => Standing {
            stage: Stage::Recorded,
            reason: NOT_ANSWERED.to_owned(),
            message:
                "the operator has not answered yet; perhaps none serves this namespace, or it does not run"
                    .to_owned(),
            is_final: false,
        },
        Some(approved) if approved.status == "True" => bound(approved, delivery),
        Some(approved) => not_bound(approved),
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
        Delivery::NotVisible => {
            "whether Trustee has the key cannot be seen: that takes the right to list deployments.apps"
        }
        Delivery::NoTrustee => "Trustee is not deployed in this namespace, so nothing can be delivered yet",
        Delivery::NotMounted => "Trustee's Deployment does not mount the key yet",
        Delivery::RollingOut => "Trustee is being restarted with the key",
        Delivery::Done => "",
    };
    Standing {
        stage: if delivery == Delivery::Done { Stage::Delivered } else { Stage::Bound },
        reason: approved.reason.clone(),
        message: message.to_owned(),
        is_final: false,
    }
}
