//! The control plane starts, does what a control plane does, and counts truthfully.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Namespace},
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams, WatchParams},
};
use serde_json::json;
use testenv::{
    ControlPlane,
    audit::{Group, Window},
    eventually, objects,
};
use trusted_crds::{Machine, TrustedExecutionCluster};

/// Generous: whoever needs it has failed, and the machine may be busy building.
const TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_deployment_rolls_out_and_a_job_completes() {
    testenv::needs!(SimulatedNodes);
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("rollout").await;
    let deployments: Api<Deployment> = Api::namespaced(cp.admin(), ns.name());
    let jobs: Api<Job> = Api::namespaced(cp.admin(), ns.name());
    let pod = json!({"containers": [{"name": "c", "image": "example.com/c:1"}]});
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}},
                 "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}},
    });
    let mut job_pod = pod.clone();
    job_pod["restartPolicy"] = "Never".into();
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": job_pod}}});
    deployments.create(&PostParams::default(), &serde_json::from_value(deployment).unwrap()).await.unwrap();
    jobs.create(&PostParams::default(), &serde_json::from_value(job).unwrap()).await.unwrap();

    eventually("the Deployment to be available", TIMEOUT, || async {
        let status = deployments.get("d").await.unwrap().status.unwrap_or_default();
        (status.available_replicas == Some(2)).then_some(()).ok_or(format!("{status:?}"))
    })
    .await;
    eventually("the Job to be complete", TIMEOUT, || async {
        let status = jobs.get("j").await.unwrap().status.unwrap_or_default();
        (status.succeeded == Some(1) && status.completion_time.is_some())
            .then_some(())
            .ok_or(format!("{status:?}"))
    })
    .await;
}

#[tokio::test]
async fn the_audit_log_counts_the_requests_that_were_made() {
    testenv::needs!(AuditLog);
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("audit").await;
    let from = jiff::Timestamp::now();
    let config_maps: Api<ConfigMap> = Api::namespaced(ns.as_user("nobody"), ns.name());
    let ours =
        |requests: &testenv::audit::Requests| requests.filter(|request| request.namespace == ns.name());

    for _ in 0..3 {
        config_maps.get("missing").await.unwrap_err();
    }
    config_maps.list(&ListParams::default()).await.unwrap_err();
    let patch = json!({"metadata": {"annotations": {"a": "b"}}});
    config_maps.patch("missing", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap_err();
    let watch = config_maps.watch(&WatchParams::default(), "0").await;
    assert!(watch.is_err());

    let requests = eventually("the audit log to be complete", TIMEOUT, || async {
        let requests = ours(&cp.audit().settled("nobody", Window::since(from)).await.unwrap());
        (requests.total() == 6).then_some(requests.clone()).ok_or(format!("{:?}", requests.by_resource()))
    })
    .await;
    assert_eq!(requests.count("get", "configmaps"), 3);
    assert_eq!(requests.count("list", "configmaps"), 1);
    assert_eq!(requests.count("patch", "configmaps"), 1);
    assert_eq!(requests.count("watch", "configmaps"), 1);
    assert_eq!(requests.answered(403), 6, "nobody has no rights");
    assert_eq!(requests.of_group(Group::Work).total(), 6);
    assert!(requests.open_watches().is_empty());
}

#[tokio::test]
async fn an_open_watch_shows_as_open() {
    testenv::needs!(AuditLog);
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("watch").await;
    let from = jiff::Timestamp::now();
    let config_maps: Api<ConfigMap> = Api::namespaced(cp.admin(), ns.name());
    let open = || async {
        let requests = cp.audit().read("admin", Window::since(from)).unwrap();
        requests
            .filter(|request| request.namespace == ns.name())
            .open_watches()
            .get("configmaps")
            .copied()
            .unwrap_or(0)
    };
    let watch = config_maps.watch(&WatchParams::default(), "0").await.unwrap();
    eventually("the watch to be open", TIMEOUT, || async { (open().await == 1).then_some(()) }).await;
    drop(watch);
    eventually("the watch to be closed", TIMEOUT, || async { (open().await == 0).then_some(()) }).await;
}

#[tokio::test]
async fn a_namespace_is_labelled_and_goes_with_its_value() {
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("gone").await;
    let name = ns.name().to_owned();
    let namespaces: Api<Namespace> = Api::all(cp.admin());
    let labels = namespaces.get(&name).await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels.get(trusted_crds::names::MANAGED_NAMESPACE_LABEL).map(String::as_str), Some("true"));
    drop(ns);
    eventually("the namespace to be gone", TIMEOUT, || async {
        match namespaces.get_opt(&name).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
}

#[tokio::test]
async fn test_users_hold_the_roles_of_deploy_at_once() {
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("rights").await;
    let machines = |client| Api::<Machine>::namespaced(client, ns.name());
    for user in ["viewer", "editor", "approver", "backup"] {
        machines(ns.as_user(user)).list(&ListParams::default()).await.expect(user);
    }
    let operator = Client::try_from(ns.operator_config().await).unwrap();
    machines(operator).list(&ListParams::default()).await.expect("operator");
    let refused = machines(ns.as_user("nobody")).list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 403), "{refused}");
    let metrics = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let metrics = ns.as_user("auditor").request_text(metrics).await.expect("the auditor reads /metrics");
    assert!(metrics.contains("apiserver_request_total"));
}

#[tokio::test]
async fn admission_policies_act_as_soon_as_the_control_plane_is_there() {
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("policies").await;
    let clusters = Api::<TrustedExecutionCluster>::namespaced(ns.as_user("editor"), ns.name());
    let error = clusters.create(&PostParams::default(), &objects::cluster("c")).await.unwrap_err();
    assert!(error.to_string().contains("ValidatingAdmissionPolicy"), "{error}");
}

#[tokio::test]
async fn our_kinds_can_be_made_from_the_builders() {
    let cp = ControlPlane::shared().await;
    let ns = cp.namespace("builders").await;
    let create = PostParams::default();
    let (client, name) = (cp.admin(), ns.name());
    let key = objects::attestation_key("k", Some("m-1"), &objects::public_key());
    let image = objects::approved_image("i", &format!("example.com/os@sha256:{}", "0".repeat(64)));
    Api::namespaced(client.clone(), name).create(&create, &objects::cluster("c")).await.unwrap();
    Api::namespaced(client.clone(), name).create(&create, &objects::machine("m", "m-1")).await.unwrap();
    Api::namespaced(client.clone(), name).create(&create, &key).await.unwrap();
    Api::namespaced(client.clone(), name).create(&create, &image).await.unwrap();
    let pasted = objects::attestation_key("p", None, &objects::private_key());
    Api::namespaced(client, name).create(&create, &pasted).await.expect_err("a private key is refused");
}
