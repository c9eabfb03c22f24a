//! trusted-attestationkey-approval: who may decide about a key, and re-own a key that was decided about.

use kube::api::{DynamicObject, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};
use trusted_crds::names::APPROVAL_POLICY;
use trusted_crds::{API_VERSION, Approval, AttestationKey, Decision, Fingerprint, PublicKey};

use crate::support::{
    admin, forbidden, keys, machines, namespace, operator, owned_by, patch, refused_by, wait_for_right,
};

fn key(name: &str) -> AttestationKey {
    objects::attestation_key(name, Some("id-1"), &objects::public_key())
}

fn fingerprint(key: &AttestationKey) -> Fingerprint {
    PublicKey::from_pem(&key.spec.public_key).unwrap().fingerprint().clone()
}

fn decided(name: &str, by: &str) -> AttestationKey {
    let mut key = key(name);
    let fingerprint = fingerprint(&key).to_string();
    key.spec.approval =
        Some(Approval { decision: Decision::Approved, fingerprint, by: Some(by.into()), reason: None });
    key
}

fn approval(key: &AttestationKey, by: &str) -> Value {
    json!({"spec": {"approval": {"decision": "Approved", "fingerprint": fingerprint(key).to_string(), "by": by}}})
}

fn removal() -> Value {
    json!({"spec": {"approval": null}})
}

async fn create(namespace: &TestNamespace, user: &str, key: &AttestationKey) -> kube::Result<AttestationKey> {
    keys(&namespace.as_user(user), namespace).create(&PostParams::default(), key).await
}

async fn store(namespace: &TestNamespace, key: &AttestationKey) -> AttestationKey {
    create(namespace, "admin", key).await.unwrap()
}

#[tokio::test]
async fn a_decision_at_creation_needs_the_verb() {
    let namespace = namespace("p1-create").await;
    create(&namespace, "editor", &key("plain")).await.unwrap();
    let message = refused_by(APPROVAL_POLICY, create(&namespace, "editor", &decided("k", "editor")).await);
    assert!(message.contains("only with the verb approve"), "{message}");
    assert!(message.contains("trusted-approver"), "{message}");
    forbidden(create(&namespace, "viewer", &key("k")).await);
    let by_approver = decided("k", namespace.user_name("approver"));
    forbidden(create(&namespace, "approver", &by_approver).await);
    create(&namespace, "admin", &decided("k", "admin")).await.unwrap();
    let unnamed = AttestationKey {
        metadata: ObjectMeta { generate_name: Some("k-".into()), ..ObjectMeta::default() },
        ..decided("", "editor")
    };
    refused_by(APPROVAL_POLICY, create(&namespace, "editor", &unnamed).await);
}

#[tokio::test]
async fn a_decision_on_a_key_needs_the_verb() {
    let namespace = namespace("p1-update").await;
    let key = store(&namespace, &key("k")).await;
    let as_user = |user: &str| keys(&namespace.as_user(user), &namespace);
    refused_by(APPROVAL_POLICY, patch(&as_user("editor"), "k", approval(&key, "editor")).await);
    forbidden(patch(&as_user("viewer"), "k", approval(&key, "viewer")).await);
    forbidden(patch(&as_user("backup"), "k", approval(&key, "backup")).await);
    refused_by(
        APPROVAL_POLICY,
        patch(&keys(&operator(&namespace).await, &namespace), "k", approval(&key, "x")).await,
    );
    let approver = namespace.user_name("approver");
    patch(&as_user("approver"), "k", approval(&key, approver)).await.unwrap();

    let deny = json!({"spec": {"approval": {"decision": "Denied"}}});
    refused_by(APPROVAL_POLICY, patch(&as_user("editor"), "k", deny.clone()).await);
    refused_by(APPROVAL_POLICY, patch(&as_user("editor"), "k", removal()).await);
    patch(&as_user("approver"), "k", deny).await.unwrap();
    patch(&as_user("approver"), "k", removal()).await.unwrap();
}

#[tokio::test]
async fn nobody_decides_in_the_name_of_another() {
    let namespace = namespace("p1-by").await;
    let key = store(&namespace, &key("k")).await;
    let approver = keys(&namespace.as_user("approver"), &namespace);
    let (approver_name, admin_name) = (namespace.user_name("approver"), namespace.user_name("admin"));
    let wanted = format!("spec.approval.by must be your own user name, {approver_name};");
    let message = refused_by(APPROVAL_POLICY, patch(&approver, "k", approval(&key, "alice")).await);
    assert!(message.contains(&wanted), "{message}");
    let mut nameless = approval(&key, "");
    nameless["spec"]["approval"].as_object_mut().unwrap().remove("by");
    let message = refused_by(APPROVAL_POLICY, patch(&approver, "k", nameless).await);
    assert!(message.contains(&wanted), "{message}");
    // Whoever overrides the decision of another signs with his own name.
    patch(&approver, "k", approval(&key, approver_name)).await.unwrap();
    let admin = keys(&admin(&namespace), &namespace);
    refused_by(
        APPROVAL_POLICY,
        patch(&admin, "k", json!({"spec": {"approval": {"decision": "Denied"}}})).await,
    );
    let denial = json!({"spec": {"approval": {"decision": "Denied", "by": admin_name}}});
    patch(&admin, "k", denial).await.unwrap();
}

#[tokio::test]
async fn writes_that_leave_the_decision_alone_pass() {
    let namespace = namespace("p1-other").await;
    store(&namespace, &decided("k", "admin")).await;
    let editor = keys(&namespace.as_user("editor"), &namespace);
    patch(&editor, "k", json!({"metadata": {"labels": {"rack": "7"}}})).await.unwrap();
    let operator = keys(&operator(&namespace).await, &namespace);
    let status = Patch::Merge(json!({"status": {"fingerprint": "f"}}));
    operator.patch_status("k", &PatchParams::default(), &status).await.unwrap();
}

#[tokio::test]
async fn backup_restores_decisions_of_others_but_makes_none() {
    let namespace = namespace("p1-backup").await;
    create(&namespace, "backup", &decided("k", "somebody who left")).await.unwrap();
    forbidden(patch(&keys(&namespace.as_user("backup"), &namespace), "k", removal()).await);
    // Even with the right to patch, restore-approval is about creation alone.
    crate::support::grant(&namespace, "backup", trusted_crds::GROUP, "attestationkeys", &["patch"]).await;
    refused_by(APPROVAL_POLICY, patch(&keys(&namespace.as_user("backup"), &namespace), "k", removal()).await);
}

#[tokio::test]
async fn a_decided_key_keeps_its_owner() {
    let namespace = namespace("p1-owner").await;
    let machine = objects::machine("m", "id-1");
    let machine =
        machines(&admin(&namespace), &namespace).create(&PostParams::default(), &machine).await.unwrap();
    let dead = json!([{"apiVersion": API_VERSION, "kind": "Machine", "name": "gone", "uid": "0-0-0"}]);
    let re_own = |owners: &Value| json!({"metadata": {"ownerReferences": owners}});
    let editor = keys(&namespace.as_user("editor"), &namespace);
    let operator = keys(&operator(&namespace).await, &namespace);

    store(&namespace, &decided("decided", "admin")).await;
    let message = refused_by(APPROVAL_POLICY, patch(&editor, "decided", re_own(&dead)).await);
    assert!(message.contains("metadata.ownerReferences"), "{message}");
    patch(&operator, "decided", re_own(&owned_by(&machine))).await.unwrap();
    refused_by(APPROVAL_POLICY, patch(&editor, "decided", re_own(&json!([]))).await);
    patch(&operator, "decided", re_own(&json!([]))).await.unwrap();

    store(&namespace, &key("plain")).await;
    let mut unblocking = owned_by(&machine);
    unblocking[0]["blockOwnerDeletion"] = json!(false);
    patch(&editor, "plain", re_own(&unblocking)).await.unwrap();
}

#[tokio::test]
async fn an_approver_who_may_delete_may_re_own() {
    let namespace = namespace("p1-owner-approver").await;
    store(&namespace, &decided("k", "admin")).await;
    // Without this right it is OwnerReferencesPermissionEnforcement that refuses.
    crate::support::grant(&namespace, "approver", trusted_crds::GROUP, "attestationkeys", &["delete"]).await;
    let other = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "0-0-0"}]);
    let approver = keys(&namespace.as_user("approver"), &namespace);
    patch(&approver, "k", json!({"metadata": {"ownerReferences": other}})).await.unwrap();
}

/// The operator finds out whether the policy acts by trying, without effect, what it must not be allowed to do.
#[tokio::test]
async fn the_operators_probe_names_the_policy_among_the_causes() {
    let namespace = namespace("p1-probe").await;
    let key = store(&namespace, &key("k")).await;
    let operator = keys(&operator(&namespace).await, &namespace);
    let dry_run = PatchParams { dry_run: true, ..PatchParams::default() };
    let answer = operator.patch("k", &dry_run, &Patch::Merge(approval(&key, "nobody"))).await;
    let Err(kube::Error::Api(status)) = answer else { panic!("the probe passed") };
    assert_eq!(status.code, 403);
    let causes = status.details.as_ref().map(|details| details.causes.clone()).unwrap_or_default();
    assert!(causes.iter().any(|cause| cause.message.contains(APPROVAL_POLICY)), "{status:?}");
}

/// Outside of labelled namespaces the policy does not act, which is why the operator probes for it.
#[tokio::test]
async fn nothing_is_enforced_without_the_label() {
    let namespace = namespace("p1-unlabelled").await;
    let unlabelled: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": format!("{}-plain", namespace.name()), "labels": namespace.control_plane().labels(),
        },
    }))
    .unwrap();
    let namespaces: kube::Api<k8s_openapi::api::core::v1::Namespace> = kube::Api::all(admin(&namespace));
    let name = unlabelled.metadata.name.clone().unwrap();
    let object = serde_json::from_value(serde_json::to_value(&unlabelled).unwrap()).unwrap();
    namespaces.create(&PostParams::default(), &object).await.unwrap();
    let keys: kube::Api<AttestationKey> = kube::Api::namespaced(admin(&namespace), &name);
    keys.create(&PostParams::default(), &decided("k", "somebody else")).await.unwrap();
    namespaces.delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
    wait_for_right(&namespace, "viewer", "get", trusted_crds::GROUP, "machines").await;
}
