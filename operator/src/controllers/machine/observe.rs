//! Puts together what is known about one subject, from the stores alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube::{Resource, ResourceExt};
use trusted_crds::condition::{APPROVAL_PROTECTED, APPROVED, KEY_READY};
use trusted_crds::names;
use trusted_crds::{AttestationKey, Fingerprint, HasConditions, Machine, TrustedExecutionCluster, reason};

use super::situation::{
    Age, Binding, BindingOwner, ByHand, Cluster, DiskKeyOwner, DiskKeySecret, KeyFacts, MachineFacts,
    Situation,
};
use super::subject::Subject;
use crate::context::{Caches, Context};
use crate::facts::Protection;
use crate::former;
use crate::owner::is_ours;
use crate::secret::{OwnerKind, SecretRecord};

/// A subject as the stores show it: the facts to decide on and the objects to write to.
pub struct Observed {
    pub situation: Situation,
    /// In the order of `situation.machines`.
    pub machines: Vec<Arc<Machine>>,
    /// In the order of `situation.keys`.
    pub keys: Vec<Arc<AttestationKey>>,
    /// The Secrets of the subject that exist.
    pub secrets: Vec<Arc<SecretRecord>>,
}

/// Reads a subject from the stores. `None` while an own write to it is not visible there yet, or while it is not known
/// yet which cluster is served.
pub fn observe(ctx: &Context, subject: &Subject) -> Option<Observed> {
    let caches = &ctx.caches;
    let cluster = ctx.served_cluster()?;
    let (machines, keys) = objects(ctx, subject);
    let names = secret_names(subject);
    let secrets_current = names.iter().all(|name| caches.secrets.is_current(&ctx.key(name)));
    let machines_current = machines.iter().all(|m| caches.machines.is_current(&ctx.key(&m.name_any())));
    let keys_current = keys.iter().all(|k| caches.attestation_keys.is_current(&ctx.key(&k.name_any())));
    if !(secrets_current && machines_current && keys_current) {
        return None;
    }
    // Read anew, after the question: what was read before it may be older than the answer.
    let (machines, keys) = objects(ctx, subject);
    let secrets: Vec<_> = names.iter().filter_map(|name| caches.secrets.get(&ctx.key(name))).collect();
    let named = |name: &Option<String>| {
        let name = name.as_deref()?;
        secrets.iter().find(|secret| secret.name() == name)
    };
    let machine_id = match subject {
        Subject::Machine(id) => Some(id.clone()),
        Subject::Fingerprint(_) | Subject::Unusable(_) => None,
    };
    let binding = named(&subject.binding_secret()).map(|secret| binding(ctx, secret));
    let key_facts: Vec<KeyFacts> = keys.iter().map(|key| key_facts(caches, key)).collect();
    let fingerprints: BTreeSet<Fingerprint> = key_facts
        .iter()
        .filter_map(|key| key.key.clone().ok())
        .chain(binding.iter().filter_map(|binding| binding.fingerprint.clone()))
        .collect();
    let situation = Situation {
        cluster: cluster.map(|cluster| cluster_facts(ctx, &cluster)),
        machines: machines.iter().map(|machine| machine_facts(machine)).collect(),
        keys: key_facts,
        elsewhere: elsewhere(ctx, subject, &fingerprints),
        denied: fingerprints.into_iter().filter(|fingerprint| is_denied(caches, fingerprint)).collect(),
        binding,
        disk_key: named(&machine_id.as_deref().map(names::disk_key_secret)).map(|secret| disk_key(secret)),
        former_disk_key: named(&machine_id).map(|secret| disk_key(secret)),
        machine_id,
        by_hand: ByHand::Unknown,
    };
    Some(Observed { situation, machines, keys, secrets })
}

fn objects(ctx: &Context, subject: &Subject) -> (Vec<Arc<Machine>>, Vec<Arc<AttestationKey>>) {
    let caches = &ctx.caches;
    match subject {
        Subject::Machine(id) => (caches.machines_by_id.get(id), caches.keys_by_uuid.get(id)),
        Subject::Fingerprint(fingerprint) => {
            let mut keys = caches.keys_by_fingerprint.get(&fingerprint.to_string());
            keys.retain(|key| Subject::of_key(key) == *subject);
            (Vec::new(), keys)
        }
        Subject::Unusable(name) => {
            (Vec::new(), caches.attestation_keys.get(&ctx.key(name)).into_iter().collect())
        }
    }
}

fn secret_names(subject: &Subject) -> Vec<String> {
    let mut names: Vec<String> = subject.binding_secret().into_iter().collect();
    if let Subject::Machine(id) = subject {
        names.extend([names::disk_key_secret(id), id.clone()]);
    }
    names
}

fn cluster_facts(ctx: &Context, cluster: &TrustedExecutionCluster) -> Cluster {
    let told = cluster.condition(APPROVAL_PROTECTED).is_some_and(|told| told.reason != reason::NOT_CHECKED);
    Cluster {
        policy: cluster.spec.approval_policy(),
        retention: cluster.spec.retention(),
        protection_unknown: !told && ctx.facts.approval_protected() == Protection::NotChecked,
    }
}

fn age(object: &impl Resource) -> Age {
    let meta = object.meta();
    let created_second = meta.creation_timestamp.as_ref().map(|time| time.0.as_second());
    age_of(created_second, meta.uid.as_deref().unwrap_or_default())
}

fn age_of(created_second: Option<i64>, uid: &str) -> Age {
    Age { created_second: created_second.unwrap_or(i64::MAX), uid: uid.to_owned() }
}

fn machine_facts(machine: &Machine) -> MachineFacts {
    MachineFacts {
        name: machine.name_any(),
        uid: machine.uid().unwrap_or_default(),
        age: age(machine),
        deleting: machine.metadata.deletion_timestamp.is_some(),
        key_ready_reason: machine.condition(KEY_READY).map(|condition| condition.reason.clone()),
    }
}

fn key_facts(caches: &Caches, key: &AttestationKey) -> KeyFacts {
    let (machines, others): (Vec<_>, Vec<_>) =
        key.owner_references().iter().partition(|owner| is_ours::<Machine>(owner));
    KeyFacts {
        name: key.name_any(),
        age: age(key),
        deleting: key.metadata.deletion_timestamp.is_some(),
        key: key.public_key().map(|public_key| public_key.fingerprint().clone()),
        approval: key.spec.approval.as_ref().map(|a| (a.decision, a.fingerprint.clone())),
        owner_machines: machines.into_iter().map(|owner| owner.uid.clone()).collect(),
        other_owners: others.len(),
        reason: key.condition(APPROVED).map(|condition| condition.reason.clone()),
        formerly_trusted: former::record_in_force(caches, key).is_some(),
    }
}

/// Whether any AttestationKey with this key carries a denial that was made for it.
fn is_denied(caches: &Caches, fingerprint: &Fingerprint) -> bool {
    let bearers = caches.keys_by_fingerprint.get(fingerprint.as_str());
    bearers.iter().any(|key| key.is_denied(fingerprint))
}

fn binding(ctx: &Context, secret: &SecretRecord) -> Binding {
    let (fingerprint, owner) = match binding_owner(ctx, secret) {
        Some(owner) if secret.is_managed() => (secret.fingerprint(), owner),
        // Not one of ours, and so here to stay.
        _ => (None, BindingOwner::Live),
    };
    Binding {
        secret: secret.name().to_owned(),
        uid: secret.uid().to_owned(),
        age: age_of(secret.created_second(), secret.uid()),
        fingerprint,
        by_hand: secret.is_bound_by_hand(),
        owner: if secret.is_deleting() { BindingOwner::Leaving } else { owner },
    }
}

/// Whom a binding belongs to; `None` if to something that owns no binding of ours.
fn binding_owner(ctx: &Context, secret: &SecretRecord) -> Option<BindingOwner> {
    let [owner] = secret.owners() else {
        return secret.owners().is_empty().then_some(BindingOwner::Nobody);
    };
    if owner.kind != OwnerKind::AttestationKey {
        return None;
    }
    let is_live = ctx.caches.attestation_keys.get(&ctx.key(&owner.name)).is_some_and(|held| {
        held.metadata.uid.as_deref() == Some(&*owner.uid) && held.metadata.deletion_timestamp.is_none()
    });
    Some(if is_live { BindingOwner::Live } else { BindingOwner::Leaving })
}

fn elsewhere(ctx: &Context, subject: &Subject, fingerprints: &BTreeSet<Fingerprint>) -> Vec<Binding> {
    let own = subject.binding_secret();
    let holding = |fingerprint: &Fingerprint| ctx.caches.secrets_by_fingerprint.get(fingerprint.as_str());
    fingerprints
        .iter()
        .flat_map(holding)
        .filter(|secret| secret.is_managed() && Some(secret.name()) != own.as_deref())
        .map(|secret| binding(ctx, &secret))
        .collect()
}

fn disk_key(secret: &SecretRecord) -> DiskKeySecret {
    let owner = match secret.owners() {
        [] => DiskKeyOwner::Nobody,
        [owner] if owner.kind == OwnerKind::Machine => DiskKeyOwner::Machine(owner.uid.to_string()),
        _ => DiskKeyOwner::Other,
    };
    DiskKeySecret {
        secret: secret.name().to_owned(),
        managed: secret.is_managed(),
        deleting: secret.is_deleting(),
        owner,
    }
}
