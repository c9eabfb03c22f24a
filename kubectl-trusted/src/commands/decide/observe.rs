//! What is known about the keys to decide about: the keys of the namespace, its machines, its Trustee. One LIST each.
//!
//! Owns the way from objects to a `Candidate`. Machines and Trustee may be out of sight; the keys may not.

use std::sync::Arc;

use cachelib::{Cache, Cached, Source};
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use trusted_crds::condition::{self, APPROVED};
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL, TRUSTEE_DEPLOYMENT};
use trusted_crds::{AttestationKey, Decision, Machine, PublicKey};

use super::action::Action;
use super::judge::{Candidate, MachineMatch, Other};
use super::stage::{self, Delivery, Stage};
use crate::connect::{Connection, Listed};
use crate::error::{Class, Error, Result};

pub(crate) struct Surroundings {
    pub(crate) namespace: String,
    keys: Vec<Arc<AttestationKey>>,
    unreadable: Vec<(String, String)>,
    machines: Option<Vec<Arc<Machine>>>,
    deployments: Option<Vec<Arc<Deployment>>>,
}

pub(crate) async fn observe(connection: &Connection) -> Result<Surroundings> {
    let namespace = connection.namespace.as_str();
    let mut lists = connection.lists();
    let keys = lists.add::<AttestationKey>(Source::namespaced(namespace))?;
    let machines = lists.add::<Machine>(Source::namespaced(namespace))?;
    let deployments = lists.add::<Deployment>(managed(namespace))?;
    let listed = lists.load().await;
    if let Some(error) = listed.error(&keys) {
        return Err(error);
    }
    Ok(Surroundings {
        namespace: namespace.to_owned(),
        keys: keys.list(),
        unreadable: keys.malformed().into_iter().map(|(key, problem)| (key.name, problem)).collect(),
        machines: visible(&listed, &machines)?,
        deployments: visible(&listed, &deployments)?,
    })
}

/// The keys alone.
pub(crate) async fn keys(connection: &Connection) -> Result<Vec<Arc<AttestationKey>>> {
    let mut lists = connection.lists();
    let keys = lists.add::<AttestationKey>(Source::namespaced(connection.namespace.as_str()))?;
    match lists.load().await.error(&keys) {
        Some(error) => Err(error),
        None => Ok(keys.list()),
    }
}

/// The operator's Deployments, Trustee among them.
pub(crate) fn managed(namespace: &str) -> Source {
    Source::namespaced(namespace).labels(format!("{MANAGED_BY_LABEL}={MANAGED_BY}"))
}

fn visible<K: Cached>(listed: &Listed<'_>, cache: &Cache<K>) -> Result<Option<Vec<Arc<K>>>> {
    match listed.error(cache) {
        None => Ok(Some(cache.list())),
        Some(Error { class: Class::Forbidden, .. }) => Ok(None),
        Some(error) => Err(error),
    }
}

impl Surroundings {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &AttestationKey> {
        self.keys.iter().map(Arc::as_ref)
    }

    pub(crate) fn candidate(&self, name: &str) -> Option<Candidate> {
        let key = self.keys.iter().find(|key| key.name_any() == name)?;
        let public = PublicKey::from_pem(&key.spec.public_key);
        let others = || self.keys.iter().filter(|other| other.name_any() != name).map(|key| other(key));
        let is_same_key = |other: &Other| {
            other.fingerprint.is_some()
                && other.fingerprint.as_ref() == public.as_ref().ok().map(PublicKey::fingerprint)
        };
        Some(Candidate {
            name: name.to_owned(),
            namespace: self.namespace.clone(),
            uid: key.uid().unwrap_or_default(),
            resource_version: key.resource_version().unwrap_or_default(),
            uuid: key.spec.uuid.clone(),
            created: key.metadata.creation_timestamp.as_ref().map(|time| time.0),
            is_leaving: key.metadata.deletion_timestamp.is_some(),
            approval: key.spec.approval.clone(),
            verdict: verdict(key),
            machine: self.machine(key.spec.uuid.as_deref()),
            rivals: others()
                .filter(|other| other.uuid.is_some() && other.uuid == key.spec.uuid && !is_same_key(other))
                .collect(),
            namesakes: others().filter(is_same_key).collect(),
            key: public,
        })
    }

    /// Why an object of this name cannot be read, if it is there at all.
    pub(crate) fn is_unreadable(&self, name: &str) -> Option<&str> {
        self.unreadable.iter().find(|(unreadable, _)| unreadable == name).map(|(_, problem)| problem.as_str())
    }

    fn machine(&self, uuid: Option<&str>) -> MachineMatch {
        let Some(uuid) = uuid else { return MachineMatch::NotNamed };
        let Some(machines) = &self.machines else { return MachineMatch::NotVisible };
        match machines.iter().find(|machine| machine.spec.id == uuid) {
            None => MachineMatch::Missing,
            Some(machine) => {
                let bound = machine.status.as_ref().and_then(|status| status.attestation_key.as_ref());
                MachineMatch::Found { name: machine.name_any(), bound: bound.map(|bound| bound.name.clone()) }
            }
        }
    }

    /// How far a key has come that was decided about before.
    pub(crate) fn stage(&self, candidate: &Candidate, action: Action) -> Stage {
        let key = self.keys.iter().find(|key| key.name_any() == candidate.name);
        let (Some(key), Some(fingerprint)) = (key, candidate.fingerprint()) else { return Stage::Recorded };
        let delivery = match &self.deployments {
            None => Delivery::NotVisible,
            Some(deployments) => {
                let trustee =
                    deployments.iter().find(|deployment| deployment.name_any() == TRUSTEE_DEPLOYMENT);
                Delivery::of(trustee.map(Arc::as_ref), fingerprint)
            }
        };
        stage::standing(action, key, 0, delivery).stage
    }
}

fn verdict(key: &AttestationKey) -> Option<(bool, String, String)> {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let approved = condition::find(conditions, APPROVED)?;
    Some((approved.status == "True", approved.reason.clone(), approved.message.clone()))
}

fn other(key: &AttestationKey) -> Other {
    let fingerprint = PublicKey::from_pem(&key.spec.public_key).ok().map(|key| key.fingerprint().clone());
    let verdict = verdict(key);
    // An approval of another fingerprint than the key's has no effect; a denial counts whatever it names.
    let effective = key.spec.approval.as_ref().filter(|approval| {
        approval.decision == Decision::Denied
            || Some(&approval.fingerprint) == fingerprint.as_ref().map(ToString::to_string).as_ref()
    });
    Other {
        name: key.name_any(),
        uuid: key.spec.uuid.clone(),
        is_trusted: verdict.as_ref().is_some_and(|(is_trusted, ..)| *is_trusted),
        decision: effective.map(|approval| approval.decision),
        reason: verdict.map(|(_, reason, _)| reason).unwrap_or_default(),
        fingerprint,
    }
}
