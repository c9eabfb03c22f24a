//! Validation of TrustedExecutionCluster.

use serde_json::{Map, Value, json};
use trusted_crds::TrustedExecutionCluster;

use crate::support::{Specs, namespace};

/// Each fixed field with two good values.
fn fixed_fields() -> [(&'static str, Value, Value); 8] {
    [
        ("publicTrusteeAddr", json!("trustee.example.com"), json!("10.0.0.1:8080")),
        ("publicAttestationKeyRegisterAddr", json!("register.example.com"), json!("[fd00::1]:8001")),
        ("trusteeSecret", json!("trustee-tls"), json!("other")),
        ("registerServerSecret", json!("register-tls"), json!("other")),
        ("attestationKeyRegisterSecret", json!("ak.register.tls"), json!("other")),
        ("trusteeKbsPort", json!(8080), json!(8443)),
        ("registerServerPort", json!(8000), json!(1)),
        ("attestationKeyRegisterPort", json!(8001), json!(65535)),
    ]
}

fn with(field: &str, value: &Value) -> Value {
    Value::Object(Map::from_iter([(field.to_owned(), value.clone())]))
}

#[tokio::test]
async fn spec_is_required_and_may_be_empty() {
    let namespace = namespace("tec-spec").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    specs.accepts(json!({})).await;
    specs.refuses(Value::Null, "spec: Required value").await;
}

#[tokio::test]
async fn good_values_of_every_field() {
    let namespace = namespace("tec-good").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for (field, one, other) in fixed_fields() {
        specs.accepts(with(field, &one)).await;
        specs.accepts(with(field, &other)).await;
    }
    for field in ["publicTrusteeAddr", "publicAttestationKeyRegisterAddr"] {
        for good in [
            "a",
            "localhost:1",
            "A.B",
            "[::1]",
            "10.0.0.1",
            "host-1.example.com:65535",
            "under_score.example",
        ] {
            specs.accepts(with(field, &json!(good))).await;
        }
        specs.accepts(with(field, &json!(format!("{}.example:8080", "a".repeat(240))))).await;
    }
    for value in ["Automatic", "Manual"] {
        specs.accepts(json!({"attestationKeyApproval": value})).await;
    }
    for value in ["Delete", "Retain"] {
        specs.accepts(json!({"diskKeyRetention": value})).await;
    }
    let all = fixed_fields().into_iter().map(|(field, value, _)| (field.to_owned(), value));
    specs.accepts(Value::Object(Map::from_iter(all))).await;
}

#[tokio::test]
async fn addresses_have_no_scheme_and_no_path() {
    let namespace = namespace("tec-addr").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for field in ["publicTrusteeAddr", "publicAttestationKeyRegisterAddr"] {
        let expected = format!(
            "spec.{field}: Invalid value: write host or host:port, without a scheme such as https:// and without a path"
        );
        for bad in [
            "https://trustee.example.com",
            "http://10.0.0.1:8080",
            "trustee.example.com/kbs",
            "trustee.example.com:",
            "trustee.example.com:port",
            "trustee.example.com:123456",
            "user@host",
            "two words",
            "-leading",
            "fd00::1",
            "line\nbreak",
        ] {
            specs.refuses(with(field, &json!(bad)), &expected).await;
        }
        specs.refuses(with(field, &json!("")), "should be at least 1 chars long").await;
        specs.refuses(with(field, &json!("a".repeat(260))), "may not be more than 259 bytes").await;
        specs.refuses(with(field, &json!(1)), "must be of type string").await;
    }
}

#[tokio::test]
async fn names_of_secrets_are_names() {
    let namespace = namespace("tec-secret").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for field in ["trusteeSecret", "registerServerSecret", "attestationKeyRegisterSecret"] {
        let expected = format!("spec.{field}: Invalid value: write the name of a Secret in this namespace");
        for bad in ["Upper", "other/secret", "-a", "a-", "a b"] {
            specs.refuses(with(field, &json!(bad)), &expected).await;
        }
        specs.refuses(with(field, &json!("")), "should be at least 1 chars long").await;
        specs.refuses(with(field, &json!("a".repeat(254))), "may not be more than 253 bytes").await;
    }
}

#[tokio::test]
async fn ports_are_ports() {
    let namespace = namespace("tec-port").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for field in ["trusteeKbsPort", "registerServerPort", "attestationKeyRegisterPort"] {
        let said = |what: &str| format!("spec.{field}: Invalid value: {what}");
        specs.refuses(with(field, &json!(0)), &said("0: ")).await;
        specs.refuses(with(field, &json!(0)), "should be greater than or equal to 1").await;
        specs.refuses(with(field, &json!(-1)), "should be greater than or equal to 1").await;
        specs.refuses(with(field, &json!(65536)), "should be less than or equal to 65535").await;
        specs.refuses(with(field, &json!("8080")), "must be of type integer").await;
        specs.refuses(with(field, &json!(80.5)), "must be of type integer").await;
    }
}

#[tokio::test]
async fn policies_are_one_of_two() {
    let namespace = namespace("tec-enum").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    specs
        .refuses(json!({"attestationKeyApproval": "Never"}), "supported values: \"Automatic\", \"Manual\"")
        .await;
    specs.refuses(json!({"diskKeyRetention": "Keep"}), "supported values: \"Delete\", \"Retain\"").await;
}

#[tokio::test]
async fn values_are_immutable() {
    let namespace = namespace("tec-immutable").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for (field, one, other) in fixed_fields() {
        let expected = format!(
            "spec.{field}: Invalid value: {field} is immutable: another value needs a new TrustedExecutionCluster, and \
             deleting this one deletes its disk keys unless diskKeyRetention is Retain"
        );
        specs.refuses_change(with(field, &one), with(field, &other), &expected).await;
        specs.accepts_change(with(field, &one), with(field, &one)).await;
    }
}

#[tokio::test]
async fn fields_are_set_at_creation_or_never() {
    let namespace = namespace("tec-presence").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for (field, value, _) in fixed_fields() {
        let given = with(field, &value);
        if field == "publicTrusteeAddr" {
            let expected = "publicTrusteeAddr is required once set: put the former value back";
            specs.accepts_change(json!({}), given.clone()).await;
            specs.refuses_change(given, json!({}), expected).await;
        } else {
            let expected = format!(
                "spec.{field}: Invalid value: {field} must be set at creation: it can be neither added nor removed later"
            );
            specs.refuses_change(json!({}), given.clone(), &expected).await;
            specs.refuses_change(given, json!({}), &expected).await;
        }
    }
}

#[tokio::test]
async fn approval_and_retention_may_change() {
    let namespace = namespace("tec-mutable").await;
    let specs = Specs::of::<TrustedExecutionCluster>(&namespace);
    for (field, one, other) in
        [("attestationKeyApproval", "Automatic", "Manual"), ("diskKeyRetention", "Delete", "Retain")]
    {
        let (one, other) = (with(field, &json!(one)), with(field, &json!(other)));
        specs.accepts_change(one.clone(), other.clone()).await;
        specs.accepts_change(other, one.clone()).await;
        specs.accepts_change(json!({}), one.clone()).await;
        specs.accepts_change(one, json!({})).await;
    }
}
