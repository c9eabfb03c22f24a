//! API types of the group `trusted-execution-clusters.io`.
//!
//! ```text
//!   TrustedExecutionCluster          one per namespace is served; owns what the operator installs
//!            |
//!   Machine (spec.id) <---- spec.uuid ---- AttestationKey (spec.publicKey, spec.approval)
//!            |                                     |
//!   Secret luks-<id>, the disk key        Secret ak-<id>, which key the machine is bound to
//!
//!   ApprovedImage (spec.image)       boot measurements that may attest
//! ```
//!
//! Owns: the four kinds with their validation, conditions and reasons, names, key parsing and fingerprints, and
//! how delivered keys are read back from the Trustee Deployment.
//! Must not: do input or output, know the operator's or the plugin's logic, or hold a private key.

mod approved_image;
mod attestation_key;
mod cluster;
pub mod condition;
mod crd;
pub mod delivery;
pub mod health;
mod hex;
mod key;
mod machine;
pub mod names;
pub mod reason;
mod rule;

pub use approved_image::{ApprovedImage, ApprovedImageSpec, ApprovedImageStatus, ReferenceValue};
pub use attestation_key::{
    Approval, AttestationKey, AttestationKeySpec, AttestationKeyStatus, Decision, KeyState,
};
pub use cluster::{
    ApprovalPolicy, DEFAULT_ATTESTATION_KEY_REGISTER_PORT, DEFAULT_REGISTER_SERVER_PORT,
    DEFAULT_TRUSTEE_KBS_PORT, DiskKeyRetention, KeyCounts, TrustedExecutionCluster,
    TrustedExecutionClusterSpec, TrustedExecutionClusterStatus,
};
pub use condition::{HasConditions, NewCondition, Status};
pub use crd::{ManifestError, crds, manifests};
pub use delivery::Delivered;
pub use hex::hex;
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
pub use key::{Fingerprint, FingerprintError, KeyError, MAX_PUBLIC_KEY_BYTES, PublicKey};
pub use machine::{BoundKey, Machine, MachineSpec, MachineStatus};

/// API group of all kinds.
pub const GROUP: &str = "trusted-execution-clusters.io";
/// The served and stored version.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of all kinds.
pub const API_VERSION: &str = "trusted-execution-clusters.io/v1alpha1";
