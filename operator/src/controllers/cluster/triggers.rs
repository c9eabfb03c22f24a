//! Which changes bring which clusters up. A change that no cluster reports costs nothing.

use cachelib::{Cache, Cached, Subscription};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use kube::ResourceExt;
use tokio::sync::watch;
use trusted_crds::{AttestationKey, KeyState, TrustedExecutionCluster};

use super::tls::TlsUse;
use crate::child::{ChildKind, Folded};
use crate::context::Context;
use crate::facts;
use crate::secret::SecretRecord;

type Clusters = Cache<TrustedExecutionCluster>;

/// Names of the clusters to look at, as changes come in.
pub(super) fn triggers(ctx: &Context) -> Vec<BoxStream<'static, String>> {
    let (caches, clusters) = (&ctx.caches, &ctx.caches.clusters);
    vec![
        every_cluster(clusters),
        child_changes(&caches.services, clusters),
        child_changes(&caches.deployments, clusters),
        child_changes(&caches.config_maps, clusters),
        counted(&caches.machines, clusters, |_, _| false),
        counted(&caches.approved_images, clusters, |_, _| false),
        counted(&caches.attestation_keys, clusters, |old: &AttestationKey, new| {
            KeyState::of(old) != KeyState::of(new)
        }),
        tls_changes(&caches.secrets, clusters),
        fact_changes(ctx.facts.watch_approval_protected(), clusters),
        fact_changes(ctx.facts.watch_trustee_obstacles(), clusters),
    ]
}

/// Which cluster is served, and so the state of each, depends on all of them.
fn every_cluster(clusters: &Clusters) -> BoxStream<'static, String> {
    let others = clusters.clone();
    into_events(clusters.subscribe(move |old: Option<&TrustedExecutionCluster>, new| {
        let mut names = names(&others);
        names.extend(new.or(old).map(ResourceExt::name_any));
        names
    }))
}

fn child_changes<K: ChildKind>(
    children: &Cache<Folded<K>>,
    clusters: &Clusters,
) -> BoxStream<'static, String> {
    let clusters = clusters.clone();
    into_events(children.subscribe(move |_: Option<&Folded<K>>, _: Option<&Folded<K>>| names(&clusters)))
}

/// Objects of which only the number is reported, in all or by what `regrouped` compares.
fn counted<K: Cached>(
    objects: &Cache<K>,
    clusters: &Clusters,
    regrouped: impl Fn(&K, &K) -> bool + Send + Sync + 'static,
) -> BoxStream<'static, String> {
    let clusters = clusters.clone();
    into_events(objects.subscribe(move |old: Option<&K>, new: Option<&K>| match (old, new) {
        (Some(old), Some(new)) if !regrouped(old, new) => Vec::new(),
        _ => names(&clusters),
    }))
}

/// A Secret concerns the clusters that name it.
fn tls_changes(secrets: &Cache<SecretRecord>, clusters: &Clusters) -> BoxStream<'static, String> {
    let clusters = clusters.clone();
    into_events(secrets.subscribe(move |old: Option<&SecretRecord>, new: Option<&SecretRecord>| {
        let Some(secret) = new.or(old).map(SecretRecord::name) else { return Vec::new() };
        let naming =
            |cluster: &TrustedExecutionCluster| TlsUse::all(&cluster.spec).any(|tls| tls.secret == secret);
        clusters.list().iter().filter(|cluster| naming(cluster)).map(|cluster| cluster.name_any()).collect()
    }))
}

fn fact_changes<T: Send + Sync + 'static>(
    fact: watch::Receiver<T>,
    clusters: &Clusters,
) -> BoxStream<'static, String> {
    let clusters = clusters.clone();
    facts::changes(fact).flat_map(move |()| stream::iter(names(&clusters))).boxed()
}

fn names(clusters: &Clusters) -> Vec<String> {
    clusters.list().iter().map(|cluster| cluster.name_any()).collect()
}

fn into_events(subscription: Subscription<String>) -> BoxStream<'static, String> {
    subscription.into_stream().boxed()
}
