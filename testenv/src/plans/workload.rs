//! The work that every plan has done, once without faults and then with them.
//!
//! Purpose: bring the operator to each kind of write it has, in steps that end in one state each: install, bind,
//! refuse, decide by hand, displace, follow a Machine that is made anew, repair, unbind. Names, orders and what is
//! destroyed follow from the seed; keys are made once, so that all runs are about the same ones.

use std::{fmt::Debug, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use trusted_crds::{AttestationKey, Decision, Machine, PublicKey, TrustedExecutionCluster, names};

use crate::{Error, TestNamespace, objects, poll, shuffle::Shuffler};

/// How long the garbage collector may take.
const GONE: Duration = Duration::from_secs(60);

/// Something a person or a machine does. Afterwards the operator has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A cluster is created.
    Install,
    /// Two Machines and their keys, in any order.
    Pairs,
    /// A rival key for the first Machine, and two keys that name none.
    Strangers,
    /// A person denies one of them, approves the rival, which displaces the first key, and the key that names no
    /// Machine.
    ByHand,
    /// The second Machine is deleted and made again under its id, and so is its key.
    Recreate,
    /// The first Machine's binding and a child of the cluster are deleted by hand.
    Destroy,
    /// The approval of the key that names no Machine is taken back.
    Withdraw,
}

impl Step {
    pub(super) const ALL: [Step; 7] = [
        Step::Install,
        Step::Pairs,
        Step::Strangers,
        Step::ByHand,
        Step::Recreate,
        Step::Destroy,
        Step::Withdraw,
    ];
}

/// A key to be registered.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    machine: Option<String>,
    pem: String,
}

impl Key {
    fn new(name: String, machine: Option<&str>) -> Key {
        Key { name, machine: machine.map(str::to_owned), pem: objects::public_key() }
    }

    fn object(&self) -> AttestationKey {
        objects::attestation_key(&self.name, self.machine.as_deref(), &self.pem)
    }
}

/// A child of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    Deployment(&'static str),
    ConfigMap(&'static str),
    Service(&'static str),
}

impl Child {
    pub(super) const ALL: [Child; 6] = [
        Child::Deployment(names::TRUSTEE_DEPLOYMENT),
        Child::Deployment(names::REGISTER_SERVER),
        Child::ConfigMap(names::TRUSTEE_DATA),
        Child::ConfigMap(names::ATTESTATION_POLICY),
        Child::Service(names::KBS_SERVICE),
        Child::Service(names::REGISTER_SERVER),
    ];
}

/// The steps and what they are about.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) seed: u64,
    pub(super) steps: Vec<Step>,
    /// Ids of the Machines, which are their names too.
    pub(super) machines: [String; 2],
    pub(super) first: Key,
    pub(super) second: Key,
    rival: Key,
    spare: Key,
    denied: Key,
    destroyed: Child,
}

impl Workload {
    pub(super) fn new(seed: u64, steps: &[Step]) -> Workload {
        let mut chance = Shuffler::new(seed);
        let suffix = format!("{:04x}", chance.draw() & 0xffff);
        let machines = ["one", "two"].map(|name| format!("{name}-{suffix}"));
        let key = |name: &str, machine| Key::new(format!("{name}-{suffix}"), machine);
        let destroyed = Child::ALL[(chance.draw() % Child::ALL.len() as u64) as usize];
        Workload {
            seed,
            steps: steps.to_vec(),
            first: key("first", Some(machines[0].as_str())),
            second: key("second", Some(machines[1].as_str())),
            rival: key("rival", Some(machines[0].as_str())),
            spare: key("spare", None),
            denied: key("denied", None),
            machines,
            destroyed,
        }
    }

    /// Does a step.
    pub(super) async fn act(&self, step: Step, hands: &Hands) -> Result<(), Error> {
        match step {
            Step::Install => hands.create(&objects::cluster("cluster")).await,
            Step::Pairs => self.create_pairs(hands).await,
            Step::Strangers => {
                for key in [&self.rival, &self.spare, &self.denied] {
                    hands.create(&key.object()).await?;
                }
                Ok(())
            }
            Step::ByHand => {
                hands.decide(&self.denied, Some(Decision::Denied)).await?;
                hands.decide(&self.rival, Some(Decision::Approved)).await?;
                hands.decide(&self.spare, Some(Decision::Approved)).await
            }
            Step::Recreate => self.recreate(hands).await,
            Step::Destroy => {
                hands.delete::<Secret>(&names::binding_secret(&self.machines[0])).await?;
                hands.destroy(self.destroyed).await
            }
            Step::Withdraw => hands.decide(&self.spare, None).await,
        }
    }

    async fn create_pairs(&self, hands: &Hands) -> Result<(), Error> {
        let mut order = [0, 1, 2, 3];
        Shuffler::new(self.seed).shuffle(&mut order);
        for number in order {
            match number {
                0 | 1 => hands.create(&self.machine(number)).await?,
                2 => hands.create(&self.first.object()).await?,
                _ => hands.create(&self.second.object()).await?,
            }
        }
        Ok(())
    }

    /// The new Machine is there before the garbage collector has taken what belonged to the old one.
    pub(super) async fn recreate(&self, hands: &Hands) -> Result<(), Error> {
        self.remove_second(hands).await?;
        self.register_second(hands).await
    }

    /// Deletes the second Machine.
    pub(super) async fn remove_second(&self, hands: &Hands) -> Result<(), Error> {
        hands.delete::<Machine>(&self.machines[1]).await?;
        hands.gone::<Machine>(&self.machines[1]).await
    }

    /// Makes it again, and its key once the old one has gone with the old Machine.
    pub(super) async fn register_second(&self, hands: &Hands) -> Result<(), Error> {
        hands.create(&self.machine(1)).await?;
        hands.gone::<AttestationKey>(&self.second.name).await?;
        hands.create(&self.second.object()).await
    }

    /// Where a step comes in the work.
    pub(super) fn position(&self, step: Step) -> usize {
        self.steps.iter().position(|other| *other == step).unwrap_or(self.steps.len())
    }

    fn machine(&self, number: usize) -> Machine {
        objects::machine(&self.machines[number], &self.machines[number])
    }
}

/// People and machines at work in one namespace, past the proxy.
#[derive(Clone)]
pub(super) struct Hands {
    admin: Client,
    approver: Client,
    namespace: String,
    approver_name: String,
}

/// What a person can create and delete.
pub(super) trait Object:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
}

impl Object for TrustedExecutionCluster {}
impl Object for Machine {}
impl Object for AttestationKey {}
impl Object for Secret {}
impl Object for Deployment {}
impl Object for ConfigMap {}
impl Object for Service {}

impl Hands {
    pub(super) fn new(namespace: &TestNamespace) -> Result<Hands, Error> {
        let client = |user: &str| {
            Client::try_from(namespace.user_config(user)).map_err(Error::kube(format!("a client of {user}")))
        };
        Ok(Hands {
            admin: client("admin")?,
            approver: client("approver")?,
            namespace: namespace.name().to_owned(),
            approver_name: namespace.user_name("approver").to_owned(),
        })
    }

    pub(super) fn admin(&self) -> &Client {
        &self.admin
    }

    pub(super) fn api<K: Object>(&self) -> Api<K> {
        Api::namespaced(self.admin.clone(), &self.namespace)
    }

    pub(super) async fn create<K: Object>(&self, object: &K) -> Result<(), Error> {
        let created = self.api::<K>().create(&PostParams::default(), object).await;
        let name = object.meta().name.clone().unwrap_or_default();
        created.map(|_| ()).map_err(Error::kube(format!("create {} {name}", K::kind(&()))))
    }

    /// Deletes as kubectl does; what is not there is as good as deleted.
    pub(super) async fn delete<K: Object>(&self, name: &str) -> Result<(), Error> {
        match self.api::<K>().delete(name, &DeleteParams::background()).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => Err(Error::kube(format!("delete {} {name}", K::kind(&())))(error)),
        }
    }

    pub(super) async fn destroy(&self, child: Child) -> Result<(), Error> {
        match child {
            Child::Deployment(name) => self.delete::<Deployment>(name).await,
            Child::ConfigMap(name) => self.delete::<ConfigMap>(name).await,
            Child::Service(name) => self.delete::<Service>(name).await,
        }
    }

    /// Changes a child as an administrator in a way that the operator has to put right; what is not there is left
    /// alone.
    pub(super) async fn deface(&self, child: Child) -> Result<(), Error> {
        match child {
            Child::Deployment(name) => self.edit::<Deployment>(name, &json!({"spec": {"replicas": 0}})).await,
            Child::Service(name) => {
                self.edit::<Service>(name, &json!({"spec": {"selector": {"defaced": "yes"}}})).await
            }
            Child::ConfigMap(name) => {
                let map = self.api::<ConfigMap>().get_opt(name).await;
                let map = map.map_err(Error::kube(format!("read ConfigMap {name}")))?;
                let Some(entry) = map.and_then(|map| map.data?.into_keys().next()) else { return Ok(()) };
                self.edit::<ConfigMap>(name, &json!({"data": {entry: "defaced"}})).await
            }
        }
    }

    async fn edit<K: Object>(&self, name: &str, patch: &serde_json::Value) -> Result<(), Error> {
        match self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => Err(Error::kube(format!("change {} {name}", K::kind(&())))(error)),
        }
    }

    /// Waits until an object is gone.
    pub(super) async fn gone<K: Object>(&self, name: &str) -> Result<(), Error> {
        let api = self.api::<K>();
        poll(&format!("{} {name} to be gone", K::kind(&())), GONE, || async {
            match api.get_metadata_opt(name).await {
                Ok(None) => Ok(()),
                Ok(Some(_)) => Err("it is there".to_owned()),
                Err(error) => Err(error.to_string()),
            }
        })
        .await
    }

    /// Writes or takes back a decision, as somebody who may.
    async fn decide(&self, key: &Key, decision: Option<Decision>) -> Result<(), Error> {
        let fingerprint = PublicKey::from_pem(&key.pem).map(|key| key.fingerprint().to_string());
        let approval = decision.map(|decision| {
            json!({"decision": decision, "fingerprint": fingerprint.ok(), "by": self.approver_name})
        });
        let keys: Api<AttestationKey> = Api::namespaced(self.approver.clone(), &self.namespace);
        let patch = Patch::Merge(json!({"spec": {"approval": approval}}));
        let decided = keys.patch(&key.name, &PatchParams::default(), &patch).await;
        decided.map(|_| ()).map_err(Error::kube(format!("decide on key {}", key.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_work_again() {
        let work = |seed| {
            let Workload { machines, destroyed, .. } = Workload::new(seed, &Step::ALL);
            (machines, format!("{destroyed:?}"))
        };
        assert_eq!(work(7), work(7));
        assert_ne!(work(7).0, work(8).0);
        let destroyed: std::collections::BTreeSet<String> = (0..40).map(|seed| work(seed).1).collect();
        assert_eq!(destroyed.len(), Child::ALL.len(), "every child is destroyed by some seed");
    }
}
