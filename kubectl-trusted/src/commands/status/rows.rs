//! The rows of the tables of `status`: what each object says, and what Trustee has of it.
//!
//! Owns their field names, which are a contract.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube::ResourceExt;
use schemars::JsonSchema;
use serde::Serialize;
use trusted_crds::condition::{
    self, APPROVAL_PROTECTED, APPROVED, ATTESTATION_KEY_BOUND, COMMITTED, INSTALLED, KEY_READY, TRUSTEE_READY,
};
use trusted_crds::health::{self, View};
use trusted_crds::{
    ApprovalPolicy, ApprovedImage, AttestationKey, Condition, Delivered, Machine, PublicKey,
    TrustedExecutionCluster, reason,
};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClusterRow {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) installed: bool,
    pub(crate) served: bool,
    /// The reason of Installed.
    pub(crate) reason: String,
    /// The reason of TrusteeReady.
    pub(crate) trustee: String,
    pub(crate) trustee_ready: bool,
    pub(crate) approval: ApprovalPolicy,
    pub(crate) approval_protected: String,
    pub(crate) address: Option<String>,
    pub(crate) created: Option<Timestamp>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineRow {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) key_ready: bool,
    /// The reason of KeyReady.
    pub(crate) key_reason: String,
    /// Name of the AttestationKey that is bound, if one is.
    pub(crate) bound_key: Option<String>,
    pub(crate) bound_fingerprint: Option<String>,
    /// The reason of AttestationKeyBound.
    pub(crate) bound_reason: String,
    /// Whether Trustee has both keys; absent (null) where that cannot be seen.
    pub(crate) delivered: Option<bool>,
    pub(crate) created: Option<Timestamp>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyRow {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uuid: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) approved: bool,
    pub(crate) reason: String,
    /// Name of the Machine that the uuid stands for, if there is one.
    pub(crate) machine: Option<String>,
    /// What a person decided, if anybody did.
    pub(crate) decision: Option<String>,
    pub(crate) decided_by: Option<String>,
    /// Whether Trustee has the key; absent (null) where that cannot be seen.
    pub(crate) delivered: Option<bool>,
    pub(crate) created: Option<Timestamp>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImageRow {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) image: String,
    pub(crate) committed: bool,
    pub(crate) reason: String,
    pub(crate) created: Option<Timestamp>,
}

pub(crate) fn cluster(view: &View<'_>, cluster: &TrustedExecutionCluster) -> ClusterRow {
    let conditions = cluster.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let served = health::served(view).is_some_and(|served| served.metadata.uid == cluster.metadata.uid);
    ClusterRow {
        namespace: cluster.namespace().unwrap_or_default(),
        name: cluster.name_any(),
        installed: condition::is_true(conditions, INSTALLED),
        served,
        reason: reason_of(conditions, INSTALLED),
        trustee: reason_of(conditions, TRUSTEE_READY),
        trustee_ready: condition::is_true(conditions, TRUSTEE_READY),
        approval: cluster.spec.approval_policy(),
        approval_protected: reason_of(conditions, APPROVAL_PROTECTED),
        address: cluster.spec.public_trustee_addr.clone(),
        created: created(cluster),
    }
}

pub(crate) fn machine(delivered: Option<&Delivered>, machine: &Machine) -> MachineRow {
    let conditions = machine.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let bound = machine.status.as_ref().and_then(|status| status.attestation_key.as_ref());
    MachineRow {
        namespace: machine.namespace().unwrap_or_default(),
        name: machine.name_any(),
        id: machine.spec.id.clone(),
        key_ready: condition::is_true(conditions, KEY_READY),
        key_reason: reason_of(conditions, KEY_READY),
        bound_key: bound.map(|bound| bound.name.clone()),
        bound_fingerprint: bound.map(|bound| bound.fingerprint.clone()),
        bound_reason: reason_of(conditions, ATTESTATION_KEY_BOUND),
        delivered: delivered.map(|delivered| health::is_machine_delivered(delivered, machine)),
        created: created(machine),
    }
}

/// The Machine of each id, and what Trustee has been given: worked out once for all keys.
pub(crate) struct Lookup<'a> {
    pub(crate) delivered: Option<Delivered>,
    machines: BTreeMap<&'a str, &'a Machine>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn of(view: &View<'a>) -> Lookup<'a> {
        let machines = view.machines.iter().flatten().map(|machine| (machine.spec.id.as_str(), *machine));
        Lookup { delivered: health::delivered(view), machines: machines.collect() }
    }
}

pub(crate) fn key(lookup: &Lookup<'_>, key: &AttestationKey) -> KeyRow {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let public = PublicKey::from_pem(&key.spec.public_key).ok();
    let fingerprint = public.as_ref().map(PublicKey::fingerprint);
    let approved = condition::is_true(conditions, APPROVED);
    let machine = key.spec.uuid.as_deref().and_then(|uuid| lookup.machines.get(uuid));
    let approval = key.spec.approval.as_ref();
    let delivered = lookup.delivered.as_ref().map(|delivered| {
        delivered.rolled_out && fingerprint.is_some_and(|fingerprint| delivered.has_key(fingerprint))
    });
    KeyRow {
        namespace: key.namespace().unwrap_or_default(),
        name: key.name_any(),
        uuid: key.spec.uuid.clone(),
        fingerprint: fingerprint.map(ToString::to_string),
        approved,
        reason: reason_of(conditions, APPROVED),
        machine: machine.map(|machine| machine.name_any()),
        decision: approval.map(|approval| format!("{:?}", approval.decision)),
        decided_by: approval.and_then(|approval| approval.by.clone()),
        delivered,
        created: created(key),
    }
}

pub(crate) fn image(image: &ApprovedImage) -> ImageRow {
    let conditions = image.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let reason = match condition::find(conditions, COMMITTED) {
        Some(committed) => committed.reason.clone(),
        None => reason::NOT_EVALUATED.to_owned(),
    };
    ImageRow {
        namespace: image.namespace().unwrap_or_default(),
        name: image.name_any(),
        image: image.spec.image.clone(),
        committed: condition::is_true(conditions, COMMITTED),
        reason,
        created: created(image),
    }
}

/// Empty where the operator has not said anything yet.
fn reason_of(conditions: &[Condition], type_: &str) -> String {
    condition::find(conditions, type_).map(|condition| condition.reason.clone()).unwrap_or_default()
}

fn created<K: kube::Resource>(object: &K) -> Option<Timestamp> {
    object.meta().creation_timestamp.as_ref().map(|time| time.0)
}
