//! What is to be delivered, from the stores alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use trusted_crds::condition::KEY_READY;
use trusted_crds::names::{disk_key_secret, is_binding, is_label, is_reserved};
use trusted_crds::{AttestationKey, Fingerprint, HasConditions, Machine, reason};

use super::delivery::{Source, Wanted};
use crate::child::Folded;
use crate::context::{Caches, Context, behind};
use crate::former;
use crate::secret::SecretRecord;

/// Everything that is to be delivered now.
pub fn wanted(ctx: &Context) -> Wanted {
    Wanted { disk_keys: disk_keys(ctx), attestation_keys: attestation_keys(ctx) }
}

/// Which of the stores that a delivery rests on may be behind, in words.
#[derive(Debug)]
pub struct Behind {
    secrets: Option<String>,
    machines: Option<String>,
    attestation_keys: Option<String>,
}

impl Behind {
    /// To be asked before anything is read: a store that catches up in between would vouch for what it did not show.
    pub fn now(ctx: &Context) -> Behind {
        let Caches { secrets, machines, attestation_keys, .. } = &ctx.caches;
        Behind {
            secrets: behind(secrets),
            machines: behind(machines),
            attestation_keys: behind(attestation_keys),
        }
    }

    /// The store, if any, on whose word something would be dropped that is delivered. A denial that was seen is the word
    /// of a person, and counts however old the store is.
    pub fn doubt(
        self,
        ctx: &Context,
        deployment: Option<&Folded<Deployment>>,
        wanted: &Wanted,
    ) -> Option<String> {
        let Behind { secrets, machines, attestation_keys } = self;
        if secrets.is_none() && machines.is_none() && attestation_keys.is_none() {
            return None;
        }
        let delivered = &deployment?.delivered();
        let disk_keys = wanted.drops_disk_keys(delivered);
        let is_denied = |key: &Fingerprint| {
            let bearers = ctx.caches.keys_by_fingerprint.get(key.as_str());
            bearers.iter().any(|bearer| bearer.is_denied(key))
        };
        let keys = wanted.dropped_attestation_keys(delivered).iter().any(|key| !is_denied(key));
        let secrets = secrets.filter(|_| disk_keys || keys);
        secrets.or(machines.filter(|_| disk_keys)).or(attestation_keys.filter(|_| keys))
    }
}

/// The disk key of every machine that is served.
fn disk_keys(ctx: &Context) -> Vec<Source<String>> {
    let mut machines: BTreeMap<String, Vec<Arc<Machine>>> = BTreeMap::new();
    for machine in ctx.caches.machines.list() {
        if machine.metadata.deletion_timestamp.is_none() && is_label(&machine.spec.id) {
            machines.entry(machine.spec.id.clone()).or_default().push(machine);
        }
    }
    let secret = |name: &str| ctx.caches.secrets.get(&ctx.key(name)).filter(|secret| !secret.is_deleting());
    let found = machines.into_iter().filter_map(|(id, machines)| {
        let own = secret(&disk_key_secret(&id)).filter(|secret| is_disk_key_of(secret, &machines));
        let adopted = secret(&id).filter(|secret| is_adopted_by(secret, &machines, own.is_some()));
        let used = adopted.or(own)?;
        Some(source(id, &used))
    });
    found.collect()
}

/// Every attestation key that is bound, belongs to a live AttestationKey and is not denied by any.
fn attestation_keys(ctx: &Context) -> Vec<Source<Fingerprint>> {
    let mut keys: BTreeMap<Fingerprint, Arc<SecretRecord>> = BTreeMap::new();
    for secret in ctx.caches.secrets.list() {
        let Some(fingerprint) = binding(&secret) else { continue };
        let bearers = ctx.caches.keys_by_fingerprint.get(fingerprint.as_str());
        if !is_trusted(&secret, &fingerprint, &bearers) {
            continue;
        }
        // A key bound twice for a moment is one file all the same; the older binding is the one that stays.
        let present = keys.entry(fingerprint).or_insert_with(|| secret.clone());
        if age(&secret) < age(present) {
            *present = secret;
        }
    }
    for (fingerprint, record) in formerly_trusted(ctx) {
        keys.entry(fingerprint).or_insert(record);
    }
    keys.into_iter().map(|(fingerprint, secret)| source(fingerprint, &secret)).collect()
}

/// Keys that the existing operator trusted and of which nobody has decided otherwise.
fn formerly_trusted(ctx: &Context) -> impl Iterator<Item = (Fingerprint, Arc<SecretRecord>)> {
    ctx.caches.attestation_keys.list().into_iter().filter_map(|key| {
        let record = former::record_in_force(&ctx.caches, &key)?;
        let fingerprint = key.public_key().ok()?.fingerprint().clone();
        let bearers = ctx.caches.keys_by_fingerprint.get(fingerprint.as_str());
        let denied = bearers.iter().any(|key| key.is_denied(&fingerprint));
        (!denied).then_some((fingerprint, record))
    })
}

fn source<T>(as_: T, secret: &SecretRecord) -> Source<T> {
    Source { as_, secret: secret.name().to_owned(), uid: secret.uid().to_owned() }
}

fn age(secret: &SecretRecord) -> (Option<i64>, &str) {
    (secret.created_second(), secret.uid())
}

fn is_disk_key_of(secret: &SecretRecord, machines: &[Arc<Machine>]) -> bool {
    secret.is_managed() && (secret.owners().is_empty() || is_owned_by_one_of(secret, machines))
}

/// Whether one of the machines uses a disk key that the existing operator made. While nothing was decided yet, one that
/// has no other disk key does, so that the first Deployment that replaces the existing one misses none.
fn is_adopted_by(secret: &SecretRecord, machines: &[Arc<Machine>], has_own: bool) -> bool {
    // Without an owner it was retained; our own names are never such a key.
    let retained = secret.is_managed() && secret.owners().is_empty() && !is_reserved(secret.name());
    machines.iter().any(|machine| {
        let owned = is_owned_by_one_of(secret, std::slice::from_ref(machine));
        match key_ready_reason(machine) {
            Some(reason::KEY_ADOPTED) => retained || owned,
            None => owned && !has_own,
            Some(_) => false,
        }
    })
}

/// Reason of a machine's KeyReady condition.
pub(super) fn key_ready_reason(machine: &Machine) -> Option<&str> {
    machine.condition(KEY_READY).map(|condition| condition.reason.as_str())
}

fn is_owned_by_one_of(secret: &SecretRecord, machines: &[Arc<Machine>]) -> bool {
    let is = |machine: &Arc<Machine>, uid: &str| machine.metadata.uid.as_deref() == Some(uid);
    secret.owners().iter().any(|owner| machines.iter().any(|machine| is(machine, &owner.uid)))
}

/// The key that a Secret records as trusted, if it is such a record.
fn binding(secret: &SecretRecord) -> Option<Fingerprint> {
    let is_binding = secret.is_managed() && !secret.is_deleting() && is_binding(secret.name());
    secret.fingerprint().filter(|_| is_binding)
}

/// `bearers` are all AttestationKeys with this key.
fn is_trusted(secret: &SecretRecord, fingerprint: &Fingerprint, bearers: &[Arc<AttestationKey>]) -> bool {
    let owns = |key: &Arc<AttestationKey>| {
        let uid = key.metadata.uid.as_deref();
        key.metadata.deletion_timestamp.is_none()
            && secret.owners().iter().any(|owner| Some(&*owner.uid) == uid)
    };
    bearers.iter().any(owns) && !bearers.iter().any(|key| key.is_denied(fingerprint))
}

#[cfg(test)]
mod tests;
