//! TrustedExecutionCluster: what a person asks the operator to run in a namespace.

#![expect(
    unreachable_pub,
    reason = "the schema derive puts a public copy of each struct into a function body"
)]
#![expect(clippy::duplicated_attributes, reason = "printer columns share types and priorities")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::{immutable_value, kept_once_set, matches, set_at_creation};
use crate::{AttestationKey, KeyState};

/// Port of the Service in front of Trustee when the spec names none.
pub const DEFAULT_TRUSTEE_KBS_PORT: i32 = 8080;
/// Port of the Service in front of register-server when the spec names none.
pub const DEFAULT_REGISTER_SERVER_PORT: i32 = 8000;
/// Port of the Service in front of attestation-key-register when the spec names none.
pub const DEFAULT_ATTESTATION_KEY_REGISTER_PORT: i32 = 8001;

/// What has to be done instead of an edit that is refused.
const REMEDY: &str = "another value needs a new TrustedExecutionCluster, and deleting this one deletes its disk keys \
                      unless diskKeyRetention is Retain";

/// A host name, IPv4 address or bracketed IPv6 address, with or without a port.
const ADDRESS: &str = r"^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)(:[0-9]{1,5})?$";
const ADDRESS_MESSAGE: &str = "write host or host:port, without a scheme such as https:// and without a path";

/// The form every Secret name has.
const SECRET: &str = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
const SECRET_MESSAGE: &str =
    "write the name of a Secret in this namespace: lower-case letters, digits, '-' and '.'";

/// How the confidential machines of this namespace are served: where Trustee and the registration front ends are
/// reached, under which certificates, and who decides about attestation keys. The operator installs Trustee and the
/// front ends as its children. One TrustedExecutionCluster per namespace is served; a second one is reported as
/// NonUnique and left alone.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "trusted-execution-clusters.io",
    version = "v1alpha1",
    kind = "TrustedExecutionCluster",
    namespaced,
    status = "TrustedExecutionClusterStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "TrustedExecutionCluster runs Trustee and the registration front ends for the confidential machines of one \
           namespace. One per namespace is served.",
    shortname = "tec",
    category = "trusted",
    printcolumn(
        name = "Installed",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Installed\")].status",
        description = "Whether everything the operator installs is in place"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Installed\")].reason",
        description = "Why it is installed or not"
    ),
    printcolumn(
        name = "Trustee",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"TrusteeReady\")].reason",
        description = "State of the key broker that releases disk keys"
    ),
    printcolumn(
        name = "Machines",
        type_ = "integer",
        json_path = ".status.machines",
        description = "Machines in this namespace"
    ),
    printcolumn(
        name = "Trusted",
        type_ = "integer",
        json_path = ".status.attestationKeys.trusted",
        description = "Attestation keys that are trusted"
    ),
    printcolumn(
        name = "Pending",
        type_ = "integer",
        json_path = ".status.attestationKeys.pending",
        description = "Attestation keys that wait for a Machine, a cluster or a person"
    ),
    printcolumn(
        name = "Refused",
        type_ = "integer",
        json_path = ".status.attestationKeys.refused",
        description = "Attestation keys that are refused"
    ),
    printcolumn(
        name = "Images",
        type_ = "integer",
        json_path = ".status.approvedImages",
        priority = 1,
        description = "Approved images in this namespace"
    ),
    printcolumn(
        name = "Approval",
        type_ = "string",
        json_path = ".spec.attestationKeyApproval",
        priority = 1,
        description = "Who approves attestation keys; empty means Automatic"
    ),
    printcolumn(
        name = "Address",
        type_ = "string",
        json_path = ".spec.publicTrusteeAddr",
        priority = 1,
        description = "Address under which machines reach Trustee"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = immutable_value("publicTrusteeAddr", REMEDY),
    validation = kept_once_set("publicTrusteeAddr"),
    validation = matches("publicTrusteeAddr", ADDRESS, ADDRESS_MESSAGE),
    validation = immutable_value("publicAttestationKeyRegisterAddr", REMEDY),
    validation = set_at_creation("publicAttestationKeyRegisterAddr", REMEDY),
    validation = matches("publicAttestationKeyRegisterAddr", ADDRESS, ADDRESS_MESSAGE),
    validation = immutable_value("trusteeSecret", REMEDY),
    validation = set_at_creation("trusteeSecret", REMEDY),
    validation = matches("trusteeSecret", SECRET, SECRET_MESSAGE),
    validation = immutable_value("registerServerSecret", REMEDY),
    validation = set_at_creation("registerServerSecret", REMEDY),
    validation = matches("registerServerSecret", SECRET, SECRET_MESSAGE),
    validation = immutable_value("attestationKeyRegisterSecret", REMEDY),
    validation = set_at_creation("attestationKeyRegisterSecret", REMEDY),
    validation = matches("attestationKeyRegisterSecret", SECRET, SECRET_MESSAGE),
    validation = immutable_value("trusteeKbsPort", REMEDY),
    validation = set_at_creation("trusteeKbsPort", REMEDY),
    validation = immutable_value("registerServerPort", REMEDY),
    validation = set_at_creation("registerServerPort", REMEDY),
    validation = immutable_value("attestationKeyRegisterPort", REMEDY),
    validation = set_at_creation("attestationKeyRegisterPort", REMEDY)
)]
pub struct TrustedExecutionClusterSpec {
    /// Address, host or host:port without a scheme, under which machines reach Trustee. It goes into the first
    /// configuration of every machine. It may be added later, once; afterwards it is immutable.
    #[schemars(length(min = 1, max = 259))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_trustee_addr: Option<String>,

    /// Address, host or host:port without a scheme, under which machines register their attestation key. Without it
    /// machines are not told to register one. Set at creation or never; immutable.
    #[schemars(length(min = 1, max = 259))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_attestation_key_register_addr: Option<String>,

    /// Name of the Secret with the TLS certificate of Trustee: tls.crt, tls.key and ca.crt. Without it Trustee serves
    /// plain HTTP; with it the operator waits until the Secret is complete. Set at creation or never; immutable.
    #[schemars(length(min = 1, max = 253))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trustee_secret: Option<String>,

    /// Name of the Secret with the TLS certificate of register-server: tls.crt and tls.key. Without it register-server
    /// serves plain HTTP. Set at creation or never; immutable.
    #[schemars(length(min = 1, max = 253))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_server_secret: Option<String>,

    /// Name of the Secret with the TLS certificate of attestation-key-register: tls.crt, tls.key and ca.crt. Without it
    /// attestation-key-register serves plain HTTP. Set at creation or never; immutable.
    #[schemars(length(min = 1, max = 253))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation_key_register_secret: Option<String>,

    /// Port of the Service kbs-service in front of Trustee; 8080 when not set. Set at creation or never; immutable.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trustee_kbs_port: Option<i32>,

    /// Port of the Service register-server; 8000 when not set. Set at creation or never; immutable.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_server_port: Option<i32>,

    /// Port of the Service attestation-key-register; 8001 when not set. Set at creation or never; immutable.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation_key_register_port: Option<i32>,

    /// Who approves attestation keys. Automatic (the default): the first key registered for the id of a Machine is
    /// trusted. Manual: every key waits for `kubectl trusted approve-ak`. Any other value than Manual needs the verb
    /// approve on trustedexecutionclusters. A change concerns new keys only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation_key_approval: Option<ApprovalPolicy>,

    /// What happens to the disk key when its Machine is deleted. Delete (the default): it goes with the Machine, and the
    /// disk can never be opened again. Retain: the Secret stays, is no longer delivered, and is purged only by a person.
    /// A change re-owns existing Secrets; the keys in them stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_key_retention: Option<DiskKeyRetention>,
}

impl TrustedExecutionClusterSpec {
    /// The approval policy in force.
    pub fn approval_policy(&self) -> ApprovalPolicy {
        self.attestation_key_approval.unwrap_or_default()
    }

    /// The retention of disk keys in force.
    pub fn retention(&self) -> DiskKeyRetention {
        self.disk_key_retention.unwrap_or_default()
    }
}

// Plain comments on variants: a doc comment would turn the enum into a `oneOf`, which structural schemas cannot hold.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ApprovalPolicy {
    // The first key of a known machine is trusted.
    #[default]
    Automatic,
    // A person approves every key.
    Manual,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiskKeyRetention {
    // The disk key is owned by its Machine and goes with it.
    #[default]
    Delete,
    // The disk key has no owner and stays.
    Retain,
}

/// What the operator found and did. Written by the operator alone.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TrustedExecutionClusterStatus {
    /// Installed, KnownTrusteeAddress, TrusteeReady and ApprovalProtected, each with a reason and the next step.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// Number of Machines in this namespace. While it is above zero, deleting this object needs the annotation
    /// trusted-execution-clusters.io/confirm-delete with its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<i32>,

    /// Number of attestation keys in this namespace by state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation_keys: Option<KeyCounts>,

    /// Number of ApprovedImages in this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_images: Option<i32>,

    /// The metadata.generation this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Number of attestation keys by state.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct KeyCounts {
    /// Keys a machine attests with.
    pub trusted: i32,
    /// Keys that wait for a Machine, a cluster or a person.
    pub pending: i32,
    /// Keys that are not trusted and will not be without a person.
    pub refused: i32,
}

impl KeyCounts {
    /// Counts keys by state.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a AttestationKey>) -> Self {
        let mut counts = KeyCounts::default();
        for key in keys {
            match KeyState::of(key) {
                KeyState::Trusted => counts.trusted += 1,
                KeyState::Pending => counts.pending += 1,
                KeyState::Refused => counts.refused += 1,
            }
        }
        counts
    }
}
