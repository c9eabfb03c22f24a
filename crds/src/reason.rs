//! Reasons of conditions. They are API: scripts and people compare them, so none is ever renamed.

// Installed
/// Children are being made.
pub const INSTALLING: &str = "Installing";
/// Every child is in place.
pub const INSTALLATION_COMPLETED: &str = "InstallationCompleted";
/// Another TrustedExecutionCluster of the namespace is served.
pub const NON_UNIQUE: &str = "NonUnique";
/// The TrustedExecutionCluster is being deleted.
pub const UNINSTALLING: &str = "Uninstalling";

// KnownTrusteeAddress
/// `publicTrusteeAddr` is set.
pub const ADDRESS_FOUND: &str = "AddressFound";
/// `publicTrusteeAddr` is not set.
pub const NO_ADDRESS_FOUND: &str = "NoAddressFound";

// TrusteeReady
/// Trustee runs with everything that is to be delivered.
pub const AVAILABLE: &str = "Available";
/// Trustee is being restarted with new keys.
pub const ROLLING_OUT: &str = "RollingOut";
/// No Trustee pod is available.
pub const UNAVAILABLE: &str = "Unavailable";
/// A TLS Secret that the cluster names is missing or incomplete.
pub const TLS_NOT_READY: &str = "TLSNotReady";

// ApprovalProtected
/// The admission policy on approvals acts.
pub const ENFORCED: &str = "Enforced";
/// The admission policy on approvals does not act in this namespace.
pub const POLICY_MISSING: &str = "PolicyMissing";
/// Nothing has called for a check yet.
pub const NOT_CHECKED: &str = "NotChecked";

// KeyReady
/// The disk key was made.
pub const KEY_CREATED: &str = "KeyCreated";
/// A disk key that existed is used as it is.
pub const KEY_ADOPTED: &str = "KeyAdopted";
/// Another Machine with this id is served.
pub const DUPLICATE_ID: &str = "DuplicateId";

// KeyReady and Approved
/// A Secret with the name of the disk key, or of the binding, exists and is not ours.
pub const FOREIGN_SECRET: &str = "ForeignSecret";
/// No TrustedExecutionCluster is served in this namespace.
pub const AWAITING_CLUSTER: &str = "AwaitingCluster";

// AttestationKeyBound
/// A key is bound to the machine.
pub const BOUND: &str = "Bound";
/// No key names the machine.
pub const NO_KEY: &str = "NoKey";

// AttestationKeyBound and Approved
/// A person has to approve the key.
pub const AWAITING_APPROVAL: &str = "AwaitingApproval";
/// Another key, or another machine, came first.
pub const CONFLICT: &str = "Conflict";

// Approved
/// Trusted, because the machine exists and the key came first.
pub const MACHINE_CREATED: &str = "MachineCreated";
/// Trusted by a person.
pub const MANUALLY_APPROVED: &str = "ManuallyApproved";
/// `publicKey` is not a public key that can be trusted.
pub const INVALID_KEY: &str = "InvalidKey";
/// Denied by a person.
pub const DENIED: &str = "Denied";
/// The approval is about another key.
pub const APPROVAL_MISMATCH: &str = "ApprovalMismatch";
/// The approval was taken back.
pub const WITHDRAWN: &str = "Withdrawn";
/// A person approved another key of the machine.
pub const SUPERSEDED: &str = "Superseded";
/// No Machine has the id that the key names.
pub const AWAITING_MACHINE: &str = "AwaitingMachine";

// Committed
/// The image's reference values are in force.
pub const IMAGE_COMMITTED: &str = "ImageCommitted";
/// The reference values are being computed.
pub const COMPUTING: &str = "Computing";
/// The pod that computes the reference values cannot start.
pub const POD_PENDING: &str = "PodPending";
/// The image reference has no digest.
pub const NO_DIGEST_GIVEN: &str = "NoDigestGiven";
/// The reference values could not be computed.
pub const COMPUTATION_FAILED: &str = "ComputationFailed";
/// No controller has looked at the image yet. Shown by the plugin, never written.
pub const NOT_EVALUATED: &str = "NotEvaluated";
