//! Validation of AttestationKey, apart from what concerns private keys.

use serde_json::{Value, json};
use testenv::objects;
use trusted_crds::AttestationKey;

use crate::support::{Specs, namespace};

const KEY: &str = "any text";

fn approval() -> Value {
    json!({
        "decision": "Approved", "fingerprint": format!("sha256:{}", "0123456789abcdef".repeat(4)),
        "by": "admin", "reason": "looked at it",
    })
}

fn with_approval(field: &str, value: Value) -> Value {
    let mut approval = approval();
    approval[field] = value;
    json!({"publicKey": KEY, "approval": approval})
}

#[tokio::test]
async fn public_key_is_required_and_free_in_form() {
    let namespace = namespace("ak-key").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    for good in [objects::public_key(), KEY.to_owned(), String::new(), "x".repeat(8192), "ü".repeat(8192)] {
        specs.accepts(json!({"publicKey": good})).await;
    }
    let too_long =
        "spec.publicKey: Invalid value: publicKey is too long: a PEM public key has at most 8192 characters";
    specs.refuses(json!({"publicKey": "x".repeat(8193)}), too_long).await;
    specs.refuses(json!({"publicKey": "x".repeat(1_000_000)}), too_long).await;
    specs.refuses(json!({}), "spec.publicKey: Required value").await;
    specs.refuses(Value::Null, "spec: Required value").await;
}

#[tokio::test]
async fn public_key_is_immutable() {
    let namespace = namespace("ak-key-immutable").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let key = |text: &str| json!({"publicKey": text});
    let expected = "spec.publicKey: Invalid value: publicKey is immutable: create another AttestationKey for another key";
    specs.refuses_change(key("a"), key("b"), expected).await;
    specs.refuses_change(key("a"), key("a\n"), expected).await;
    specs.refuses_change(key("a"), json!({}), "spec.publicKey: Required value").await;
    specs.accepts_change(key("a"), key("a")).await;
}

#[tokio::test]
async fn uuid_is_limited_and_immutable() {
    let namespace = namespace("ak-uuid").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let uuid = |uuid: &str| json!({"publicKey": KEY, "uuid": uuid});
    for good in ["", "5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11", "No Label At All", &"x".repeat(253)] {
        specs.accepts(uuid(good)).await;
    }
    specs.refuses(uuid(&"x".repeat(254)), "spec.uuid: Invalid value: uuid is too long").await;
    specs.refuses(json!({"publicKey": KEY, "uuid": 7}), "must be of type string").await;
    let expected = "spec.uuid: Invalid value: uuid is immutable: it can be neither added, changed nor removed; create \
                    another AttestationKey";
    let none = json!({"publicKey": KEY});
    specs.refuses_change(uuid("a"), uuid("b"), expected).await;
    specs.refuses_change(none.clone(), uuid("a"), expected).await;
    specs.refuses_change(uuid("a"), none.clone(), expected).await;
    specs.accepts_change(uuid("a"), uuid("a")).await;
    specs.accepts_change(none.clone(), none).await;
}

#[tokio::test]
async fn approval_has_a_form() {
    let namespace = namespace("ak-approval").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    specs.accepts(json!({"publicKey": KEY, "approval": approval()})).await;
    specs.accepts(with_approval("decision", json!("Denied"))).await;
    specs.accepts(with_approval("by", json!("x".repeat(1024)))).await;
    specs.accepts(with_approval("reason", json!("x".repeat(1024)))).await;
    specs.accepts(with_approval("reason", json!("its private key was published"))).await;

    let decision =
        "spec.approval.decision: Unsupported value: \"Maybe\": supported values: \"Approved\", \"Denied\"";
    specs.refuses(with_approval("decision", json!("Maybe")), decision).await;
    let fingerprint = "spec.approval.fingerprint: Invalid value: fingerprint must be 'sha256:' and 64 lower-case \
                       hexadecimal digits, as `kubectl trusted status` shows it";
    let digits = "0".repeat(64);
    for bad in [
        String::new(),
        digits.clone(),
        format!("sha256:{}", &digits[1..]),
        format!("sha256:{digits}0"),
        format!("sha256:{}A", &digits[1..]),
        format!("SHA256:{digits}"),
        format!(" sha256:{digits}"),
    ] {
        specs.refuses(with_approval("fingerprint", json!(bad)), fingerprint).await;
    }
    specs
        .refuses(
            with_approval("by", json!("x".repeat(1025))),
            "spec.approval.by: Invalid value: by is too long",
        )
        .await;
    specs
        .refuses(
            with_approval("reason", json!("x".repeat(1025))),
            "spec.approval.reason: Invalid value: reason is too long",
        )
        .await;
    for field in ["decision", "fingerprint"] {
        let mut approval = approval();
        approval.as_object_mut().unwrap().remove(field);
        let expected = format!("spec.approval.{field}: Required value");
        specs.refuses(json!({"publicKey": KEY, "approval": approval}), &expected).await;
    }
}

#[tokio::test]
async fn approval_may_change() {
    let namespace = namespace("ak-approval-change").await;
    let specs = Specs::of::<AttestationKey>(&namespace);
    let none = json!({"publicKey": KEY});
    // The policy on approvals wants the name of the user who decides.
    let by_admin = |mut spec: Value| {
        spec["approval"]["by"] = json!(namespace.user_name("admin"));
        spec
    };
    let approved = by_admin(json!({"publicKey": KEY, "approval": approval()}));
    let denied = by_admin(with_approval("decision", json!("Denied")));
    specs.accepts_change(none.clone(), approved.clone()).await;
    specs.accepts_change(approved.clone(), denied).await;
    specs.accepts_change(approved, none).await;
}
