//! AttestationKey: a key that asks to be trusted, and what a person decided about it.

#![expect(
    unreachable_pub,
    reason = "the schema derive puts a public copy of each struct into a function body"
)]
#![expect(clippy::duplicated_attributes, reason = "printer columns share types and priorities")]

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::on;
use crate::{Fingerprint, HasConditions, KeyError, PublicKey, Status, condition, reason};

// No rule may sit on `publicKey` itself, not even a length: the API server repeats the value it refuses, and that may be
// a private key pasted by mistake.
/// A public key that asks to be trusted.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Default, PartialEq, Eq)]
#[kube(
    group = "trusted-execution-clusters.io",
    version = "v1alpha1",
    kind = "AttestationKey",
    namespaced,
    status = "AttestationKeyStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "AttestationKey is the public key a machine attests with, and what a person decided about it. The first key of \
           a machine is trusted; every further one is refused until a person approves it with `kubectl trusted approve-ak`.",
    shortname = "ak",
    category = "trusted",
    selectable = ".spec.uuid",
    printcolumn(
        name = "UUID",
        type_ = "string",
        json_path = ".spec.uuid",
        description = "Id of the Machine the key belongs to"
    ),
    printcolumn(
        name = "Approved",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Approved\")].status",
        description = "Whether the key is trusted"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Approved\")].reason",
        description = "Why it is trusted or not"
    ),
    printcolumn(
        name = "Decision",
        type_ = "string",
        json_path = ".spec.approval.decision",
        description = "What a person decided, if anybody did"
    ),
    printcolumn(
        name = "By",
        type_ = "string",
        json_path = ".spec.approval.by",
        priority = 1,
        description = "Who decided"
    ),
    printcolumn(
        name = "Fingerprint",
        type_ = "string",
        json_path = ".status.fingerprint",
        priority = 1,
        description = "Fingerprint of the key"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = on(
        "publicKey",
        "self.publicKey.size() <= 8192",
        "publicKey is too long: a PEM public key has at most 8192 characters"
    ),
    validation = on(
        "publicKey",
        "self.publicKey.size() > 8192 || !self.publicKey.lowerAscii().contains('private key')",
        "publicKey holds a private key: never send it; write the public key, which `openssl pkey -pubout` prints, and \
         regard a private key that was sent as disclosed"
    ),
    validation = on(
        "publicKey",
        "self.publicKey == oldSelf.publicKey",
        "publicKey is immutable: create another AttestationKey for another key"
    ),
    validation = on(
        "uuid",
        "!has(self.uuid) || self.uuid.size() <= 253",
        "uuid is too long: the id of a Machine has at most 63 characters, and more than 253 are refused"
    ),
    validation = on(
        "uuid",
        "!has(self.uuid) || self.uuid.size() > 253 || !self.uuid.lowerAscii().contains('private key')",
        "uuid holds a private key: write the id of a Machine"
    ),
    validation = on(
        "uuid",
        "has(self.uuid) == has(oldSelf.uuid) && (!has(self.uuid) || self.uuid == oldSelf.uuid)",
        "uuid is immutable: it can be neither added, changed nor removed; create another AttestationKey"
    )
)]
pub struct AttestationKeySpec {
    /// The public key: exactly one PEM block PUBLIC KEY (SubjectPublicKeyInfo), RSA of at least 2048 bits or ECDSA on
    /// P-256, P-384 or P-521, at most 8192 characters. A private key is refused. Immutable.
    pub public_key: String,

    /// Id of the Machine that attests with this key (its spec.id). A key without it is trusted only by hand. At most 253
    /// characters. Immutable: it can be neither added, changed nor removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,

    /// What a person decided about this key: `kubectl trusted approve-ak` writes an approval, `deny-ak` a denial, and
    /// `revoke-ak` takes either back. A change needs the verb approve on this AttestationKey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

impl AttestationKey {
    /// The key, or why it is none that can be trusted.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        PublicKey::from_pem(&self.spec.public_key)
    }

    /// Whether a person denied the key with this fingerprint on this object.
    pub fn is_denied(&self, fingerprint: &Fingerprint) -> bool {
        self.spec.approval.as_ref().is_some_and(|approval| {
            approval.decision == Decision::Denied && approval.fingerprint == fingerprint.as_str()
        })
    }
}

impl fmt::Debug for AttestationKeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttestationKeySpec")
            .field("public_key", &format_args!("<{} bytes>", self.public_key.len()))
            .field("uuid", &self.uuid)
            .field("approval", &self.approval)
            .finish()
    }
}

/// What a person decided about an attestation key. It holds for the key with this fingerprint, under any name.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = on(
        "fingerprint",
        "self.fingerprint.matches('^sha256:[0-9a-f]{64}$')",
        "fingerprint must be 'sha256:' and 64 lower-case hexadecimal digits, as `kubectl trusted status` shows it"
    ),
    validation = on(
        "by",
        "!has(self.by) || self.by.size() <= 1024",
        "by is too long: it is the user name of the person who decided, at most 1024 characters"
    ),
    validation = on(
        "reason",
        "!has(self.reason) || self.reason.size() <= 1024",
        "reason is too long: at most 1024 characters"
    )
)]
pub struct Approval {
    /// Approved: the key is trusted. Denied: no key with this fingerprint is trusted, under any name, until a person removes
    /// the denial.
    pub decision: Decision,

    /// Fingerprint of the key that was looked at: "sha256:" and the hexadecimal SHA-256 of its DER SubjectPublicKeyInfo.
    /// The decision counts only when it is the fingerprint of spec.publicKey.
    pub fingerprint: String,

    /// User name of the person who decided. It must be the name the API server knows the person by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,

    /// Why, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

// Plain comments on variants: a doc comment would turn the enum into a `oneOf`, which structural schemas cannot hold.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    // The key is to be trusted.
    Approved,
    // The key must never be trusted.
    Denied,
}

/// What the operator found and did. Written by the operator alone.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AttestationKeyStatus {
    /// Approved, with a reason and the next step.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// Fingerprint of spec.publicKey: "sha256:" and the hexadecimal SHA-256 of its DER SubjectPublicKeyInfo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What a count or a verdict makes of an attestation key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyState {
    /// A machine may attest with it.
    Trusted,
    /// It waits for a Machine, a cluster or a person, or nobody has looked at it yet.
    Pending,
    /// It is not trusted, and only a person can change that.
    Refused,
}

impl KeyState {
    /// The state that the key's Approved condition stands for.
    pub fn of(key: &AttestationKey) -> KeyState {
        let Some(approved) = key.condition(condition::APPROVED) else {
            return KeyState::Pending;
        };
        let waiting = [reason::AWAITING_APPROVAL, reason::AWAITING_CLUSTER, reason::AWAITING_MACHINE];
        if condition::has_status(approved, Status::True) {
            KeyState::Trusted
        } else if waiting.contains(&approved.reason.as_str()) {
            KeyState::Pending
        } else {
            KeyState::Refused
        }
    }
}
