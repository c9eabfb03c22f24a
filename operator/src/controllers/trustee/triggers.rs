//! Which changes concern Trustee. One that cannot alter what is delivered costs nothing.

use std::ops::Deref;

use cachelib::Cache;
use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Resource;
use trusted_crds::names::{ATTESTATION_POLICY, TRUSTEE_DATA, TRUSTEE_DEPLOYMENT};
use trusted_crds::{AttestationKey, Machine, TrustedExecutionCluster};

use super::Trustee;
use super::observe::key_ready_reason;
use crate::child::Folded;
use crate::context::Context;
use crate::controllers::cluster::TlsUse;
use crate::facts;
use crate::secret::{OwnerKind, SecretRecord};

/// Changes that concern Trustee, as they come in.
pub(super) fn triggers(ctx: &Context) -> Vec<BoxStream<'static, Trustee>> {
    let caches = &ctx.caches;
    let clusters = caches.clusters.clone();
    vec![
        on(&caches.clusters, |_, _| true),
        facts::changes(ctx.facts.watch_served_cluster()).map(|()| Trustee).boxed(),
        on(&caches.deployments, |old, new| named(old.or(new), &[TRUSTEE_DEPLOYMENT])),
        on(&caches.config_maps, |old, new| named(old.or(new), &[TRUSTEE_DATA, ATTESTATION_POLICY])),
        on(&caches.machines, |old, new| differ(old, new, machine_facts)),
        on(&caches.attestation_keys, |old, new| differ(old, new, key_facts)),
        on(&caches.secrets, move |old, new| {
            is_key(old) && differ(old, new, secret_facts)
                || is_key(new) && differ(old, new, secret_facts)
                || is_certificate(&clusters, old.or(new))
        }),
    ]
}

fn on<K: Send + Sync + 'static>(
    store: &Cache<K>,
    concerns: impl Fn(Option<&K>, Option<&K>) -> bool + Send + Sync + 'static,
) -> BoxStream<'static, Trustee> {
    let map = move |old: Option<&K>, new: Option<&K>| {
        if concerns(old, new) { vec![Trustee] } else { Vec::new() }
    };
    store.subscribe(map).into_stream().boxed()
}

fn differ<'a, K, F: PartialEq>(old: Option<&'a K>, new: Option<&'a K>, facts: impl Fn(&'a K) -> F) -> bool {
    old.map(&facts) != new.map(&facts)
}

fn named<K: Resource>(child: Option<&Folded<K>>, names: &[&str]) -> bool {
    let object = child.map(Deref::deref);
    object.and_then(|object| object.meta().name.as_deref()).is_some_and(|name| names.contains(&name))
}

fn machine_facts(machine: &Machine) -> (Option<&str>, bool, Option<&str>) {
    let meta = &machine.metadata;
    (meta.uid.as_deref(), meta.deletion_timestamp.is_some(), key_ready_reason(machine))
}

fn key_facts(key: &AttestationKey) -> (Option<&str>, bool, Option<&trusted_crds::Approval>) {
    let meta = &key.metadata;
    (meta.uid.as_deref(), meta.deletion_timestamp.is_some(), key.spec.approval.as_ref())
}

type SecretFacts<'a> = (&'a str, bool, Vec<&'a str>, bool, Option<&'a str>);

fn secret_facts(secret: &SecretRecord) -> SecretFacts<'_> {
    let owners = secret.owners().iter().map(|owner| &*owner.uid).collect();
    (secret.uid(), secret.is_deleting(), owners, secret.is_managed(), secret.fingerprint_text())
}

/// Whether a Secret may hold a disk key or record a trusted key.
fn is_key(secret: Option<&SecretRecord>) -> bool {
    secret.is_some_and(|secret| {
        secret.is_managed() || secret.owners().iter().any(|owner| owner.kind != OwnerKind::Other)
    })
}

fn is_certificate(clusters: &Cache<TrustedExecutionCluster>, secret: Option<&SecretRecord>) -> bool {
    let Some(name) = secret.map(SecretRecord::name) else { return false };
    let naming = |cluster: &TrustedExecutionCluster| {
        TlsUse::trustee(&cluster.spec).is_some_and(|tls| tls.secret == name)
    };
    clusters.list().iter().any(|cluster| naming(cluster))
}
