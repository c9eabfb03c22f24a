//! Nothing is taken away on the word of a store that may be behind.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::PostParams;
use serde_json::json;
use testenv::eventually;
use testenv::faults::Match;
use trusted_crds::names::{REGISTER_SERVER, TRUSTEE_DEPLOYMENT};
use trusted_crds::{ApprovalPolicy, AttestationKey, Decision, Delivered, Machine, condition, names, reason};

use crate::support::{Env, TIMEOUT, fingerprint};

impl Env {
    /// Waits until this controller has held something back.
    async fn held_back(&self, controller: &str) {
        self.reconciled(controller, "behind").await;
    }

    async fn delivers(&self, key: &AttestationKey) -> bool {
        let deployment = self.api::<Deployment>().get(TRUSTEE_DEPLOYMENT).await.unwrap();
        Delivered::read(&deployment).has_key(&fingerprint(key).parse().unwrap())
    }
}

#[tokio::test]
async fn a_binding_and_its_delivery_stay_while_the_secrets_are_not_known() {
    testenv::needs!(SimulatedNodes);
    let (env, proxy) = Env::behind_proxy("behind", ApprovalPolicy::Manual).await;
    env.machine("m").await;
    env.machine("leaving").await;
    let key = env.key("k", Some("m")).await;
    env.approved("k", reason::AWAITING_APPROVAL).await;
    env.decide(&key, Some(Decision::Approved)).await;
    env.delivered(&[&key]).await;

    let cut = proxy.on(Match::watch("secrets")).cut();
    let told = env.told("/readyz", "secrets: stale since").await;
    assert!(told.contains("unreachable"), "{told}");
    env.decide(&key, None).await;
    // That takes nothing away, and is guarded by the version of the key.
    env.approved("k", reason::WITHDRAWN).await;
    env.held_back("machine").await;
    env.delete::<Machine>("leaving").await;
    env.held_back("trustee").await;
    assert!(env.secret(&names::binding_secret("m")).await.is_some() && env.delivers(&key).await);
    assert_eq!(proxy.log().count("delete", "secrets"), 0);
    // What takes nothing away goes on.
    env.machine("other").await;
    let disk_key = names::disk_key_secret("other");
    eventually("the disk key of the other machine", TIMEOUT, || env.secret(&disk_key)).await;

    cut.lift();
    env.condition::<Machine>("other", condition::KEY_READY, "True").await;
    env.gone::<Secret>(&names::binding_secret("m")).await;
    env.delivered(&[]).await;
    env.finish().await;
}

#[tokio::test]
async fn a_denial_counts_however_old_the_stores_are() {
    testenv::needs!(SimulatedNodes);
    let (env, proxy) = Env::behind_proxy("denial", ApprovalPolicy::Automatic).await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.delivered(&[&key]).await;

    let cut = proxy.on(Match::watch("secrets")).cut();
    env.told("/readyz", "secrets: stale since").await;
    env.decide(&key, Some(Decision::Denied)).await;
    env.delivered(&[]).await;
    env.approved("k", reason::DENIED).await;
    env.gone::<Secret>(&names::binding_secret("m")).await;
    let told = env.operator().ask("/readyz").await.unwrap();
    assert!(told.contains("secrets: stale since"), "{told}");

    cut.lift();
    env.finish().await;
}

#[tokio::test]
async fn a_child_is_not_replaced_while_the_cluster_is_not_known() {
    let (env, proxy) = Env::behind_proxy("behindchild", ApprovalPolicy::Automatic).await;
    let cut = proxy.on(Match::watch("trustedexecutionclusters")).cut();
    env.told("/readyz", "trustedexecutionclusters.trusted-execution-clusters.io: stale since").await;

    // Selectors of Deployments cannot be changed.
    let mut other = env.api::<Deployment>().get(REGISTER_SERVER).await.unwrap();
    other.metadata.resource_version = None;
    other.spec.selector.match_labels = Some([("app".to_owned(), "other".to_owned())].into());
    let labels = json!({"app": "other"});
    other.spec.template.metadata.as_mut().unwrap().labels = serde_json::from_value(labels).unwrap();
    let api = env.api::<Deployment>();
    let hold = proxy.on(Match::create("deployments")).hang();
    env.delete::<Deployment>(REGISTER_SERVER).await;
    env.gone::<Deployment>(REGISTER_SERVER).await;
    let other = api.create(&PostParams::default(), &other).await.unwrap();
    hold.lift();
    env.held_back("cluster").await;
    assert_eq!(api.get(REGISTER_SERVER).await.unwrap().uid(), other.uid());
    assert_eq!(proxy.log().count("delete", "deployments"), 0);

    cut.lift();
    eventually("the Deployment to be replaced", TIMEOUT, || async {
        let found = api.get_opt(REGISTER_SERVER).await.unwrap()?;
        (found.uid() != other.uid()).then_some(())
    })
    .await;
    env.finish().await;
}
