//! What the machine controller calls one unit of work, and which change concerns which.

use std::collections::HashSet;
use std::fmt::{self, Display};

use cachelib::Subscription;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use kube::ResourceExt;
use trusted_crds::names;
use trusted_crds::{AttestationKey, Decision, Fingerprint, Machine, TrustedExecutionCluster};

use crate::context::{Caches, Context};
use crate::facts;
use crate::secret::SecretRecord;

/// One unit of work. Machine and keys that name each other are one, so that "the Machine appeared" and "the key
/// appeared" cannot race.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The Machines and the AttestationKeys of one machine id.
    Machine(String),
    /// The AttestationKeys of one fingerprint that name no machine.
    Fingerprint(Fingerprint),
    /// An AttestationKey that names no machine and holds no key.
    Unusable(String),
}

impl Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Machine(id) => write!(f, "machine id {id}"),
            Subject::Fingerprint(fingerprint) => write!(f, "key {fingerprint}"),
            Subject::Unusable(name) => write!(f, "AttestationKey {name}"),
        }
    }
}

impl Subject {
    /// The unit of work that an AttestationKey belongs to. Its uuid and key are immutable, so this never changes.
    pub fn of_key(key: &AttestationKey) -> Self {
        match &key.spec.uuid {
            Some(uuid) if names::is_label(uuid) => Subject::Machine(uuid.clone()),
            _ => match key.public_key() {
                Ok(public_key) => Subject::Fingerprint(public_key.fingerprint().clone()),
                Err(_) => Subject::Unusable(key.name_any()),
            },
        }
    }

    /// Name of the Secret that records which key is trusted here; `None` where none can be.
    pub fn binding_secret(&self) -> Option<String> {
        match self {
            Subject::Machine(id) => Some(names::binding_secret(id)),
            Subject::Fingerprint(fingerprint) => Some(names::binding_secret_without_machine(fingerprint)),
            Subject::Unusable(_) => None,
        }
    }

    /// The unit of work that a Secret of this name belongs to, if its name is one of ours.
    fn of_secret_name(name: &str) -> Option<Self> {
        let id = names::machine_of_disk_key(name).or_else(|| names::machine_of_binding(name));
        id.map(|id| Subject::Machine(id.to_owned()))
            .or_else(|| names::fingerprint_of_binding(name).map(Subject::Fingerprint))
    }
}

/// What a change touches, before it is resolved into subjects with the stores' help.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Touched {
    Subject(Subject),
    /// Everything that has to do with this key: it was denied, bound or freed somewhere.
    Fingerprint(Fingerprint),
    /// The served cluster, its policy or its retention.
    Everything,
}

/// The subjects that changes of the stores concern.
pub fn triggers(ctx: &Context) -> Vec<BoxStream<'static, Subject>> {
    let caches = &ctx.caches;
    let subscriptions = [
        caches.machines.subscribe(touched_by_machine),
        caches.attestation_keys.subscribe(touched_by_key),
        caches.secrets.subscribe(touched_by_secret),
        caches.clusters.subscribe(touched_by_cluster),
    ];
    let resolve = |subscription| {
        let caches = caches.clone();
        let changes = Subscription::into_stream(subscription);
        changes.flat_map(move |touched| stream::iter(subjects(&caches, touched))).boxed()
    };
    let mut triggers: Vec<_> = subscriptions.into_iter().map(resolve).collect();
    triggers.push(served_cluster_changes(ctx));
    triggers
}

/// Which cluster is served depends on who owns its children, so that it may change without any change of a cluster.
fn served_cluster_changes(ctx: &Context) -> BoxStream<'static, Subject> {
    let caches = ctx.caches.clone();
    let changes = facts::changes(ctx.facts.watch_served_cluster());
    changes.flat_map(move |()| stream::iter(subjects(&caches, Touched::Everything))).boxed()
}

fn subjects(caches: &Caches, touched: Touched) -> HashSet<Subject> {
    match touched {
        Touched::Subject(subject) => HashSet::from([subject]),
        Touched::Fingerprint(fingerprint) => {
            let value = fingerprint.to_string();
            let keys = caches.keys_by_fingerprint.get(&value);
            let secrets = caches.secrets_by_fingerprint.get(&value);
            let of_secrets = secrets.iter().filter_map(|secret| Subject::of_secret_name(secret.name()));
            keys.iter().map(|key| Subject::of_key(key)).chain(of_secrets).collect()
        }
        Touched::Everything => {
            let machines = caches.machines.list();
            let keys = caches.attestation_keys.list();
            let of_machines = machines.iter().map(|machine| Subject::Machine(machine.spec.id.clone()));
            of_machines.chain(keys.iter().map(|key| Subject::of_key(key))).collect()
        }
    }
}

fn touched_by_machine(old: Option<&Machine>, new: Option<&Machine>) -> Vec<Touched> {
    let ids = old.into_iter().chain(new).map(|machine| &machine.spec.id);
    // An id from before ids were checked cannot be part of the name of a Secret.
    ids.filter(|id| names::is_label(id)).map(|id| Touched::Subject(Subject::Machine(id.clone()))).collect()
}

fn touched_by_key(old: Option<&AttestationKey>, new: Option<&AttestationKey>) -> Vec<Touched> {
    let mut touched: Vec<Touched> =
        old.into_iter().chain(new).map(|key| Touched::Subject(Subject::of_key(key))).collect();
    // A denial, which may also come to name the right fingerprint or cease to, concerns every bearer of the key.
    let denial = |key: Option<&AttestationKey>| {
        let approval = key.and_then(|key| key.spec.approval.as_ref());
        approval.filter(|approval| approval.decision == Decision::Denied).map(|a| a.fingerprint.clone())
    };
    if denial(old) != denial(new)
        && let Some(key) = new.or(old)
        && let Ok(public_key) = key.public_key()
    {
        touched.push(Touched::Fingerprint(public_key.fingerprint().clone()));
    }
    touched
}

fn touched_by_secret(old: Option<&SecretRecord>, new: Option<&SecretRecord>) -> Vec<Touched> {
    let mut touched = Vec::new();
    for secret in old.into_iter().chain(new) {
        let name = secret.name();
        touched.extend(Subject::of_secret_name(name).map(Touched::Subject));
        // The existing operator names a disk key exactly like its machine.
        if (secret.belongs_to_machine() || secret.is_managed()) && names::is_label(name) {
            touched.push(Touched::Subject(Subject::Machine(name.to_owned())));
        }
    }
    let expiring = |secret: Option<&SecretRecord>| secret.is_some_and(SecretRecord::is_deleting);
    if old.is_some() != new.is_some() || expiring(old) != expiring(new) {
        touched.extend(old.or(new).and_then(SecretRecord::fingerprint).map(Touched::Fingerprint));
    }
    touched
}

fn touched_by_cluster(
    old: Option<&TrustedExecutionCluster>,
    new: Option<&TrustedExecutionCluster>,
) -> Vec<Touched> {
    let decisive = |cluster: Option<&TrustedExecutionCluster>| {
        cluster.map(|c| (c.spec.clone(), c.uid(), c.metadata.deletion_timestamp.is_some()))
    };
    if decisive(old) == decisive(new) { Vec::new() } else { vec![Touched::Everything] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_lead_back_to_their_subject() {
        let hex = "ab".repeat(32);
        let fingerprint: Fingerprint = format!("sha256:{hex}").parse().unwrap();
        for subject in [Subject::Machine("m-1".into()), Subject::Fingerprint(fingerprint)] {
            let name = subject.binding_secret().unwrap();
            assert_eq!(Subject::of_secret_name(&name), Some(subject));
        }
        assert_eq!(Subject::of_secret_name("luks-m-1"), Some(Subject::Machine("m-1".into())));
        assert_eq!(Subject::of_secret_name("ak-fp-short"), Some(Subject::Machine("fp-short".into())));
        for foreign in ["tls", "luks-", "ak-", "luks-Upper", "ak-a.b"] {
            assert_eq!(Subject::of_secret_name(foreign), None, "{foreign}");
        }
    }
}
