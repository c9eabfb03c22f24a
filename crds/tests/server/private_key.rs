//! A private key pasted by mistake is refused, and the answer holds nothing of it: answers end up in terminals, CI logs
//! and bug reports.
//!
//! Where publicKey is not even text, a server-side apply is refused by the API server before any rule of ours, with the
//! value in its message; no definition can change that, and docs/security.md says so.

use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use testenv::objects;
use trusted_crds::{API_VERSION, AttestationKey};

use crate::support::{Specs, admin, keys, namespace, patch};

const SAID: &str = "spec.publicKey: Invalid value: publicKey holds a private key: never send it; write the public key, \
                    which `openssl pkey -pubout` prints, and regard a private key that was sent as disclosed";

/// Every run of characters of the key's body that could give it away.
fn secrets_of(private: &str) -> Vec<String> {
    let body: Vec<char> =
        private.lines().filter(|line| !line.starts_with("-----")).flat_map(str::chars).collect();
    assert!(body.len() > 100, "there is something to look for");
    body.windows(12).map(|window| window.iter().collect()).collect()
}

fn assert_silent(private: &str, answer: &kube::Error) {
    let shown = format!("{answer} {answer:?}");
    for part in secrets_of(private) {
        assert!(!shown.contains(&part), "the answer gives part of the key away: {shown}");
    }
    assert!(!shown.contains("BEGIN"), "the answer repeats the value: {shown}");
}

fn variants(private: &str) -> Vec<(&'static str, Value, &'static str)> {
    let relabel = |label: &str| private.replace("PRIVATE KEY", label);
    let public = objects::public_key();
    vec![
        ("as it is", json!(private), SAID),
        ("RSA label", json!(relabel("RSA PRIVATE KEY")), SAID),
        ("EC label", json!(relabel("EC PRIVATE KEY")), SAID),
        ("encrypted", json!(relabel("ENCRYPTED PRIVATE KEY")), SAID),
        ("OpenSSH", json!(relabel("OPENSSH PRIVATE KEY")), SAID),
        ("TPM", json!(relabel("TSS2 PRIVATE KEY")), SAID),
        ("lower case", json!(relabel("private key")), SAID),
        ("CRLF", json!(private.replace('\n', "\r\n")), SAID),
        ("folded by YAML into one line", json!(private.replace('\n', " ")), SAID),
        ("after the public key", json!(format!("{public}{private}")), SAID),
        ("too long", json!(private.repeat(60)), "publicKey is too long"),
        ("a list", json!([private]), "must be of type string"),
        ("a list of lines", json!(private.lines().collect::<Vec<_>>()), "must be of type string"),
        ("an object", json!({"key": private}), "must be of type string"),
    ]
}

#[tokio::test]
async fn refused_on_create_without_an_echo() {
    let namespace = namespace("private-create").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let private = objects::private_key();
    for (case, value, said) in variants(&private) {
        let error = specs.create(&json!({"publicKey": value})).await.expect_err(case);
        assert!(error.to_string().contains(said), "{case}: {error}");
        assert_silent(&private, &error);
    }
}

#[tokio::test]
async fn refused_on_update_without_an_echo() {
    let namespace = namespace("private-update").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let private = objects::private_key();
    let from = json!({"publicKey": objects::public_key()});
    for (case, value, said) in variants(&private) {
        let error = specs.replace(&from, &json!({"publicKey": value})).await.expect_err(case);
        assert!(error.to_string().contains(said), "{case}: {error}");
        assert_silent(&private, &error);
    }
}

#[tokio::test]
async fn refused_on_patch_without_an_echo() {
    let namespace = namespace("private-patch").await;
    let keys = keys(&admin(&namespace), &namespace);
    let key = objects::attestation_key("k", None, &objects::public_key());
    keys.create(&Default::default(), &key).await.unwrap();
    let private = objects::private_key();
    for (case, value, said) in variants(&private) {
        let error = patch(&keys, "k", json!({"spec": {"publicKey": value}})).await.expect_err(case);
        assert!(error.to_string().contains(said), "{case}: {error}");
        assert_silent(&private, &error);
    }
}

#[tokio::test]
async fn refused_on_apply_without_an_echo() {
    let namespace = namespace("private-apply").await;
    let keys = keys(&admin(&namespace), &namespace);
    let private = objects::private_key();
    for (case, value, said) in variants(&private).into_iter().filter(|(_, value, _)| value.is_string()) {
        let body: DynamicObject = serde_json::from_value(json!({
            "apiVersion": API_VERSION, "kind": "AttestationKey", "metadata": {"name": "new"}, "spec": {"publicKey": value},
        }))
        .unwrap();
        let params = PatchParams::apply("test").force();
        let error = keys.patch("new", &params, &Patch::Apply(&body)).await.expect_err(case);
        assert!(error.to_string().contains(said), "{case}: {error}");
        assert_silent(&private, &error);
    }
}

#[tokio::test]
async fn refused_as_uuid_or_fingerprint_without_an_echo() {
    let namespace = namespace("private-elsewhere").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let private = objects::private_key();
    let public = objects::public_key();
    let approval = json!({"decision": "Approved", "fingerprint": private, "by": "admin"});
    let cases = [
        (
            json!({"publicKey": public, "uuid": private}),
            "uuid holds a private key: write the id of a Machine",
        ),
        (json!({"publicKey": public, "uuid": private.repeat(2)}), "uuid is too long"),
        (json!({"publicKey": public, "uuid": [private]}), "must be of type string"),
        (json!({"publicKey": public, "approval": approval}), "fingerprint must be 'sha256:'"),
    ];
    for (spec, said) in cases {
        let error = specs.create(&spec).await.expect_err(said);
        assert!(error.to_string().contains(said), "{error}");
        assert_silent(&private, &error);
    }
}
