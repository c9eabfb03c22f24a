//! `version`: what is seen, what may not be, and no cluster at all.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;
use testenv::{ControlPlane, eventually};

use crate::run::{Plugin, bare};
use crate::stage::Stage;

const OWN: &str = env!("CARGO_PKG_VERSION");

async fn operator(stage: &Stage, image: &str) {
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "trusted-operator"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "operator"}}, "template": {
            "metadata": {"labels": {"app": "operator"}},
            "spec": {"containers": [{"name": "operator", "image": image}]},
        }},
    }))
    .unwrap();
    stage.create(&deployment).await;
}

#[tokio::test]
async fn everything_that_runs_is_shown_with_its_version() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("version").await;
    let stage = Stage::of(&namespace);
    operator(&stage, &format!("example.org/trusted-operator:{OWN}")).await;
    stage.trustee(&[], &[]).await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let document = eventually("both rollouts", Duration::from_secs(60), || async {
        let document = viewer.run(&["version", "-o", "json"]).await.exits(0).json();
        if document["warnings"] == json!([]) { Ok(document) } else { Err(document.to_string()) }
    })
    .await;
    assert_eq!((&document["kind"], &document["client"]), (&json!("Version"), &json!({"version": OWN})));
    assert_eq!(
        document["operator"],
        json!({"image": format!("example.org/trusted-operator:{OWN}"), "version": OWN, "rolledOut": true})
    );
    assert_eq!(document["trustee"], json!({"image": "example.org/kbs", "version": null, "rolledOut": true}));
    let kinds = json!(["ApprovedImage", "AttestationKey", "Machine", "TrustedExecutionCluster"]);
    assert_eq!(document["crds"], json!({"served": ["v1alpha1"], "kinds": kinds}));
    assert!(document["apiServer"]["version"].as_str().unwrap().starts_with("v1."), "{document}");
    let screen = viewer.run(&["version"]).await.exits(0).stdout;
    assert!(screen.contains(&format!("operator    {OWN}")), "{screen}");
}

#[tokio::test]
async fn versions_that_do_not_go_together_are_warned_of() {
    let namespace = ControlPlane::shared().await.namespace("skew").await;
    operator(&Stage::of(&namespace), "example.org/trusted-operator:9.8.7").await;
    let screen = Plugin::as_user(&namespace, "viewer").run(&["version"]).await.exits(0).stdout;
    assert!(screen.contains("Warning: this plug-in is older than the operator"), "{screen}");
    assert!(screen.contains("Trustee               none"), "{screen}");
}

#[tokio::test]
async fn what_may_not_be_seen_is_named() {
    let namespace = ControlPlane::shared().await.namespace("blind").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let document = nobody.run(&["version", "-o", "json"]).await.exits(4).json();
    let incomplete = document["incomplete"].as_array().unwrap();
    assert!(incomplete.iter().all(|missing| missing["resource"] == "deployments.apps"), "{document}");
    assert_eq!((incomplete.len(), document["operator"].is_null()), (2, true));
    assert!(document["apiServer"]["version"].is_string(), "{document}");
    let screen = nobody.run(&["version"]).await.exits(4).stdout;
    assert!(screen.contains("operator              not visible"), "{screen}");
    let check = format!("Next: kubectl auth can-i get deployments.apps -n {}\n", namespace.name());
    assert!(screen.contains(&check), "{screen}");
}

#[tokio::test]
async fn the_client_is_known_without_a_cluster() {
    let client = bare(&["version", "--client"]).await.exits(0);
    assert_eq!((client.stderr.as_str(), client.stdout.lines().count()), ("", 2));
    let away = bare(&["version", "-o", "json", "-s", "https://127.0.0.1:1"]).await.exits(1);
    let document = away.json();
    assert_eq!((&document["kind"], &document["client"]["version"]), (&json!("Version"), &json!(OWN)));
    assert_eq!(document["error"]["reason"], "Unreachable");
    assert!(away.stderr.starts_with("Error: The API server at"), "{}", away.stderr);
}
