//! Tests of what is read back from a Trustee Deployment.

use serde_json::json;

use super::*;

fn fingerprint(digit: char) -> Fingerprint {
    format!("sha256:{}", digit.to_string().repeat(64)).parse().unwrap()
}

fn deployment(replicas: i32, status: &serde_json::Value) -> Deployment {
    let key = key_file(&fingerprint('a'));
    let elsewhere = key_file(&fingerprint('b'));
    let value = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "trustee-deployment", "generation": 4},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "kbs"}},
            "template": {"spec": {"containers": [], "volumes": [
                {"name": ATTESTATION_KEYS_VOLUME, "projected": {"sources": [
                    {"secret": {"name": "ak-m1", "optional": true, "items": [{"key": "public_key", "path": key}]}},
                    {"configMap": {"name": "other", "items": [{"key": "x", "path": elsewhere}]}},
                ]}},
                {"name": DISK_KEYS_VOLUME, "projected": {"sources": [
                    {"secret": {"name": "luks-m1", "items": [{"key": "root", "path": "m1/root"}]}},
                    {"secret": {"name": "luks-m2", "items": [{"key": "root", "path": "m2/root"}]}},
                ]}},
                {"name": "another", "projected": {"sources": [
                    {"secret": {"name": "luks-m3", "items": [{"key": "root", "path": "m3/root"}]}},
                ]}},
            ]}},
        },
        "status": status,
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn keys_are_those_of_secrets_in_their_volume() {
    let delivered = Delivered::read(&deployment(1, &json!({})));
    assert!(delivered.has_key(&fingerprint('a')));
    assert!(!delivered.has_key(&fingerprint('b')), "a ConfigMap delivers no key");
    assert!(delivered.has_disk_key("m1") && delivered.has_disk_key("m2"));
    assert!(!delivered.has_disk_key("m3"), "another volume delivers no key");
    assert!(!delivered.has_disk_key("m"), "a prefix of an id is another id");
    assert_eq!((delivered.attestation_keys(), delivered.disk_keys()), (1, 2));
    let empty = Delivered::read(&Deployment::default());
    assert_eq!(empty, Delivered::default());
}

#[test]
fn rolled_out_means_every_pod_is_new_and_available() {
    let done = json!({"observedGeneration": 4, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    assert!(Delivered::read(&deployment(2, &done)).rolled_out);
    for (field, value) in
        [("observedGeneration", 3), ("replicas", 3), ("updatedReplicas", 1), ("availableReplicas", 1)]
    {
        let mut status = done.clone();
        status[field] = json!(value);
        assert!(!Delivered::read(&deployment(2, &status)).rolled_out, "{field} {value}");
    }
    assert!(!Delivered::read(&deployment(2, &json!({}))).rolled_out, "nobody has looked at it yet");
    let none = json!({"observedGeneration": 4});
    assert!(!Delivered::read(&deployment(0, &none)).rolled_out, "scaled to zero, nobody serves the keys");
}
