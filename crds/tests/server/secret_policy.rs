//! trusted-secret-protection: disk keys and bindings are the operator's alone.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};
use trusted_crds::GROUP;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL, SECRET_POLICY};

use crate::support::{
    admin, clusters, forbidden, grant, keys, machines, metadata, namespace, operator, owned_by, patch,
    refused_by, secrets,
};

const ALL: [&str; 6] = ["get", "create", "update", "patch", "delete", "deletecollection"];

/// A namespace whose editor may do everything with Secrets, as people often may.
async fn with_secrets(prefix: &str) -> (TestNamespace, Api<Secret>) {
    let namespace = namespace(prefix).await;
    grant(&namespace, "editor", "", "secrets", &ALL).await;
    let editor = secrets(&namespace.as_user("editor"), &namespace);
    (namespace, editor)
}

fn secret(name: &str) -> Secret {
    Secret { metadata: metadata(name), ..Secret::default() }
}

fn labelled(name: &str) -> Secret {
    let mut secret = secret(name);
    secret.metadata.labels = Some(BTreeMap::from([(MANAGED_BY_LABEL.into(), MANAGED_BY.into())]));
    secret
}

fn owned(name: &str, owners: &Value) -> Secret {
    let mut secret = secret(name);
    secret.metadata.owner_references = serde_json::from_value(owners.clone()).unwrap();
    secret
}

/// A Machine and an AttestationKey as owners, in the form anybody may write.
async fn owners(namespace: &TestNamespace) -> [Value; 2] {
    let params = PostParams::default();
    let machine = objects::machine("m", "id-1");
    let machine = machines(&admin(namespace), namespace).create(&params, &machine).await.unwrap();
    let key = objects::attestation_key("k", None, &objects::public_key());
    let key = keys(&admin(namespace), namespace).create(&params, &key).await.unwrap();
    [owned_by(&machine), owned_by(&key)].map(|mut owner| {
        owner[0]["blockOwnerDeletion"] = json!(false);
        owner
    })
}

async fn protected(namespace: &TestNamespace) -> Vec<Secret> {
    let [machine, key] = owners(namespace).await;
    vec![
        secret("ak-id-1"),
        secret("luks-id-1"),
        labelled("plain-name"),
        owned("of-machine", &machine),
        owned("of-key", &key),
    ]
}

#[tokio::test]
async fn nobody_but_the_operator_creates_them() {
    let (namespace, editor) = with_secrets("p4-create").await;
    let operator = secrets(&operator(&namespace).await, &namespace);
    for secret in protected(&namespace).await {
        let message = refused_by(SECRET_POLICY, editor.create(&PostParams::default(), &secret).await);
        assert!(message.contains("are written by the trusted-operator alone"), "{message}");
        assert!(message.contains("the verb purge on machines"), "{message}");
        operator.create(&PostParams::default(), &secret).await.unwrap();
    }
    let generated = Secret {
        metadata: ObjectMeta { generate_name: Some("ak-".into()), ..ObjectMeta::default() },
        ..Secret::default()
    };
    refused_by(SECRET_POLICY, editor.create(&PostParams::default(), &generated).await);
}

#[tokio::test]
async fn other_secrets_are_nobodys_business() {
    let (namespace, editor) = with_secrets("p4-other").await;
    let cluster = objects::cluster("c");
    let cluster =
        clusters(&admin(&namespace), &namespace).create(&PostParams::default(), &cluster).await.unwrap();
    let mut of_other_kind = owned_by(&cluster);
    of_other_kind[0]["blockOwnerDeletion"] = json!(false);
    let params = PostParams::default();
    for secret in [secret("tls"), secret("not-ak-x"), owned("of-cluster", &of_other_kind)] {
        let name = secret.metadata.name.clone().unwrap();
        editor.create(&params, &secret).await.unwrap();
        patch(&editor, &name, json!({"stringData": {"a": "b"}})).await.unwrap();
        editor.delete(&name, &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn nobody_but_the_operator_changes_or_deletes_them() {
    let (namespace, editor) = with_secrets("p4-change").await;
    let operator = secrets(&operator(&namespace).await, &namespace);
    for secret in protected(&namespace).await {
        let name = secret.metadata.name.clone().unwrap();
        operator.create(&PostParams::default(), &secret).await.unwrap();
        refused_by(SECRET_POLICY, patch(&editor, &name, json!({"stringData": {"root": "x"}})).await);
        let strip = json!({"metadata": {"labels": null, "ownerReferences": null}});
        refused_by(SECRET_POLICY, patch(&editor, &name, strip).await);
        refused_by(SECRET_POLICY, editor.delete(&name, &DeleteParams::default()).await);
        patch(&operator, &name, json!({"metadata": {"annotations": {"a": "b"}}})).await.unwrap();
    }
    let collection = editor.delete_collection(&DeleteParams::default(), &ListParams::default()).await;
    refused_by(SECRET_POLICY, collection.map(|_| ()));
    for secret in protected_names() {
        operator.delete(secret, &DeleteParams::default()).await.unwrap();
    }
}

fn protected_names() -> [&'static str; 5] {
    ["ak-id-1", "luks-id-1", "plain-name", "of-machine", "of-key"]
}

#[tokio::test]
async fn a_secret_of_others_cannot_become_one_of_them() {
    let (namespace, editor) = with_secrets("p4-become").await;
    let [machine, key] = owners(&namespace).await;
    editor.create(&PostParams::default(), &secret("id-1")).await.unwrap();
    let label = json!({"metadata": {"labels": {MANAGED_BY_LABEL: MANAGED_BY}}});
    refused_by(SECRET_POLICY, patch(&editor, "id-1", label).await);
    for owners in [machine, key] {
        refused_by(
            SECRET_POLICY,
            patch(&editor, "id-1", json!({"metadata": {"ownerReferences": owners}})).await,
        );
    }
}

#[tokio::test]
async fn purge_deletes_and_nothing_else() {
    let (namespace, editor) = with_secrets("p4-purge").await;
    grant(&namespace, "editor", GROUP, "machines", &["purge"]).await;
    let operator = secrets(&operator(&namespace).await, &namespace);
    operator.create(&PostParams::default(), &secret("luks-id-1")).await.unwrap();
    refused_by(SECRET_POLICY, editor.create(&PostParams::default(), &secret("luks-id-2")).await);
    refused_by(SECRET_POLICY, patch(&editor, "luks-id-1", json!({"stringData": {"root": "x"}})).await);
    editor.delete("luks-id-1", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn backup_restores_and_nothing_else() {
    let (namespace, _) = with_secrets("p4-backup").await;
    let backup = secrets(&namespace.as_user("backup"), &namespace);
    backup.create(&PostParams::default(), &secret("luks-id-1")).await.unwrap();
    backup.create(&PostParams::default(), &labelled("ak-id-1")).await.unwrap();
    let change = json!({"stringData": {"root": "x"}});
    forbidden(patch(&backup, "luks-id-1", change.clone()).await);
    forbidden(backup.delete("luks-id-1", &DeleteParams::default()).await);
    grant(&namespace, "backup", "", "secrets", &["patch", "delete"]).await;
    refused_by(SECRET_POLICY, patch(&backup, "luks-id-1", change).await);
    refused_by(SECRET_POLICY, backup.delete("luks-id-1", &DeleteParams::default()).await);
}

/// The ServiceAccount counts in its own namespace only.
#[tokio::test]
async fn the_operator_of_another_namespace_is_nobody_here() {
    let here = namespace("p4-here").await;
    let there = namespace("p4-there").await;
    let foreign = there.service_account_user("trusted-operator");
    let client = operator(&there).await;
    let rbac = "rbac.authorization.k8s.io";
    let binding = json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": {"name": "foreign"},
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "trusted-operator"},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": foreign}],
    });
    crate::support::create_any(&admin(&here), here.name(), &binding).await.unwrap();
    crate::support::wait_for_right(&here, &foreign, "create", "", "secrets").await;
    let secrets = secrets(&client, &here);
    secrets.create(&PostParams::default(), &secret("tls")).await.unwrap();
    refused_by(SECRET_POLICY, secrets.create(&PostParams::default(), &secret("luks-id-1")).await);
}
