//! The pages of docs/how-to, done as they say: their commands are run, with the rights they name.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use serde_json::json;
use testenv::eventually;
use trusted_crds::names::{CONFIRM_DELETE_ANNOTATION, is_binding};
use trusted_crds::{
    AttestationKey, Decision, HasConditions, Machine, TrustedExecutionCluster, condition, reason,
};

use crate::support::{CLUSTER, Conditioned, Env, TIMEOUT};

const BACKUP: &str = include_str!("../../../docs/how-to/backup.md");
const DISK_KEYS: &str = include_str!("../../../docs/how-to/disk-keys.md");

/// The commands of a page, block by block.
fn commands(page: &'static str) -> [&'static str; 3] {
    let blocks: Vec<_> =
        page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    blocks.try_into().unwrap()
}

/// Runs commands in `folder`; returns what they print.
async fn run(env: &Env, user: &str, folder: &Path, script: &str) -> String {
    let kubectl = env.ns.control_plane().kubectl();
    let output = tokio::process::Command::from(Command::new("sh"))
        .args(["-euc", &format!("kubectl() {{ {} \"$@\"; }}\n{script}", kubectl.display())])
        .current_dir(folder)
        .env("KUBECONFIG", env.ns.user_kubeconfig(user).unwrap())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{script}{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What must not be lost: the bytes of every disk key and binding.
async fn bytes(env: &Env) -> BTreeMap<String, BTreeMap<String, ByteString>> {
    let all = env.api::<Secret>().list(&ListParams::default()).await.unwrap();
    let ours = all.items.into_iter().filter(|secret| {
        let name = secret.name_any();
        name.starts_with("luks-") || name == "former" || is_binding(&name)
    });
    ours.map(|secret| (secret.name_any(), secret.data.unwrap_or_default())).collect()
}

/// What a person or the operator decided about each key.
async fn decisions(env: &Env) -> Vec<(String, Option<String>, Option<String>)> {
    let all = env.api::<AttestationKey>().list(&ListParams::default()).await.unwrap();
    let decided = all.items.iter().map(|key| {
        let reason = key.condition(condition::APPROVED).map(|condition| condition.reason.clone());
        (key.name_any(), reason, key.spec.approval.as_ref().and_then(|approval| approval.by.clone()))
    });
    decided.collect()
}

async fn lose_everything<K: Conditioned>(env: &Env) {
    env.api::<K>().delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    eventually(&format!("all {} to be gone", K::plural(&())), TIMEOUT, || async {
        let left = env.api::<K>().list(&ListParams::default()).await.unwrap().items;
        left.is_empty().then_some(())
    })
    .await;
}

/// Machines with a key trusted at once, by hand, denied, withdrawn with nothing in its place, refused for a rival; and
/// a disk key that an earlier operator made.
async fn fill(env: &Env) {
    let owner = env.machine("former").await.controller_owner_ref(&()).unwrap();
    let data = BTreeMap::from([("root".to_owned(), ByteString(b"made by an earlier operator".to_vec()))]);
    let mut former = Secret { data: Some(data), ..Secret::default() };
    former.metadata.name = Some("former".to_owned());
    former.metadata.owner_references = Some(vec![owner]);
    env.create(&former).await;
    for id in ["auto", "hand", "denied", "withdrawn"] {
        env.machine(id).await;
    }
    env.create(&testenv::objects::cluster(CLUSTER)).await;
    env.key("auto", Some("auto")).await;
    env.approved("auto", reason::MACHINE_CREATED).await;
    env.key("rival", Some("auto")).await;
    env.approved("rival", reason::CONFLICT).await;
    for (name, decisions, last) in [
        ("hand", &[Some(Decision::Approved)][..], reason::MANUALLY_APPROVED),
        ("denied", &[Some(Decision::Denied)][..], reason::DENIED),
        ("withdrawn", &[Some(Decision::Approved), None][..], reason::WITHDRAWN),
    ] {
        let key = env.key(name, Some(name)).await;
        env.approved(name, reason::MACHINE_CREATED).await;
        for decision in decisions {
            env.decide(&key, *decision).await;
            let now = if decision.is_some() && *decision != Some(Decision::Denied) {
                reason::MANUALLY_APPROVED
            } else {
                last
            };
            env.approved(name, now).await;
        }
    }
    env.reason::<Machine>("former", condition::KEY_READY, reason::KEY_ADOPTED).await;
    eventually("the adopted disk key to be marked", TIMEOUT, || async {
        (!env.secret("former").await?.labels().is_empty()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_was_backed_up_is_restored_with_the_same_keys_and_decisions() {
    let mut env = Env::bare("backup").await;
    let folder = tempfile::tempdir().unwrap();
    let [back_up, restore, restore_cluster] = commands(BACKUP);
    // The disk key of an earlier operator was there before ours.
    env.start_operator().await;
    fill(&env).await;
    let (secrets, judged) = (bytes(&env).await, decisions(&env).await);
    assert_eq!(secrets.len(), 7, "five disk keys and two bindings: {:?}", secrets.keys());
    run(&env, "backup", folder.path(), back_up).await;

    let confirm = json!({"metadata": {"annotations": {CONFIRM_DELETE_ANNOTATION: CLUSTER}}});
    let clusters = env.api::<TrustedExecutionCluster>();
    clusters.patch(CLUSTER, &PatchParams::default(), &Patch::Merge(&confirm)).await.unwrap();
    env.stop_operator().await;
    lose_everything::<TrustedExecutionCluster>(&env).await;
    lose_everything::<Machine>(&env).await;
    lose_everything::<AttestationKey>(&env).await;
    eventually("all Secrets to be collected", TIMEOUT, || async {
        let left = bytes(&env).await;
        left.is_empty().then_some(()).ok_or(format!("{:?}", left.keys()))
    })
    .await;

    run(&env, "backup", folder.path(), restore).await;
    run(&env, "admin", folder.path(), restore_cluster).await;
    env.start_operator().await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, "Installed", "True").await;
    eventually("every binding to have its owner again", TIMEOUT, || async {
        let all = env.api::<Secret>().list(&ListParams::default()).await.unwrap().items;
        let orphan =
            all.iter().find(|secret| !secret.labels().is_empty() && secret.owner_references().is_empty());
        orphan.is_none().then_some(()).ok_or(format!("{:?}", orphan.map(ResourceExt::name_any)))
    })
    .await;
    for (name, reason, _) in &judged {
        env.approved(name, reason.as_deref().unwrap()).await;
    }
    assert_eq!(decisions(&env).await, judged);
    assert!(bytes(&env).await == secrets, "disk keys and bindings have the same bytes");
    env.finish().await;
}

#[tokio::test]
async fn disk_keys_that_were_kept_are_found_and_purged() {
    let env = Env::new("purge").await;
    let folder = tempfile::tempdir().unwrap();
    let [retain, list, purge] = commands(DISK_KEYS);
    for id in ["stays", "goes"] {
        env.machine(id).await;
        env.condition::<Machine>(id, condition::KEY_READY, "True").await;
    }
    run(&env, "editor", folder.path(), &format!("CLUSTER={CLUSTER}\n{retain}")).await;
    let ownerless =
        async |id: &str| env.secret(&format!("luks-{id}")).await?.owner_references().is_empty().then_some(());
    for id in ["stays", "goes"] {
        eventually("the disk key to lose its owner", TIMEOUT, || ownerless(id)).await;
    }
    assert_eq!(run(&env, "purger", folder.path(), list).await, "");
    env.delete::<Machine>("goes").await;
    env.gone::<Machine>("goes").await;
    assert_eq!(run(&env, "purger", folder.path(), list).await, "goes\n");
    run(&env, "purger", folder.path(), &format!("ID=goes\n{purge}")).await;
    assert_eq!(run(&env, "purger", folder.path(), list).await, "");
    assert!(env.secret("luks-goes").await.is_none() && env.secret("luks-stays").await.is_some());
    env.finish().await;
}
