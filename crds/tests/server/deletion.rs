//! trusted-attestationkey-deletion, and that no policy stands in the way of garbage collection or of a namespace's end.

use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;
use testenv::{TestNamespace, eventually, objects};
use trusted_crds::names::{KEY_DELETION_POLICY, MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{Approval, AttestationKey, Decision, GROUP, Machine};

use crate::support::{
    PATIENCE, admin, clusters, forbidden, grant, keys, machines, namespace, operator, owned_by, patch,
    refused_by, secrets,
};

fn decided(name: &str, decision: Decision) -> AttestationKey {
    let mut key = objects::attestation_key(name, Some("id-1"), &objects::public_key());
    let fingerprint = format!("sha256:{}", "0".repeat(64));
    key.spec.approval = Some(Approval { decision, fingerprint, by: Some("admin".into()), reason: None });
    key
}

async fn store(namespace: &TestNamespace, key: &AttestationKey) {
    keys(&admin(namespace), namespace).create(&PostParams::default(), key).await.unwrap();
}

#[tokio::test]
async fn a_decided_key_is_deleted_only_with_the_verb() {
    let namespace = namespace("p2-delete").await;
    let once = DeleteParams::default();
    for (name, decision) in [("approved", Decision::Approved), ("denied", Decision::Denied)] {
        store(&namespace, &decided(name, decision)).await;
        let message = refused_by(
            KEY_DELETION_POLICY,
            keys(&namespace.as_user("editor"), &namespace).delete(name, &once).await,
        );
        assert!(message.contains("only with the verb approve"), "{message}");
        forbidden(keys(&namespace.as_user("viewer"), &namespace).delete(name, &once).await);
        forbidden(keys(&namespace.as_user("approver"), &namespace).delete(name, &once).await);
        refused_by(
            KEY_DELETION_POLICY,
            keys(&operator(&namespace).await, &namespace).delete(name, &once).await,
        );
    }
    grant(&namespace, "approver", GROUP, "attestationkeys", &["delete"]).await;
    let approver = keys(&namespace.as_user("approver"), &namespace);
    approver.delete("approved", &once).await.unwrap();
    keys(&admin(&namespace), &namespace).delete("denied", &once).await.unwrap();
}

#[tokio::test]
async fn a_plain_key_is_simply_deleted() {
    let namespace = namespace("p2-plain").await;
    let plain = objects::attestation_key("k", None, &objects::public_key());
    store(&namespace, &plain).await;
    keys(&namespace.as_user("editor"), &namespace).delete("k", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn deleting_all_keys_at_once_is_no_way_around() {
    let namespace = namespace("p2-collection").await;
    store(&namespace, &decided("denied", Decision::Denied)).await;
    grant(&namespace, "editor", GROUP, "attestationkeys", &["deletecollection"]).await;
    let editor = keys(&namespace.as_user("editor"), &namespace);
    let answer = editor.delete_collection(&DeleteParams::default(), &ListParams::default()).await;
    refused_by(KEY_DELETION_POLICY, answer.map(|_| ()));
    editor.get("denied").await.unwrap();
}

/// A Machine with everything the operator hangs on it: a decided key, its binding and the disk key.
async fn machine_with_children(namespace: &TestNamespace) -> Machine {
    let params = PostParams::default();
    let machine = objects::machine("m", "id-1");
    let machine = machines(&admin(namespace), namespace).create(&params, &machine).await.unwrap();
    store(namespace, &decided("k", Decision::Approved)).await;
    let operator = operator(namespace).await;
    let re_own = json!({"metadata": {"ownerReferences": owned_by(&machine)}});
    let key = patch(&keys(&operator, namespace), "k", re_own).await.unwrap();
    for (name, owner) in [("luks-id-1", owned_by(&machine)), ("ak-id-1", owned_by(&key))] {
        let secret: Secret = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {MANAGED_BY_LABEL: MANAGED_BY}, "ownerReferences": owner},
        }))
        .unwrap();
        secrets(&operator, namespace).create(&params, &secret).await.unwrap();
    }
    machine
}

async fn wait_until_gone(namespace: &TestNamespace) {
    let admin = admin(namespace);
    eventually("Machine, key and Secrets to be gone", PATIENCE, || async {
        let mut left = Vec::new();
        if machines(&admin, namespace).get_opt("m").await.unwrap().is_some() {
            left.push("m");
        }
        if keys(&admin, namespace).get_opt("k").await.unwrap().is_some() {
            left.push("k");
        }
        for name in ["luks-id-1", "ak-id-1"] {
            if secrets(&admin, namespace).get_opt(name).await.unwrap().is_some() {
                left.push(name);
            }
        }
        if left.is_empty() { Ok(()) } else { Err(format!("left: {left:?}")) }
    })
    .await;
}

#[tokio::test]
async fn garbage_collection_in_the_background_passes() {
    let namespace = namespace("gc-background").await;
    machine_with_children(&namespace).await;
    let editor = machines(&namespace.as_user("editor"), &namespace);
    editor.delete("m", &DeleteParams::background()).await.unwrap();
    wait_until_gone(&namespace).await;
}

#[tokio::test]
async fn garbage_collection_in_the_foreground_passes() {
    let namespace = namespace("gc-foreground").await;
    machine_with_children(&namespace).await;
    let editor = machines(&namespace.as_user("editor"), &namespace);
    editor.delete("m", &DeleteParams::foreground()).await.unwrap();
    wait_until_gone(&namespace).await;
}

/// With orphaning, the collector takes the owner off a decided key, which nobody else may.
#[tokio::test]
async fn orphaning_passes() {
    let namespace = namespace("gc-orphan").await;
    machine_with_children(&namespace).await;
    let editor = machines(&namespace.as_user("editor"), &namespace);
    editor.delete("m", &DeleteParams::orphan()).await.unwrap();
    let keys = keys(&admin(&namespace), &namespace);
    eventually("the key to be without owner", PATIENCE, || async {
        let owners = keys.get("k").await.unwrap().metadata.owner_references.unwrap_or_default();
        if owners.is_empty() { Ok(()) } else { Err(format!("{owners:?}")) }
    })
    .await;
}

#[tokio::test]
async fn a_namespace_with_everything_in_it_ends() {
    let namespace = namespace("gc-namespace").await;
    machine_with_children(&namespace).await;
    store(&namespace, &decided("denied", Decision::Denied)).await;
    let admin = admin(&namespace);
    clusters(&admin, &namespace).create(&PostParams::default(), &objects::cluster("c")).await.unwrap();
    let status = Patch::Merge(json!({"status": {"machines": 1}}));
    let operator = clusters(&operator(&namespace).await, &namespace);
    operator.patch_status("c", &PatchParams::default(), &status).await.unwrap();

    let namespaces: Api<Namespace> = Api::all(admin);
    namespaces.delete(namespace.name(), &DeleteParams::default()).await.unwrap();
    eventually("the namespace to be gone", PATIENCE * 2, || async {
        match namespaces.get_opt(namespace.name()).await.unwrap() {
            None => Ok(()),
            Some(left) => Err(format!("{:?}", left.status)),
        }
    })
    .await;
}
