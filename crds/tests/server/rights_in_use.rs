//! What the programs really do, done with their own identities: a right that is missing only under
//! OwnerReferencesPermissionEnforcement shows here, as it would on OpenShift.

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchParams};
use serde_json::{Value, json};
use testenv::{TestNamespace, eventually, objects};
use trusted_crds::{API_VERSION, TrustedExecutionCluster};

use crate::support::{
    PATIENCE, admin, clusters, create_any, forbidden, keys, machines, namespace, operator, owned_by, patch,
    refusal, secrets, service_account,
};

async fn cluster(namespace: &TestNamespace) -> TrustedExecutionCluster {
    let cluster = objects::cluster("c");
    clusters(&admin(namespace), namespace).create(&PostParams::default(), &cluster).await.unwrap()
}

#[tokio::test]
async fn operator_makes_changes_and_deletes_children() {
    let namespace = namespace("use-children").await;
    let owners = owned_by(&cluster(&namespace).await);
    let operator = operator(&namespace).await;
    let pod =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let children = [
        ("v1", "ConfigMap", "configmaps", json!({"data": {"a": "b"}})),
        ("v1", "Service", "services", json!({"spec": {"ports": [{"port": 80}]}})),
        ("v1", "Secret", "secrets", json!({"stringData": {"a": "b"}})),
        (
            "apps/v1",
            "Deployment",
            "deployments",
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod}}),
        ),
    ];
    for (api_version, kind, plural, mut body) in children {
        body["apiVersion"] = json!(api_version);
        body["kind"] = json!(kind);
        body["metadata"] = json!({"name": "child", "ownerReferences": owners});
        let child = create_any(&operator, namespace.name(), &body)
            .await
            .unwrap_or_else(|e| panic!("create {plural}: {e}"));
        let gvk = child.types.clone().unwrap().try_into().unwrap();
        let resource = kube::api::ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = Api::namespaced_with(operator.clone(), namespace.name(), &resource);
        patch(&api, "child", json!({"metadata": {"uid": child.metadata.uid, "annotations": {"x": "y"}}}))
            .await
            .unwrap();
        api.list(&ListParams::default()).await.unwrap();
        api.delete("child", &DeleteParams::background()).await.unwrap();
    }
}

#[tokio::test]
async fn operator_owns_and_re_owns() {
    let namespace = namespace("use-owners").await;
    let (admin, params) = (admin(&namespace), PostParams::default());
    let cluster = cluster(&namespace).await;
    let machine = machines(&admin, &namespace).create(&params, &objects::machine("m", "id-1")).await.unwrap();
    let key = objects::attestation_key("k", Some("id-1"), &objects::public_key());
    keys(&admin, &namespace).create(&params, &key).await.unwrap();
    let operator = operator(&namespace).await;

    let as_admin = keys(&admin, &namespace);
    let keys = keys(&operator, &namespace);
    for owner in [owned_by(&cluster), owned_by(&machine), json!([])] {
        let current = as_admin.get("k").await.unwrap().metadata;
        let change = json!({"metadata": {
            "uid": current.uid, "resourceVersion": current.resource_version, "ownerReferences": owner,
        }});
        patch(&keys, "k", change).await.unwrap();
    }

    let secrets = secrets(&operator, &namespace);
    let key = as_admin.get("k").await.unwrap();
    for (name, owner) in [("luks-id-1", owned_by(&machine)), ("ak-id-1", owned_by(&key))] {
        let secret = json!({"metadata": {"name": name, "ownerReferences": owner}});
        secrets.create(&params, &serde_json::from_value(secret).unwrap()).await.unwrap();
        patch(&secrets, name, json!({"metadata": {"ownerReferences": []}})).await.unwrap();
        patch(&secrets, name, json!({"metadata": {"ownerReferences": owner}})).await.unwrap();
        secrets.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn operator_writes_every_status_and_makes_no_objects_of_our_kinds() {
    let namespace = namespace("use-status").await;
    let (admin, params) = (admin(&namespace), PostParams::default());
    cluster(&namespace).await;
    machines(&admin, &namespace).create(&params, &objects::machine("m", "id-1")).await.unwrap();
    let key = objects::attestation_key("k", None, &objects::public_key());
    keys(&admin, &namespace).create(&params, &key).await.unwrap();

    let operator = operator(&namespace).await;
    let apply = PatchParams::apply("trusted-operator").force();
    let status = |kind: &str, name: &str| {
        Patch::Apply(json!({
            "apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name},
            "status": {"conditions": [{
                "type": "Installed", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }]},
        }))
    };
    clusters(&operator, &namespace)
        .patch_status("c", &apply, &status("TrustedExecutionCluster", "c"))
        .await
        .unwrap();
    machines(&operator, &namespace).patch_status("m", &apply, &status("Machine", "m")).await.unwrap();
    keys(&operator, &namespace).patch_status("k", &apply, &status("AttestationKey", "k")).await.unwrap();

    forbidden(machines(&operator, &namespace).create(&params, &objects::machine("n", "id-2")).await);
    forbidden(keys(&operator, &namespace).create(&params, &key).await);
    forbidden(clusters(&operator, &namespace).delete("c", &DeleteParams::default()).await);
}

#[tokio::test]
async fn operator_leads() {
    let namespace = namespace("use-lease").await;
    let operator = operator(&namespace).await;
    let leases: Api<k8s_openapi::api::coordination::v1::Lease> =
        Api::namespaced(operator.clone(), namespace.name());
    let lease = Patch::Apply(json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "trusted-operator"},
        "spec": {"holderIdentity": "me", "leaseDurationSeconds": 60},
    }));
    let apply = PatchParams::apply("trusted-operator").force();
    for _ in 0..2 {
        leases.patch("trusted-operator", &apply, &lease).await.unwrap();
    }
    leases.get("trusted-operator").await.unwrap();
    // A standby sees when the lease is given back.
    let this = WatchParams::default().fields("metadata.name=trusted-operator");
    drop(leases.watch(&this, "0").await.unwrap());
    forbidden(leases.watch(&WatchParams::default(), "0").await.map(drop));
}

#[tokio::test]
async fn front_ends_register_and_read_nothing_secret() {
    let namespace = namespace("use-register").await;
    let owners = serde_json::from_value(owned_by(&cluster(&namespace).await)).unwrap();
    let params = PostParams::default();
    let mut machine = objects::machine("m", "id-1");
    machine.metadata.owner_references = Some(owners);
    let mut key = objects::attestation_key("k", Some("id-1"), &objects::public_key());
    key.metadata.owner_references.clone_from(&machine.metadata.owner_references);

    let register_machine = service_account(&namespace, "register-machine").await;
    let register_key = service_account(&namespace, "register-attestation-key").await;
    machines(&register_machine, &namespace).create(&params, &machine).await.unwrap();
    keys(&register_key, &namespace).create(&params, &key).await.unwrap();
    forbidden(keys(&register_machine, &namespace).create(&params, &key).await);
    forbidden(machines(&register_key, &namespace).create(&params, &machine).await);
    for client in [register_machine, register_key] {
        clusters(&client, &namespace).list(&ListParams::default()).await.unwrap();
        forbidden(secrets(&client, &namespace).list(&ListParams::default()).await);
        forbidden(secrets(&client, &namespace).get("luks-id-1").await);
        forbidden(patch(&keys(&client, &namespace), "k", json!({"metadata": {"labels": {"a": "b"}}})).await);
        forbidden(machines(&client, &namespace).delete("m", &DeleteParams::default()).await);
    }
}

#[tokio::test]
async fn a_front_end_cannot_smuggle_an_approval_in() {
    let namespace = namespace("use-smuggle").await;
    let client = service_account(&namespace, "register-attestation-key").await;
    let mut key = objects::attestation_key("k", Some("id-1"), &objects::public_key());
    key.spec.approval = Some(trusted_crds::Approval {
        decision: trusted_crds::Decision::Approved,
        fingerprint: format!("sha256:{}", "0".repeat(64)),
        by: Some(namespace.service_account_user("register-attestation-key")),
        reason: None,
    });
    let said = refusal(keys(&client, &namespace).create(&PostParams::default(), &key).await);
    assert!(said.contains(trusted_crds::names::APPROVAL_POLICY), "{said}");
}

/// /metrics belongs to no namespace, so the auditor's ClusterRole takes a ClusterRoleBinding.
#[tokio::test]
async fn auditor_reads_the_request_counters() {
    let namespace = namespace("use-auditor").await;
    let admin = admin(&namespace);
    let user = format!("auditor-of-{}", namespace.name());
    let rbac = "rbac.authorization.k8s.io";
    let binding: k8s_openapi::api::rbac::v1::ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": user, "labels": namespace.control_plane().labels()},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "trusted-auditor"},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": user}],
    }))
    .unwrap();
    let bindings: Api<k8s_openapi::api::rbac::v1::ClusterRoleBinding> = Api::all(admin.clone());
    bindings.create(&PostParams::default(), &binding).await.unwrap();
    eventually("the auditor may read /metrics", PATIENCE, || async {
        path_allowed(&admin, &user, "/metrics").await.then_some(())
    })
    .await;
    for path in ["/metrics/slis", "/debug/pprof", "/logs", "/metricsx"] {
        assert!(!path_allowed(&admin, &user, path).await, "{path}");
    }
    bindings.delete(&user, &DeleteParams::default()).await.unwrap();
}

async fn path_allowed(admin: &kube::Client, user: &str, path: &str) -> bool {
    let attributes = NonResourceAttributes { path: Some(path.to_owned()), verb: Some("get".to_owned()) };
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(user.to_owned()),
            non_resource_attributes: Some(attributes),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let answer = Api::<SubjectAccessReview>::all(admin.clone()).create(&PostParams::default(), &review).await;
    answer.unwrap().status.is_some_and(|status| status.allowed)
}

#[tokio::test]
async fn viewer_reads_and_writes_nothing() {
    let namespace = namespace("use-viewer").await;
    cluster(&namespace).await;
    let viewer = namespace.as_user("viewer");
    clusters(&viewer, &namespace).list(&ListParams::default()).await.unwrap();
    machines(&viewer, &namespace).list(&ListParams::default()).await.unwrap();
    forbidden(patch(&clusters(&viewer, &namespace), "c", json!({"metadata": {"labels": {"a": "b"}}})).await);
    forbidden(secrets(&viewer, &namespace).list(&ListParams::default()).await);
    let status = Patch::Merge::<Value>(json!({"status": {"machines": 0}}));
    forbidden(
        clusters(&namespace.as_user("editor"), &namespace)
            .patch_status("c", &PatchParams::default(), &status)
            .await,
    );
}
