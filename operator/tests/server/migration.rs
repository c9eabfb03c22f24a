//! A namespace as the existing operator leaves it, in either of its versions, is taken over: disk keys stay,
//! no key leaves Trustee meanwhile, and nothing of it keeps an object from going.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Resource, ResourceExt};
use serde_json::json;
use testenv::{eventually, objects};
use trusted_crds::names::{
    ATTESTATION_KEY_REGISTER, DISK_KEY_ENTRY, FORMER_IMAGE_FINALIZER, FORMER_MACHINE_FINALIZER,
    FORMER_RECORD_FINALIZER, KBS_SERVICE, MANAGED_BY_LABEL, PUBLIC_KEY_ENTRY, REGISTER_SERVER, TRUSTEE_DATA,
    TRUSTEE_DEPLOYMENT,
};
use trusted_crds::{
    ApprovedImage, AttestationKey, Decision, Delivered, Machine, TrustedExecutionCluster, condition, names,
    reason,
};

use crate::support::{CLUSTER, Env, TIMEOUT, fingerprint};

/// Machines with one key each, and one with two.
const MACHINES: [(&str, &[&str]); 3] =
    [("one", &["key-one"]), ("two", &["key-two"]), ("both", &["left", "right"])];

fn owned<K: Resource<DynamicType = ()>>(mut object: serde_json::Value, owner: &K) -> serde_json::Value {
    object["metadata"]["ownerReferences"] = json!([owner.controller_owner_ref(&()).unwrap()]);
    object
}

async fn create<K>(env: &Env, object: serde_json::Value) -> K
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::Serialize
        + serde::de::DeserializeOwned,
{
    env.create(&serde_json::from_value::<K>(object).unwrap()).await
}

/// How the existing operator brings keys to Trustee.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Former {
    /// A volume for each machine.
    Mounts,
    /// Nothing in the Deployment: it calls Trustee.
    AdminApi,
}

/// Volumes of the Trustee pod and where they are mounted.
fn trustee_volumes(former: Former) -> (serde_json::Value, serde_json::Value) {
    if former == Former::AdminApi {
        let volumes = json!([
            {"name": "trustee-data", "configMap": {"name": TRUSTEE_DATA}},
            {"name": "trustee-auth", "secret": {"secretName": "trustee-auth"}},
            {"name": "trustee-storage", "emptyDir": {}},
        ]);
        let mounts = json!([
            {"name": "trustee-data", "mountPath": "/etc/kbs"},
            {"name": "trustee-auth", "mountPath": "/opt/trustee/keys"},
            {"name": "trustee-storage", "mountPath": "/opt/trustee/storage"},
        ]);
        return (volumes, mounts);
    }
    let volumes = MACHINES.map(|(id, _)| json!({"name": id, "secret": {"secretName": id}}));
    let repository = "/opt/trustee/kbs-repository/default";
    let mounts = MACHINES.map(|(id, _)| json!({"name": id, "mountPath": format!("{repository}/{id}")}));
    (json!(volumes), json!(mounts))
}

/// Deployment, Service or ConfigMap as the existing operator makes them: no label of ours, owned by the cluster.
async fn children(env: &Env, cluster: &TrustedExecutionCluster, former: Former) {
    let data = json!({"metadata": {"name": TRUSTEE_DATA}, "data": {"kbs-config.toml": "old"}});
    create::<ConfigMap>(env, owned(data, cluster)).await;
    for (name, app, port) in [
        (KBS_SERVICE, "kbs", 8080),
        (REGISTER_SERVER, REGISTER_SERVER, 8000),
        (ATTESTATION_KEY_REGISTER, ATTESTATION_KEY_REGISTER, 8001),
    ] {
        let service = json!({"metadata": {"name": name}, "spec": {"selector": {"app": app}, "ports": [{"port": port}]}});
        create::<Service>(env, owned(service, cluster)).await;
    }
    let (volumes, mounts) = trustee_volumes(former);
    for (name, app, volumes, mounts) in [
        (TRUSTEE_DEPLOYMENT, "kbs", volumes, mounts),
        (REGISTER_SERVER, REGISTER_SERVER, json!([]), json!([])),
        (ATTESTATION_KEY_REGISTER, ATTESTATION_KEY_REGISTER, json!([]), json!([])),
    ] {
        let labels = json!({"app": app});
        let container = json!({"name": app, "image": "old", "volumeMounts": mounts});
        let deployment = json!({"metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"volumes": volumes, "containers": [container]}},
        }});
        create::<Deployment>(env, owned(deployment, cluster)).await;
    }
}

/// Machines, disk keys, approved keys and their records. Returns the keys by name.
async fn fill(env: &Env, former: Former) -> BTreeMap<String, AttestationKey> {
    let cluster = env.create(&objects::cluster(CLUSTER)).await;
    children(env, &cluster, former).await;
    let mut keys = BTreeMap::new();
    for (id, names) in MACHINES {
        let mut machine = objects::machine(&format!("machine-{id}"), id);
        machine.metadata.finalizers = Some(vec![FORMER_MACHINE_FINALIZER.to_owned()]);
        machine.metadata.owner_references = Some(vec![cluster.controller_owner_ref(&()).unwrap()]);
        let machine = env.create(&machine).await;
        let disk_key =
            json!({"metadata": {"name": id}, "stringData": {DISK_KEY_ENTRY: format!("disk key of {id}")}});
        create::<Secret>(env, owned(disk_key, &machine)).await;
        for name in names {
            let mut key = objects::attestation_key(name, Some(id), &objects::public_key());
            key.metadata.owner_references = Some(vec![machine.controller_owner_ref(&()).unwrap()]);
            let key = env.create(&key).await;
            let record = json!({
                "metadata": {"name": name, "finalizers": [FORMER_RECORD_FINALIZER]},
                "stringData": {PUBLIC_KEY_ENTRY: key.spec.public_key},
            });
            create::<Secret>(env, owned(record, &key)).await;
            let approved = json!({"status": {"conditions": [{
                "type": "Approved", "status": "True", "reason": "MachineCreated", "message": "by the existing operator",
                "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
            }]}});
            let keys_api = env.api::<AttestationKey>();
            keys_api.patch_status(name, &PatchParams::default(), &Patch::Merge(&approved)).await.unwrap();
            keys.insert((*name).to_owned(), key);
        }
    }
    let mut image =
        objects::approved_image("image", &format!("registry.example/os@sha256:{}", "0".repeat(64)));
    image.metadata.finalizers = Some(vec![FORMER_IMAGE_FINALIZER.to_owned()]);
    env.create(&image).await;
    keys
}

/// Follows the Trustee Deployment: of all states that ours wrote, those that lack a key or a disk key.
fn incomplete(env: &Env, keys: &BTreeMap<String, AttestationKey>) -> tokio::task::JoinHandle<Vec<String>> {
    let api = env.api::<Deployment>();
    let fingerprints: Vec<_> = keys.values().map(|key| fingerprint(key).parse().unwrap()).collect();
    tokio::spawn(async move {
        let this = WatchParams::default().fields(&format!("metadata.name={TRUSTEE_DEPLOYMENT}")).timeout(290);
        let mut events = std::pin::pin!(api.watch(&this, "0").await.unwrap());
        let mut lacking = Vec::new();
        while let Ok(Some(event)) = events.try_next().await {
            let WatchEvent::Modified(deployment) = event else { continue };
            if !deployment.labels().contains_key(MANAGED_BY_LABEL) {
                continue;
            }
            // Told apart by an annotation that the test sets at the end of the take-over.
            if deployment.annotations().contains_key("example.com/end") {
                break;
            }
            let delivered = Delivered::read(&deployment);
            let missing_keys = fingerprints.iter().filter(|key| !delivered.has_key(key)).count();
            let missing_disks = MACHINES.iter().filter(|(id, _)| !delivered.has_disk_key(id)).count();
            if missing_keys + missing_disks > 0 {
                lacking.push(format!("{missing_keys} keys and {missing_disks} disk keys are missing"));
            }
        }
        lacking
    })
}

#[tokio::test]
async fn a_namespace_of_the_existing_operator_is_taken_over_without_loss() {
    testenv::needs!(SimulatedNodes);
    taken_over_without_loss("migration-mounts", Former::Mounts).await;
}

#[tokio::test]
async fn so_is_one_of_its_version_that_calls_trustee() {
    testenv::needs!(SimulatedNodes);
    taken_over_without_loss("migration-calls", Former::AdminApi).await;
}

async fn taken_over_without_loss(prefix: &str, former: Former) {
    let mut env = Env::bare(prefix).await;
    let keys = fill(&env, former).await;
    let deployments = env.api::<Deployment>();
    let before = deployments.get(TRUSTEE_DEPLOYMENT).await.unwrap();
    let incomplete = incomplete(&env, &keys);
    env.start_operator().await;

    env.condition::<TrustedExecutionCluster>(CLUSTER, "Installed", "True").await;
    for (id, names) in MACHINES {
        env.reason::<Machine>(&format!("machine-{id}"), condition::KEY_READY, reason::KEY_ADOPTED).await;
        let told = if names.len() == 1 { reason::MACHINE_CREATED } else { reason::CONFLICT };
        for name in names {
            env.approved(name, told).await;
        }
    }
    // One key a machine is bound and its record gone; where two were trusted, both stay and a person picks.
    for name in ["key-one", "key-two"] {
        env.gone::<Secret>(name).await;
    }
    assert!(env.secret("ak-one").await.is_some() && env.secret("ak-both").await.is_none());
    env.delivered(&keys.values().collect::<Vec<_>>()).await;
    let end = json!({"metadata": {"annotations": {"example.com/end": "true"}}});
    deployments.patch(TRUSTEE_DEPLOYMENT, &PatchParams::default(), &Patch::Merge(&end)).await.unwrap();
    assert_eq!(incomplete.await.unwrap(), Vec::<String>::new());
    let after = deployments.get(TRUSTEE_DEPLOYMENT).await.unwrap();
    assert_eq!(after.uid(), before.uid(), "adopted, not made anew");

    env.decide(&keys["left"], Some(Decision::Approved)).await;
    env.approved("left", reason::MANUALLY_APPROVED).await;
    env.approved("right", reason::CONFLICT).await;
    for name in ["left", "right"] {
        env.gone::<Secret>(name).await;
    }
    let trusted: Vec<_> = keys.iter().filter(|(name, _)| *name != "right").map(|(_, key)| key).collect();
    env.delivered(&trusted).await;

    everything_may_go(&env).await;
    env.finish().await;
}

/// Finalizers of the existing operator are gone; disk keys are what they were.
async fn everything_may_go(env: &Env) {
    for (id, _) in MACHINES {
        let name = format!("machine-{id}");
        eventually("the finalizer to be gone", TIMEOUT, || async {
            let machine = env.api::<Machine>().get(&name).await.unwrap();
            machine.finalizers().is_empty().then_some(())
        })
        .await;
        let disk_key = env.secret(id).await.unwrap().data.unwrap();
        assert_eq!(disk_key[DISK_KEY_ENTRY], ByteString(format!("disk key of {id}").into_bytes()));
        assert!(env.secret(&names::disk_key_secret(id)).await.is_none());
    }
    eventually("the image's finalizer to be gone", TIMEOUT, || async {
        env.api::<ApprovedImage>().get("image").await.unwrap().finalizers().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_was_being_deleted_meanwhile_goes() {
    testenv::needs!(SimulatedNodes);
    let mut env = Env::bare("migration-deleted").await;
    let keys = fill(&env, Former::Mounts).await;
    // While no operator runs: a key, whose record waits for its finalizer, and an image.
    env.delete::<AttestationKey>("left").await;
    env.delete::<ApprovedImage>("image").await;
    env.gone::<AttestationKey>("left").await;
    env.start_operator().await;
    env.gone::<Secret>("left").await;
    env.gone::<ApprovedImage>("image").await;
    // With one of the two gone, the other is the one that stays trusted.
    eventually("the other key to be bound", TIMEOUT, || env.secret("ak-both")).await;
    env.delivered(&keys.values().filter(|key| key.name_any() != "left").collect::<Vec<_>>()).await;
    env.finish().await;
}
