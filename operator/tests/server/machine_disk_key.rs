//! Disk keys are made once and never lost.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};
use testenv::{eventually, objects};
use trusted_crds::{Delivered, DiskKeyRetention, Machine, TrustedExecutionCluster, condition, names, reason};

use crate::support::{CLUSTER, Env, TIMEOUT};

fn secret(name: &str, bytes: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta { name: Some(name.into()), ..Default::default() },
        data: Some(BTreeMap::from([("root".to_owned(), ByteString(bytes.to_vec()))])),
        ..Default::default()
    }
}

async fn delivers_disk_key(env: &Env, id: &str) {
    eventually("the disk key to be delivered", TIMEOUT, || async {
        let deployment = env.api().get_opt(names::TRUSTEE_DEPLOYMENT).await.unwrap()?;
        Delivered::read(&deployment).has_disk_key(id).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_disk_key_is_random_and_survives_a_restart() {
    let mut env = Env::new("diskkey").await;
    env.machine("m1").await;
    env.machine("m2").await;
    let mut keys = Vec::new();
    for id in ["m1", "m2"] {
        env.condition::<Machine>(id, condition::KEY_READY, "True").await;
        let data = env.secret(&names::disk_key_secret(id)).await.unwrap().data.unwrap();
        let document: Value = serde_json::from_slice(&data["root"].0).unwrap();
        assert_eq!(document["key_type"], "oct");
        keys.push(document["key"].as_str().unwrap().to_owned());
    }
    assert_ne!(keys[0], keys[1]);
    let before = env.secret("luks-m1").await.unwrap();
    env.stop_operator().await;
    env.start_operator().await;
    env.machine("m3").await;
    env.condition::<Machine>("m3", condition::KEY_READY, "True").await;
    assert_eq!(env.secret("luks-m1").await.unwrap(), before);
    delivers_disk_key(&env, "m1").await;
    env.finish().await;
}

#[tokio::test]
async fn a_disk_key_of_the_existing_operator_is_used_as_it_is() {
    let mut env = Env::bare("former").await;
    env.create(&objects::cluster(CLUSTER)).await;
    let machine = env.machine("old-id").await;
    let mut former = secret("old-id", b"{\"key_type\":\"oct\",\"key\":\"former\"}");
    former.metadata.owner_references = Some(vec![machine.controller_owner_ref(&()).unwrap()]);
    let former = env.create(&former).await;
    env.start_operator().await;
    env.reason::<Machine>("old-id", condition::KEY_READY, reason::KEY_ADOPTED).await;
    delivers_disk_key(&env, "old-id").await;
    assert!(env.secret("luks-old-id").await.is_none());
    let marked = eventually("the Secret to be marked as ours", TIMEOUT, || async {
        let secret = env.secret("old-id").await?;
        secret.labels().contains_key(names::MANAGED_BY_LABEL).then_some(secret)
    })
    .await;
    assert_eq!(marked.owner_references()[0].uid, former.owner_references()[0].uid);
    assert_eq!(marked.data, former.data);
    env.finish().await;
}

#[tokio::test]
async fn foreign_secrets_are_left_alone() {
    let env = Env::without_cluster("foreignsecret").await;
    // Named like the machine: of no concern to us. Named like our disk key: reported.
    let like_machine = env.create(&secret("m1", b"theirs")).await;
    let like_ours = env.create(&secret("luks-m2", b"theirs")).await;
    env.create(&objects::cluster(CLUSTER)).await;
    env.machine("m1").await;
    env.machine("m2").await;
    env.condition::<Machine>("m1", condition::KEY_READY, "True").await;
    let told = env.reason::<Machine>("m2", condition::KEY_READY, reason::FOREIGN_SECRET).await;
    assert!(told.message.contains("luks-m2"), "{}", told.message);
    delivers_disk_key(&env, "m1").await;
    for untouched in [like_machine, like_ours] {
        assert_eq!(env.secret(&untouched.name_any()).await.unwrap(), untouched);
    }
    env.finish().await;
}

#[tokio::test]
async fn retained_disk_keys_outlive_their_machine() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("retain").await;
    env.machine("m").await;
    env.condition::<Machine>("m", condition::KEY_READY, "True").await;
    let bytes = env.secret("luks-m").await.unwrap().data;
    let retention = async |retention: DiskKeyRetention, owners: usize| {
        let patch = json!({ "spec": { "diskKeyRetention": retention } });
        let clusters = env.api::<TrustedExecutionCluster>();
        clusters.patch(CLUSTER, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
        eventually("the disk key to be re-owned", TIMEOUT, || async {
            (env.secret("luks-m").await?.owner_references().len() == owners).then_some(())
        })
        .await;
    };
    retention(DiskKeyRetention::Retain, 0).await;
    retention(DiskKeyRetention::Delete, 1).await;
    retention(DiskKeyRetention::Retain, 0).await;
    env.delete::<Machine>("m").await;
    env.gone::<Machine>("m").await;
    env.delivered(&[]).await;
    assert_eq!(env.secret("luks-m").await.unwrap().data, bytes);
    env.machine("m").await;
    env.condition::<Machine>("m", condition::KEY_READY, "True").await;
    assert_eq!(env.secret("luks-m").await.unwrap().data, bytes);
    env.finish().await;
}
