//! `kubectl apply` from a clone, as the README says it, on a control plane of its own: here policies are re-applied.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking; clippy knows only the tests themselves"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use testenv::{ControlPlane, eventually};

const NAMESPACE: &str = "trusted-execution-clusters";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Output and messages of a kubectl command, run from the clone.
fn kubectl(plane: &ControlPlane, arguments: &[&str]) -> (String, String) {
    let kubeconfig = plane.user_kubeconfig("install", "admin", "default").unwrap();
    let output = Command::new(plane.kubectl())
        .current_dir(repository())
        .env("KUBECONFIG", kubeconfig)
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (said, error) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "kubectl {arguments:?}: {error}");
    (said, error)
}

#[tokio::test]
async fn everything_applies_and_applies_again_without_a_change() {
    testenv::needs!(OwnCluster, SimulatedNodes);
    let plane = ControlPlane::shared().await;
    for what in [["-f", "crds/"], ["-k", "deploy/"]] {
        kubectl(plane, &["apply", "--server-side", "--force-conflicts", what[0], what[1]]);
        kubectl(plane, &["apply", what[0], what[1]]);
        let (said, error) = kubectl(plane, &["apply", what[0], what[1]]);
        let changed: Vec<&str> = said.lines().filter(|line| !line.ends_with(" unchanged")).collect();
        assert!(changed.is_empty(), "applied twice, {what:?} still changes {changed:?}");
        assert_eq!(error, "", "{what:?} applies without a warning");
    }
    let deployments: Api<Deployment> = Api::namespaced(plane.admin(), NAMESPACE);
    eventually("the operator's pod to run under pod security", Duration::from_secs(60), || async {
        let status =
            deployments.get("trusted-operator").await.map_err(|e| e.to_string())?.status.unwrap_or_default();
        if status.available_replicas == Some(1) { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
}

#[tokio::test]
async fn operator_pod_is_restricted() {
    testenv::needs!(OwnCluster);
    let plane = ControlPlane::shared().await;
    let (rendered, _) = kubectl(plane, &["kustomize", "deploy/operator"]);
    let deployment: Deployment = serde_saphyr::from_str(&rendered).unwrap();
    let namespace = serde_json::json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    });
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(plane.admin());
    namespaces.create(&Default::default(), &serde_json::from_value(namespace).unwrap()).await.unwrap();
    let pod = serde_json::json!({
        "metadata": {"name": "operator"},
        "spec": deployment.spec.template.spec,
    });
    let mut pod: k8s_openapi::api::core::v1::Pod = serde_json::from_value(pod).unwrap();
    pod.spec.as_mut().unwrap().service_account_name = None;
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(plane.admin(), "restricted");
    eventually("the namespace's ServiceAccount", Duration::from_secs(20), || async {
        let dry_run = kube::api::PostParams { dry_run: true, ..Default::default() };
        pods.create(&dry_run, &pod).await
    })
    .await;
}

/// Renders an overlay that lies outside of the clone. Kustomize takes relative paths only.
fn overlay(plane: &ControlPlane, lines: impl Fn(&str) -> String) -> String {
    let folder = tempfile::tempdir().unwrap();
    let up = "../".repeat(folder.path().canonicalize().unwrap().components().count() - 1);
    let deploy = repository().join("deploy").canonicalize().unwrap();
    let deploy = format!("{up}{}", deploy.strip_prefix("/").unwrap().display());
    std::fs::write(folder.path().join("kustomization.yaml"), lines(&deploy)).unwrap();
    kubectl(plane, &["kustomize", folder.path().to_str().unwrap()]).0
}

#[tokio::test]
async fn another_namespace_takes_an_overlay() {
    let plane = ControlPlane::shared().await;
    let rendered = overlay(plane, |deploy| {
        format!("namespace: elsewhere\nresources: [{deploy}/rbac, {deploy}/operator]\n")
    });
    let base: String =
        ["deploy/rbac", "deploy/operator"].map(|part| kubectl(plane, &["kustomize", part]).0).concat();
    let count = |text: &str, namespace: &str| {
        text.matches(&format!(
            "namespace: {namespace}
"
        ))
        .count()
    };
    assert_eq!(count(&rendered, "elsewhere"), count(&base, NAMESPACE), "{rendered}");
    assert_eq!(count(&rendered, NAMESPACE), 0, "{rendered}");
}

#[tokio::test]
async fn component_names_a_shared_controller_manager() {
    let plane = ControlPlane::shared().await;
    let rendered = overlay(plane, |deploy| {
        format!(
            "resources: [{deploy}/admission]\ncomponents: [{deploy}/components/shared-controller-manager]\n"
        )
    });
    assert_eq!(rendered.matches("system:kube-controller-manager").count(), 4, "{rendered}");
    assert!(!rendered.contains("kube-system"), "{rendered}");
}

#[tokio::test]
async fn components_add_a_standby_and_monitoring() {
    let plane = ControlPlane::shared().await;
    let rendered = overlay(plane, |deploy| {
        format!(
            "namespace: elsewhere\nresources: [{deploy}/operator]\ncomponents: \
             [{deploy}/components/high-availability, {deploy}/components/monitoring]\n"
        )
    });
    for kind in ["Deployment", "PodDisruptionBudget", "Service", "ServiceMonitor", "PrometheusRule"] {
        assert_eq!(rendered.matches(&format!("\nkind: {kind}\n")).count(), 1, "{kind}: {rendered}");
    }
    assert!(rendered.contains("\n  replicas: 2\n"), "{rendered}");
    assert!(!rendered.contains(&format!("namespace: {NAMESPACE}\n")), "{rendered}");
}

/// The policies of `deploy/` bear the names under which operator and plugin know them.
#[tokio::test]
async fn policies_have_their_names() {
    let plane = ControlPlane::shared().await;
    let (rendered, _) = kubectl(plane, &["kustomize", "deploy/admission"]);
    use trusted_crds::names::{APPROVAL_POLICY, CLUSTER_POLICY, KEY_DELETION_POLICY, SECRET_POLICY};
    for policy in [APPROVAL_POLICY, CLUSTER_POLICY, KEY_DELETION_POLICY, SECRET_POLICY] {
        assert_eq!(rendered.matches(&format!("policyName: {policy}\n")).count(), 1, "{policy}");
        assert_eq!(rendered.matches(&format!("  name: {policy}\n")).count(), 2, "{policy}");
    }
}
