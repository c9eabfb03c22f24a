//! Machine: one confidential machine, known by its id.

#![expect(
    unreachable_pub,
    reason = "the schema derive puts a public copy of each struct into a function body"
)]
#![expect(clippy::duplicated_attributes, reason = "printer columns share types and priorities")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::on;

/// A confidential machine that may attest.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "trusted-execution-clusters.io",
    version = "v1alpha1",
    kind = "Machine",
    namespaced,
    status = "MachineStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Machine is one confidential machine. The operator makes its disk key and binds its first attestation key; \
           deleting it makes its disk unreadable unless the cluster retains disk keys.",
    shortname = "mach",
    category = "trusted",
    selectable = ".spec.id",
    printcolumn(
        name = "ID",
        type_ = "string",
        json_path = ".spec.id",
        description = "The id under which the machine registers its attestation key"
    ),
    printcolumn(
        name = "Disk key",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"KeyReady\")].reason",
        description = "Whether the disk key exists"
    ),
    printcolumn(
        name = "Bound",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"AttestationKeyBound\")].status",
        description = "Whether an attestation key is bound to this machine"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"AttestationKeyBound\")].reason",
        description = "Why a key is bound or not"
    ),
    printcolumn(
        name = "Attestation key",
        type_ = "string",
        json_path = ".status.attestationKey.name",
        description = "The AttestationKey bound to this machine"
    ),
    printcolumn(
        name = "Fingerprint",
        type_ = "string",
        json_path = ".status.attestationKey.fingerprint",
        priority = 1,
        description = "Fingerprint of the bound key"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = on(
        "id",
        "self.id.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        "id must be an RFC 1123 label: lower-case letters, digits and '-', beginning and ending with a letter or digit, \
         at most 63 characters, such as a UUID"
    ),
    validation = on(
        "id",
        "self.id == oldSelf.id",
        "id is immutable: create another Machine for another id"
    )
)]
pub struct MachineSpec {
    /// Id of the machine, usually a UUID: an RFC 1123 label of at most 63 characters. An AttestationKey names it in
    /// spec.uuid. Two Machines with one id: the one that has the disk key is served, the other gets DuplicateId.
    /// Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub id: String,
}

/// What the operator found and did. Written by the operator alone.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// KeyReady and AttestationKeyBound, each with a reason and the next step.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The attestation key this machine is bound to. A copy for people; the Secret ak-ID is what counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation_key: Option<BoundKey>,
}

/// The attestation key a machine is bound to.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BoundKey {
    /// Name of the AttestationKey.
    pub name: String,
    /// Fingerprint of the key: "sha256:" and the hexadecimal SHA-256 of its DER SubjectPublicKeyInfo.
    pub fingerprint: String,
}
