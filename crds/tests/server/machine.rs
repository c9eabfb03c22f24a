//! Validation of Machine.

use serde_json::{Value, json};
use trusted_crds::Machine;

use crate::support::{Specs, namespace};

#[tokio::test]
async fn id_is_an_rfc_1123_label() {
    let namespace = namespace("machine-id").await;
    let specs = Specs::of::<Machine>(&namespace);
    let longest = "a".repeat(63);
    for good in ["a", "0", "a-b", "5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11", &longest] {
        specs.accepts(json!({"id": good})).await;
    }
    for bad in ["A", "a.b", "a_b", "-a", "a-", "a b", "ä", "a\n"] {
        specs
            .refuses(
                json!({"id": bad}),
                "spec.id: Invalid value: id must be an RFC 1123 label: lower-case letters",
            )
            .await;
    }
    specs.refuses(json!({"id": ""}), "should be at least 1 chars long").await;
    specs.refuses(json!({"id": "a".repeat(64)}), "may not be more than 63 bytes").await;
    specs.refuses(json!({"id": 7}), "must be of type string").await;
    specs.refuses(json!({}), "spec.id: Required value").await;
    specs.refuses(Value::Null, "spec: Required value").await;
}

#[tokio::test]
async fn id_is_immutable() {
    let namespace = namespace("machine-immutable").await;
    let specs = Specs::of::<Machine>(&namespace);
    let expected = "spec.id: Invalid value: id is immutable: create another Machine for another id";
    specs.refuses_change(json!({"id": "a"}), json!({"id": "b"}), expected).await;
    specs.refuses_change(json!({"id": "a"}), json!({}), "spec.id: Required value").await;
    specs.accepts_change(json!({"id": "a"}), json!({"id": "a"})).await;
}
