//! Nothing is given to an owner that is gone: garbage collection would take it.

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use testenv::eventually;
use testenv::faults::Events;
use trusted_crds::{
    ApprovalPolicy, AttestationKey, Machine, TrustedExecutionCluster, condition, names, reason,
};

use crate::support::{CLUSTER, Env, TIMEOUT};

impl Env {
    async fn retention(&self, retention: &str) {
        let patch = json!({"spec": {"diskKeyRetention": retention}});
        let api = self.api::<TrustedExecutionCluster>();
        api.patch(CLUSTER, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    }

    /// Deletes a Machine and makes another one of its name.
    async fn succeed(&self, name: &str) -> Machine {
        self.delete::<Machine>(name).await;
        self.gone::<Machine>(name).await;
        self.machine(name).await
    }

    async fn attestation_key(&self, name: &str) -> AttestationKey {
        self.api::<AttestationKey>().get(name).await.unwrap()
    }
}

#[tokio::test]
async fn a_key_is_given_to_the_machine_that_there_is() {
    let (env, proxy) = Env::behind_proxy("owners", ApprovalPolicy::Automatic).await;
    env.machine("m").await;
    env.condition::<Machine>("m", condition::KEY_READY, "True").await;

    let freeze = proxy.on(Events::all("machines")).freeze();
    let successor = env.succeed("m").await;
    env.gone::<Secret>(&names::disk_key_secret("m")).await;
    env.reconciled("machine", "conflict").await;
    let key = env.key("k", Some("m")).await;
    let binding = names::binding_secret("m");
    eventually("the binding", TIMEOUT, || env.secret(&binding)).await;
    assert_eq!(env.attestation_key("k").await.owner_references(), []);
    assert!(env.secret(&names::disk_key_secret("m")).await.is_none());

    freeze.lift();
    env.approved("k", reason::MACHINE_CREATED).await;
    env.condition::<Machine>("m", condition::KEY_READY, "True").await;
    let given = eventually("the key to be given", TIMEOUT, async || {
        let given = env.attestation_key("k").await;
        (!given.owner_references().is_empty()).then_some(given)
    })
    .await;
    assert_eq!((given.uid(), given.owner_references()[0].uid.clone()), (key.uid(), successor.uid().unwrap()));
    env.finish().await;
}

#[tokio::test]
async fn a_retained_disk_key_is_given_to_the_machine_that_there_is() {
    let (env, proxy) = Env::behind_proxy("heirs", ApprovalPolicy::Automatic).await;
    env.retention("Retain").await;
    env.machine("m").await;
    env.condition::<Machine>("m", condition::KEY_READY, "True").await;
    let name = names::disk_key_secret("m");
    let disk_key = env.secret(&name).await.unwrap();
    assert_eq!(disk_key.owner_references(), []);

    let freeze = proxy.on(Events::all("machines")).freeze();
    let successor = env.succeed("m").await;
    env.retention("Delete").await;
    env.reconciled("machine", "conflict").await;
    assert_eq!(env.secret(&name).await.unwrap().owner_references(), []);

    freeze.lift();
    let given = eventually("the disk key to have an owner", TIMEOUT, || async {
        env.secret(&name).await.filter(|secret| !secret.owner_references().is_empty())
    })
    .await;
    assert_eq!(given.uid(), disk_key.uid());
    assert_eq!(given.owner_references()[0].uid, successor.uid().unwrap());
    env.finish().await;
}

#[tokio::test]
async fn a_binding_does_not_come_back_for_a_key_that_is_gone() {
    let (env, proxy) = Env::behind_proxy("bygone", ApprovalPolicy::Automatic).await;
    env.machine("m").await;
    env.key("k", Some("m")).await;
    env.approved("k", reason::MACHINE_CREATED).await;

    let freeze = proxy.on(Events::all("attestationkeys")).freeze();
    let made = proxy.log().count("create", "secrets");
    env.delete::<AttestationKey>("k").await;
    env.gone::<AttestationKey>("k").await;
    env.reconciled("machine", "conflict").await;
    env.gone::<Secret>(&names::binding_secret("m")).await;
    assert_eq!(proxy.log().count("create", "secrets"), made);

    freeze.lift();
    env.condition::<Machine>("m", condition::ATTESTATION_KEY_BOUND, "False").await;
    env.finish().await;
}
