//! Names, labels and annotations that operator, plugin and policies agree on.

use crate::Fingerprint;

/// Label of every object the operator makes.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY_LABEL`].
pub const MANAGED_BY: &str = "trusted-operator";
/// Field manager of the operator's applies.
pub const FIELD_MANAGER: &str = "trusted-operator";

/// Hash of what the operator last wrote into a child.
pub const APPLIED_HASH_ANNOTATION: &str = "trusted-execution-clusters.io/applied-hash";
/// Fingerprint of the key that a binding Secret holds.
pub const FINGERPRINT_ANNOTATION: &str = "trusted-execution-clusters.io/fingerprint";
/// Hash of the delivered keys, on the pod template of Trustee, so that a change rolls the pod.
pub const DELIVERY_HASH_ANNOTATION: &str = "trusted-execution-clusters.io/delivery-hash";
/// On a binding: a person's approval is the reason it exists, so it goes when the approval is withdrawn. It has to be
/// recorded with the binding itself, since a status may be lost on the way.
pub const BOUND_BY_HAND_ANNOTATION: &str = "trusted-execution-clusters.io/bound-by-hand";
/// Hash of Trustee's configuration, on its pod template: Trustee reads it at its start only, so a change has to roll
/// the pod.
pub const CONFIGURATION_HASH_ANNOTATION: &str = "trusted-execution-clusters.io/configuration-hash";
/// Hash of the TLS Secret, on a pod template, so that a new certificate rolls the pod.
pub const TLS_HASH_ANNOTATION: &str = "trusted-execution-clusters.io/tls-hash";
/// Annotation that confirms the deletion of a cluster that has machines; its value is the cluster's name.
pub const CONFIRM_DELETE_ANNOTATION: &str = "trusted-execution-clusters.io/confirm-delete";
/// Finalizer that the existing operator sets on Machines.
pub const FORMER_MACHINE_FINALIZER: &str = "finalizer.machine.trusted-execution-clusters.io";
/// Finalizer that the existing operator sets on ApprovedImages.
pub const FORMER_IMAGE_FINALIZER: &str = "finalizer.approved-image.trusted-execution-clusters.io";
/// Finalizer that the existing operator sets on the Secrets in which it records trusted keys.
pub const FORMER_RECORD_FINALIZER: &str = "trusted-execution-clusters.io/attestationkey-secret-finalizer";
/// Label (value "true") of the namespaces in which the admission policies act.
pub const MANAGED_NAMESPACE_LABEL: &str = "trusted-execution-clusters.io/managed";

/// Admission policy on approvals. Its name is in the message of every refusal.
pub const APPROVAL_POLICY: &str = "trusted-attestationkey-approval";
/// Admission policy on deleting keys that carry an approval.
pub const KEY_DELETION_POLICY: &str = "trusted-attestationkey-deletion";
/// Admission policy on automatic approval and on deleting clusters.
pub const CLUSTER_POLICY: &str = "trusted-cluster-protection";
/// Admission policy on disk keys and bindings.
pub const SECRET_POLICY: &str = "trusted-secret-protection";

/// Deployment of the operator.
pub const OPERATOR_DEPLOYMENT: &str = "trusted-operator";
/// Deployment of Trustee.
pub const TRUSTEE_DEPLOYMENT: &str = "trustee-deployment";
/// ConfigMap with Trustee's configuration, resource policy and reference values.
pub const TRUSTEE_DATA: &str = "trustee-data";
/// ConfigMap with the attestation policies.
pub const ATTESTATION_POLICY: &str = "attestation-policy";
/// Service in front of Trustee.
pub const KBS_SERVICE: &str = "kbs-service";
/// Deployment and Service of the front end that hands out first configurations.
pub const REGISTER_SERVER: &str = "register-server";
/// Deployment and Service of the front end that takes attestation keys.
pub const ATTESTATION_KEY_REGISTER: &str = "attestation-key-register";

/// ServiceAccount of the operator.
pub const OPERATOR_SERVICE_ACCOUNT: &str = "trusted-operator";
/// ServiceAccount of register-server.
pub const REGISTER_MACHINE_SERVICE_ACCOUNT: &str = "register-machine";
/// ServiceAccount of attestation-key-register.
pub const REGISTER_ATTESTATION_KEY_SERVICE_ACCOUNT: &str = "register-attestation-key";

const DISK_KEY_PREFIX: &str = "luks-";
const BINDING_PREFIX: &str = "ak-";
/// After [`BINDING_PREFIX`], where the key belongs to no machine.
const FINGERPRINT_PREFIX: &str = "fp-";
/// Key in a disk key's Secret, as Trustee serves it.
pub const DISK_KEY_ENTRY: &str = "root";
/// Key in a binding's Secret.
pub const PUBLIC_KEY_ENTRY: &str = "public_key";

/// Secret with the disk key of the machine `id`.
pub fn disk_key_secret(id: &str) -> String {
    format!("{DISK_KEY_PREFIX}{id}")
}

/// The machine whose disk key a Secret of this name holds: the inverse of [`disk_key_secret`].
pub fn machine_of_disk_key(secret: &str) -> Option<&str> {
    secret.strip_prefix(DISK_KEY_PREFIX).filter(|id| is_label(id))
}

/// Secret that records which key the machine `id` is bound to.
pub fn binding_secret(id: &str) -> String {
    format!("{BINDING_PREFIX}{id}")
}

/// The machine whose binding a Secret of this name is: the inverse of [`binding_secret`].
pub fn machine_of_binding(secret: &str) -> Option<&str> {
    secret.strip_prefix(BINDING_PREFIX).filter(|id| is_label(id))
}

/// Secret that records a trusted key that belongs to no machine. With 70 characters it is longer than any
/// [`binding_secret`], so that no machine id can lead to it.
pub fn binding_secret_without_machine(fingerprint: &Fingerprint) -> String {
    format!("{BINDING_PREFIX}{FINGERPRINT_PREFIX}{}", fingerprint.hex())
}

/// The key in a Secret of this name: the inverse of [`binding_secret_without_machine`].
pub fn fingerprint_of_binding(secret: &str) -> Option<Fingerprint> {
    let hex = secret.strip_prefix(BINDING_PREFIX)?.strip_prefix(FINGERPRINT_PREFIX)?;
    format!("sha256:{hex}").parse().ok()
}

/// Whether a Secret of this name is a binding.
pub fn is_binding(secret: &str) -> bool {
    machine_of_binding(secret).is_some() || fingerprint_of_binding(secret).is_some()
}

/// Whether a Secret of this name is a disk key or a binding of ours and of nobody else. A machine id may look like one;
/// the Secret is then another machine's, and nothing for this machine to adopt.
pub fn is_reserved(secret: &str) -> bool {
    secret.starts_with(DISK_KEY_PREFIX) || secret.starts_with(BINDING_PREFIX)
}

/// Whether `id` is an RFC 1123 label, which every machine id is.
pub fn is_label(id: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let outer = |c: Option<&u8>| c.is_some_and(|c| *c != b'-');
    let bytes = id.as_bytes();
    bytes.len() <= 63 && bytes.iter().all(|c| inner(*c)) && outer(bytes.first()) && outer(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_ids_are_rfc_1123_labels() {
        let longest = "a".repeat(63);
        for good in ["a", "0", "a-b", "5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11", &longest] {
            assert!(is_label(good), "{good} is an id");
        }
        let too_long = "a".repeat(64);
        for bad in ["", "-", "-a", "a-", "A", "a.b", "a_b", "a b", "é", "a\n", &too_long] {
            assert!(!is_label(bad), "{bad:?} is no id");
        }
    }

    #[test]
    fn names_of_bindings_cannot_meet() {
        let fingerprint: Fingerprint = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let without = binding_secret_without_machine(&fingerprint);
        assert_eq!(without, format!("ak-fp-{}", "0".repeat(64)));
        let id = without.strip_prefix("ak-").unwrap();
        assert!(!is_label(id), "no machine id leads to the Secret of a key without machine");
        assert_eq!(disk_key_secret("m"), "luks-m");
        assert_eq!(binding_secret("m"), "ak-m");
    }

    #[test]
    fn names_of_secrets_lead_back() {
        let fingerprint: Fingerprint = format!("sha256:{}", "ab".repeat(32)).parse().unwrap();
        let without = binding_secret_without_machine(&fingerprint);
        assert_eq!(machine_of_disk_key(&disk_key_secret("m-1")), Some("m-1"));
        assert_eq!(machine_of_binding(&binding_secret("m-1")), Some("m-1"));
        assert_eq!(fingerprint_of_binding(&without), Some(fingerprint));
        assert_eq!((machine_of_binding(&without), machine_of_disk_key(&without)), (None, None));
        assert_eq!(machine_of_binding("ak-fp-short"), Some("fp-short"));
        assert!(is_binding("ak-m-1") && is_binding(&without) && !is_binding("luks-m-1"));
        for foreign in ["tls", "luks-", "ak-", "luks-Upper", "ak-a.b"] {
            let found = machine_of_disk_key(foreign).or(machine_of_binding(foreign));
            assert_eq!((found, fingerprint_of_binding(foreign)), (None, None), "{foreign}");
            assert_eq!(is_reserved(foreign), foreign != "tls", "{foreign}");
        }
    }
}
