//! trusted-cluster-protection: who may switch automatic approval on, and how a cluster with machines is deleted.

use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};
use trusted_crds::names::{CLUSTER_POLICY, CONFIRM_DELETE_ANNOTATION};
use trusted_crds::{ApprovalPolicy, GROUP, TrustedExecutionCluster};

use crate::support::{clusters, forbidden, grant, namespace, operator, patch, refused_by};

fn cluster(name: &str, policy: Option<ApprovalPolicy>) -> TrustedExecutionCluster {
    let mut cluster = objects::cluster(name);
    cluster.spec.attestation_key_approval = policy;
    cluster
}

async fn create(
    namespace: &TestNamespace,
    user: &str,
    cluster: &TrustedExecutionCluster,
) -> kube::Result<TrustedExecutionCluster> {
    clusters(&namespace.as_user(user), namespace).create(&PostParams::default(), cluster).await
}

fn policy(value: &Value) -> Value {
    json!({"spec": {"attestationKeyApproval": value}})
}

#[tokio::test]
async fn automatic_approval_at_creation_needs_the_verb() {
    let namespace = namespace("p3-create").await;
    let (manual, automatic) = (Some(ApprovalPolicy::Manual), Some(ApprovalPolicy::Automatic));
    create(&namespace, "editor", &cluster("manual", manual)).await.unwrap();
    for policy in [automatic, None] {
        let message = refused_by(CLUSTER_POLICY, create(&namespace, "editor", &cluster("c", policy)).await);
        assert!(message.contains("needs the verb approve"), "{message}");
        assert!(message.contains("set spec.attestationKeyApproval to Manual"), "{message}");
    }
    forbidden(create(&namespace, "viewer", &cluster("c", manual)).await);
    // Approver and editor in one person, as the Roles are meant to be combined.
    grant(&namespace, "approver", GROUP, "trustedexecutionclusters", &["create"]).await;
    create(&namespace, "approver", &cluster("automatic", automatic)).await.unwrap();
    create(&namespace, "approver", &cluster("default", None)).await.unwrap();
    create(&namespace, "admin", &cluster("admin", None)).await.unwrap();
}

#[tokio::test]
async fn a_change_to_automatic_approval_needs_the_verb() {
    let namespace = namespace("p3-update").await;
    create(&namespace, "admin", &cluster("c", Some(ApprovalPolicy::Manual))).await.unwrap();
    let editor = clusters(&namespace.as_user("editor"), &namespace);
    for value in [json!("Automatic"), Value::Null] {
        refused_by(CLUSTER_POLICY, patch(&editor, "c", policy(&value)).await);
    }
    patch(&editor, "c", json!({"spec": {"diskKeyRetention": "Retain"}})).await.unwrap();
    // The operator cannot even try; with the right to change clusters it still could not do this.
    let operator_user = namespace.service_account_user("trusted-operator");
    grant(&namespace, &operator_user, GROUP, "trustedexecutionclusters", &["patch"]).await;
    refused_by(
        CLUSTER_POLICY,
        patch(&clusters(&operator(&namespace).await, &namespace), "c", policy(&Value::Null)).await,
    );

    grant(&namespace, "approver", GROUP, "trustedexecutionclusters", &["patch"]).await;
    let approver = clusters(&namespace.as_user("approver"), &namespace);
    patch(&approver, "c", policy(&json!("Automatic"))).await.unwrap();
    // Between the two forms of automatic nothing changes, and back to Manual is always open.
    patch(&editor, "c", policy(&Value::Null)).await.unwrap();
    patch(&editor, "c", json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
    patch(&editor, "c", policy(&json!("Manual"))).await.unwrap();
}

async fn with_machines(namespace: &TestNamespace, name: &str, machines: i32) {
    create(namespace, "admin", &cluster(name, None)).await.unwrap();
    let status = Patch::Merge(json!({"status": {"machines": machines}}));
    let operator = clusters(&operator(namespace).await, namespace);
    operator.patch_status(name, &PatchParams::default(), &status).await.unwrap();
}

#[tokio::test]
async fn a_cluster_with_machines_is_deleted_only_when_confirmed() {
    let namespace = namespace("p3-delete").await;
    with_machines(&namespace, "busy", 2).await;
    let editor = clusters(&namespace.as_user("editor"), &namespace);
    let delete = || async { editor.delete("busy", &DeleteParams::default()).await.map(|_| ()) };
    let annotate = |value: &str| json!({"metadata": {"annotations": {CONFIRM_DELETE_ANNOTATION: value}}});

    let message = refused_by(CLUSTER_POLICY, delete().await);
    let command = format!(
        "kubectl annotate -n {} trustedexecutioncluster busy {CONFIRM_DELETE_ANNOTATION}=busy",
        namespace.name()
    );
    assert!(
        message.contains("has 2 Machines, and deleting it deletes their disk keys for good"),
        "{message}"
    );
    assert!(message.contains(&command), "{message}");
    let admin = clusters(&namespace.as_user("admin"), &namespace);
    refused_by(CLUSTER_POLICY, admin.delete("busy", &DeleteParams::default()).await);
    patch(&editor, "busy", annotate("idle")).await.unwrap();
    refused_by(CLUSTER_POLICY, delete().await);
    patch(&editor, "busy", annotate("busy")).await.unwrap();
    delete().await.unwrap();
}

#[tokio::test]
async fn a_cluster_without_machines_is_simply_deleted() {
    let namespace = namespace("p3-idle").await;
    with_machines(&namespace, "idle", 0).await;
    create(&namespace, "admin", &cluster("new", None)).await.unwrap();
    let editor = clusters(&namespace.as_user("editor"), &namespace);
    forbidden(
        clusters(&namespace.as_user("viewer"), &namespace).delete("idle", &DeleteParams::default()).await,
    );
    for name in ["idle", "new"] {
        editor.delete(name, &DeleteParams::default()).await.unwrap();
    }
}
