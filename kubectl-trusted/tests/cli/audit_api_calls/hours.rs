//! APIRequestCounts of OpenShift, from objects of their shape.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use testenv::{ControlPlane, eventually};

use crate::run::{Plugin, Ran};

const CRD: &str = "apirequestcounts.apiserver.openshift.io";

/// What the project openshift/api publishes, without its schema.
fn definition() -> CustomResourceDefinition {
    let names = json!({"kind": "APIRequestCount", "listKind": "APIRequestCountList", "plural": "apirequestcounts",
        "singular": "apirequestcount"});
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "metadata": {"name": CRD},
        "spec": {"group": "apiserver.openshift.io", "names": names, "scope": "Cluster", "versions": [{
            "name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}}}]},
    });
    serde_json::from_value(definition).unwrap()
}

fn counts(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiserver.openshift.io", "v1", "APIRequestCount");
    Api::all_with(client, &ApiResource::from_gvk_with_plural(&kind, "apirequestcounts"))
}

/// The same in every hour, so that the test may run at the end of one.
fn status(op: u64, other: u64) -> Value {
    let user = |name: &str, count: u64| {
        json!({"username": name, "userAgent": "x/1", "requestCount": count,
            "byVerb": [{"verb": "list", "requestCount": count}]})
    };
    let users = [user("system:serviceaccount:ns:op", op), user("someone", other)];
    let node = json!({"nodeName": "n", "requestCount": op + other, "byUser": users});
    let hour = json!({"requestCount": op + other, "byNode": [node]});
    json!({"status": {"requestCount": op + other, "currentHour": hour, "last24h": vec![hour; 24]}})
}

/// Installs the kind, with one object.
async fn with_counts(control_plane: &ControlPlane) -> Api<CustomResourceDefinition> {
    let client = control_plane.admin();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &definition()).await.unwrap();
    let object = json!({"apiVersion": "apiserver.openshift.io/v1", "kind": "APIRequestCount",
        "metadata": {"name": "pods.v1"}, "spec": {"numberOfUsersToReport": 10}});
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let counts = counts(client);
    let parameters = PostParams::default();
    eventually("the kind", Duration::from_secs(30), || counts.create(&parameters, &object)).await;
    let patched = Patch::Merge(status(5, 2));
    counts.patch_status("pods.v1", &PatchParams::default(), &patched).await.unwrap();
    definitions
}

#[tokio::test]
async fn users_are_told_apart_where_there_are_api_request_counts() {
    testenv::needs!(OwnCluster);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("hours").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let audit = |arguments: &'static [&'static str]| {
        let admin = admin.clone();
        async move { admin.run(&[&["audit-api-calls"], arguments].concat()).await }
    };
    let says = |ran: Ran, words: &str| assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    says(audit(&["snapshot", "--source", "apirequestcount"]).await.exits(1), "no APIRequestCounts");
    says(audit(&["snapshot", "--service-account", "ns/op"]).await.exits(1), "--flow-schema-for");

    let definitions = with_counts(control_plane).await;
    let all = audit(&["snapshot", "--source", "apirequestcount", "-o", "json"]).await.exits(0).json();
    assert_eq!((&all["source"], &all["total"]), (&"apirequestcount".into(), &(24 * 7).into()));
    let row = json!({"verb": "list", "group": "", "resource": "pods", "subresource": "", "code": 0, "count": 24 * 7});
    assert_eq!(all["rows"], json!([row]));
    let ran = audit(&["snapshot", "--service-account", "ns/op", "-o", "json"]).await.exits(0);
    assert_eq!(ran.json()["total"], 24 * 5);
    says(ran, "Source: APIRequestCounts, which know users.");

    let kubectl = control_plane.kubectl();
    let patch = status(8, 90).to_string();
    let command = [
        &[
            "audit-api-calls",
            "run",
            "--service-account",
            "ns/op",
            "-o",
            "json",
            "--",
            kubectl.to_str().unwrap(),
        ][..],
        &["patch", "apirequestcount", "pods.v1", "--subresource=status", "--type=merge", "-p", &patch],
    ];
    let ran = admin.run(&command.concat()).await.exits(0);
    let added = ran.json()["total"].as_u64().unwrap();
    // Where an hour began in between, all that it holds was added.
    assert!([24 * 3, 23 * 3 + 8].contains(&added), "{ran:?}");
    let auditor = Plugin::as_user(&namespace, "auditor");
    let refused = auditor.run(&["audit-api-calls", "live", "--source", "apirequestcount"]).await.exits(1);
    says(refused, "the right to list apirequestcounts.apiserver.openshift.io");
    definitions.delete(CRD, &DeleteParams::default()).await.unwrap();
}
