//! The objects and patches of the machine controller; pure.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::ResourceExt;
use serde_json::{Value, json};
use trusted_crds::names::{
    self, BOUND_BY_HAND_ANNOTATION, DISK_KEY_ENTRY, FINGERPRINT_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL,
    PUBLIC_KEY_ENTRY,
};
use trusted_crds::{AttestationKey, Machine, PublicKey};

use crate::owner::owner_reference;

/// The Secret that records that `key` is trusted in the place `name`.
pub fn binding(name: &str, key: &AttestationKey, public_key: &PublicKey, by_hand: bool) -> Secret {
    let mut annotations =
        BTreeMap::from([(FINGERPRINT_ANNOTATION.to_owned(), public_key.fingerprint().to_string())]);
    if by_hand {
        annotations.insert(BOUND_BY_HAND_ANNOTATION.to_owned(), "true".to_owned());
    }
    let mut secret = secret(name, key.namespace(), PUBLIC_KEY_ENTRY, public_key.to_pem().into_bytes());
    secret.metadata.annotations = Some(annotations);
    secret.metadata.owner_references = Some(vec![owner_reference(key)]);
    secret
}

/// The Secret with the disk key of `machine`: the octet key that Clevis expects, made of `random`. Without an
/// owner it outlives its Machine.
pub fn disk_key(machine: &Machine, random: &[u8; 32], owned: bool) -> Secret {
    let jwk = json!({ "key_type": "oct", "key": STANDARD.encode(random) }).to_string();
    let name = names::disk_key_secret(&machine.spec.id);
    let mut secret = secret(&name, machine.namespace(), DISK_KEY_ENTRY, jwk.into_bytes());
    secret.metadata.owner_references = owned.then(|| vec![owner_reference(machine)]);
    secret
}

fn secret(name: &str, namespace: Option<String>, entry: &str, bytes: Vec<u8>) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace,
            labels: Some(BTreeMap::from([(MANAGED_BY_LABEL.to_owned(), MANAGED_BY.to_owned())])),
            ..Default::default()
        },
        data: Some(BTreeMap::from([(entry.to_owned(), ByteString(bytes))])),
        ..Default::default()
    }
}

/// A patch that makes `owners` the only owners of an object.
pub fn ownership_patch(owners: &[OwnerReference]) -> Value {
    json!({ "metadata": { "ownerReferences": owners } })
}

/// The same for a Secret, which with that becomes one of ours, guarded as such and delivered without an owner too.
pub fn managed_ownership_patch(owners: &[OwnerReference]) -> Value {
    let mut patch = ownership_patch(owners);
    patch["metadata"]["labels"] = json!({ MANAGED_BY_LABEL: MANAGED_BY });
    patch
}

/// A patch that forges an approval, to see it refused.
pub fn forged_approval_patch(fingerprint: &str) -> Value {
    let approval = json!({
        "decision": "Approved",
        "fingerprint": fingerprint,
        "by": "trusted-operator-policy-probe",
        "reason": "never stored: asks whether the admission policy refuses it",
    });
    json!({ "spec": { "approval": approval } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trusted_crds::MachineSpec;

    #[test]
    fn a_disk_key_is_the_document_clevis_expects() {
        let machine = Machine::new("m", MachineSpec { id: "id-1".into() });
        let secret = disk_key(&machine, &[7; 32], true);
        assert_eq!(secret.name_any(), "luks-id-1");
        let data = secret.data.unwrap_or_default();
        let document: Value = serde_json::from_slice(&data["root"].0).unwrap();
        assert_eq!(document["key_type"], "oct");
        assert_eq!(STANDARD.decode(document["key"].as_str().unwrap()).unwrap(), [7; 32]);
        assert_eq!(secret.metadata.owner_references.unwrap()[0].kind, "Machine");
        assert_eq!(disk_key(&machine, &[7; 32], false).metadata.owner_references, None);
    }
}
