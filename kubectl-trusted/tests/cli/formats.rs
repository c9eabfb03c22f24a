//! The same facts in every format, each read by something that knows the format.

use std::time::Duration;

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use testenv::{ControlPlane, eventually};
use tokio::process::Command;
use trusted_crds::{AttestationKey, Machine};

use crate::run::{Plugin, Ran, bare};
use crate::stage::Stage;
use crate::status::{delivered, staged};

#[tokio::test]
async fn names_are_those_that_kubectl_takes() {
    let (namespace, _) = staged("names-of").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let names = viewer.run(&["status", "-o", "name"]).await.stdout;
    assert!(names.contains("machine.trusted-execution-clusters.io/machine-1\n"), "{names}");
    let output = Command::new(ControlPlane::shared().await.kubectl())
        .args(["get", "-o", "name"])
        .args(names.lines())
        .env("KUBECONFIG", &viewer.kubeconfig)
        .output()
        .await
        .unwrap();
    assert_eq!(Ran::of(output).exits(0).stdout, names);
    let refused = bare(&["version", "--client", "-o", "name"]).await.exits(2);
    assert!(refused.stderr.contains("results that consist of objects"), "{}", refused.stderr);
}

#[tokio::test]
async fn templates_say_what_kubectls_would() {
    let (namespace, _) = staged("template").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let template = "jsonpath={range .machines[*]}{.name}={.keyReady}{\"\\n\"}{end}";
    let machines = viewer.run(&["status", "-o", template]).await.stdout;
    assert_eq!(machines, "machine-1=true\nmachine-2=true\n");
    let missing = viewer.run(&["status", "-o", "jsonpath={.nothing}"]).await.exits(2);
    assert!(missing.stderr.contains(".nothing is not in the document"), "{}", missing.stderr);
    bare(&["status", "-o", "jsonpath={.verdict"]).await.exits(2);
}

#[tokio::test]
async fn markdown_holds_the_tables() {
    let (namespace, stage) = staged("markdown").await;
    stage.key("ak-2", Some("a|b")).await;
    let text = Plugin::as_user(&namespace, "viewer").run(&["status", "-o", "markdown"]).await.stdout;
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(text.contains("### Machines\n") && rows.len() > 8, "{text}");
    for pair in rows.windows(2).filter(|pair| pair[1].starts_with("| ---")) {
        assert_eq!(cells(pair[0]), cells(pair[1]), "{text}");
    }
    assert!(text.contains("a\\|b"), "{text}");
}

#[tokio::test]
async fn labels_narrow_what_is_shown() {
    let (namespace, stage) = staged("labelled").await;
    let patch = Patch::Merge(json!({"metadata": {"labels": {"rack": "7"}}}));
    stage.api::<Machine>().patch("machine-1", &PatchParams::default(), &patch).await.unwrap();
    stage.key("ak-2", None).await;
    stage.approved("ak-2", "False", "AwaitingApproval", "").await;
    stage.api::<AttestationKey>().patch("ak-2", &PatchParams::default(), &patch).await.unwrap();
    let viewer = Plugin::as_user(&namespace, "viewer");
    let document = viewer.run(&["status", "-l", "rack=7", "-o", "json"]).await.json();
    let names = |rows: &str| -> Vec<&str> {
        document[rows].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
    };
    assert_eq!((names("machines"), names("attestationKeys")), (vec!["machine-1"], vec!["ak-2"]));
    assert_eq!(document["reasons"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(document["counts"]["machines"], 2, "the verdict and the counts are about all");
}

#[tokio::test]
async fn several_namespaces_are_shown_together() {
    testenv::needs!(SimulatedNodes);
    let (first, _) = staged("one").await;
    let (second, stage) = staged("two").await;
    stage.key("ak-2", Some("node-2")).await;
    stage.approved("ak-2", "False", "AwaitingApproval", "").await;
    let admin = Plugin::as_user(&first, "admin");
    let both = format!("{},{}", second.name(), first.name());
    delivered(&Plugin::as_user(&first, "viewer")).await;
    delivered(&Plugin::as_user(&second, "viewer")).await;
    let document = admin.run(&["status", "-n", &both, "-o", "json"]).await.exits(3).json();
    let mut names = [first.name(), second.name()];
    names.sort_unstable();
    assert_eq!((&document["namespace"], &document["namespaces"]), (&json!(null), &json!(names)));
    assert_eq!((&document["verdict"], &document["counts"]["machines"]), (&json!("Degraded"), &json!(4)));
    let screen = admin.run(&["status", "-n", first.name(), "-n", second.name()]).await.exits(3).stdout;
    assert!(screen.contains(&format!("  namespaces {}\n", names.join(", "))), "{screen}");
    assert!(screen.contains("\nNAMESPACE "), "{screen}");
    let one = admin.run(&["approve-ak", "ak-2", "-y", "-n", &both]).await.exits(2);
    assert!(one.stderr.contains("works in one namespace"), "{}", one.stderr);
    // Rights in one are not rights in the other.
    stage.grant(&second, &["machines"]).await;
    let nobody = Plugin::as_user(&first, "nobody");
    let part = eventually("the right to act", Duration::from_secs(10), || async {
        let ran = nobody.run(&["status", "-n", &both, "-o", "json"]).await.exits(4);
        let hidden = ran.json()["incomplete"].as_array().unwrap().len();
        if hidden == 9 { Ok(ran.json()) } else { Err(hidden.to_string()) }
    })
    .await;
    let machines = part["machines"].as_array().unwrap();
    assert!(machines.len() == 2 && machines.iter().all(|row| row["namespace"] == second.name()), "{part}");
}

/// As much of JSON Schema as the published schema uses; an unknown field is a failure.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}"));
        return check(root, target, value, path);
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        assert!(choices.iter().any(|choice| choice["const"] == *value), "{path}: {value}");
        return;
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(constant, value, "{path}");
        return;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        assert!(words.contains(value), "{path}: {value}");
    }
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = &schema["type"];
    assert!(
        *allowed == is || allowed.as_array().is_some_and(|all| all.contains(&json!(is))),
        "{path} is {is}: {schema}"
    );
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(root, &schema["items"], item, &format!("{path}[{index}]"));
    }
    let Some(fields) = value.as_object() else { return };
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{path} lacks {required}");
    }
    for (name, field) in fields {
        let of =
            schema["properties"].get(name).unwrap_or_else(|| panic!("{path}.{name} is not in the schema"));
        check(root, of, field, &format!("{path}.{name}"));
    }
}

#[tokio::test]
async fn the_document_is_of_the_published_schema() {
    let (namespace, stage) = staged("schema").await;
    stage.key("ak-2", Some("node-1")).await;
    stage.approved("ak-2", "False", "Conflict", "bound to another key").await;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/status.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let other = ControlPlane::shared().await.namespace("schema-empty").await;
    Stage::of(&other).cluster("demo").await;
    for (place, user) in [(&namespace, "viewer"), (&namespace, "nobody"), (&other, "viewer")] {
        let document = Plugin::as_user(place, user).run(&["status", "-o", "json"]).await.json();
        check(&schema, &schema, &document, "status");
    }
}
