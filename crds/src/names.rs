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
/// Hash of the TLS Secret, on a pod template, so that a new certificate rolls the pod.
pub const TLS_HASH_ANNOTATION: &str = "trusted-execution-clusters.io/tls-hash";
/// Annotation that confirms the deletion of a cluster that has machines; its value is the cluster's name.
pub const CONFIRM_DELETE_ANNOTATION: &str = "trusted-execution-clusters.io/confirm-delete";
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

/// Secret with the disk key of the machine `id`.
pub fn disk_key_secret(id: &str) -> String {
    format!("luks-{id}")
}

/// Secret that records which key the machine `id` is bound to.
pub fn binding_secret(id: &str) -> String {
    format!("ak-{id}")
}

/// Secret that records a trusted key that belongs to no machine. With 70 characters it is longer than any
/// [`binding_secret`], so that no machine id can lead to it.
pub fn binding_secret_without_machine(fingerprint: &Fingerprint) -> String {
    format!("ak-fp-{}", fingerprint.hex())
}

/// Whether `id` is an RFC 1123 label, which every machine id is.
pub fn is_machine_id(id: &str) -> bool {
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
            assert!(is_machine_id(good), "{good} is an id");
        }
        let too_long = "a".repeat(64);
        for bad in ["", "-", "-a", "a-", "A", "a.b", "a_b", "a b", "é", "a\n", &too_long] {
            assert!(!is_machine_id(bad), "{bad:?} is no id");
        }
    }

    #[test]
    fn names_of_bindings_cannot_meet() {
        let fingerprint: Fingerprint = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let without = binding_secret_without_machine(&fingerprint);
        assert_eq!(without, format!("ak-fp-{}", "0".repeat(64)));
        let id = without.strip_prefix("ak-").unwrap();
        assert!(!is_machine_id(id), "no machine id leads to the Secret of a key without machine");
        assert_eq!(disk_key_secret("m"), "luks-m");
        assert_eq!(binding_secret("m"), "ak-m");
    }
}
