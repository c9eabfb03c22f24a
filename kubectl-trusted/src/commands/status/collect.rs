//! One LIST per kind, all at once, and what to make of those that are refused.
//!
//! Owns which refusals end the command and which only make the picture incomplete.

use std::sync::Arc;

use cachelib::{Cache, Cached, Key, Source, Subscription};
use k8s_openapi::api::apps::v1::Deployment;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use crate::connect::{Connection, Listed, Lists, attempt};
use crate::error::{Class, Error, Incomplete, Result};

/// An object that is there but cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) kind: String,
    pub(crate) key: Key,
    pub(crate) problem: String,
}

/// What was seen; `None` for a kind that may not be.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) clusters: Option<Vec<Arc<TrustedExecutionCluster>>>,
    pub(crate) machines: Option<Vec<Arc<Machine>>>,
    pub(crate) attestation_keys: Option<Vec<Arc<AttestationKey>>>,
    pub(crate) approved_images: Option<Vec<Arc<ApprovedImage>>>,
    pub(crate) deployments: Option<Vec<Arc<Deployment>>>,
    pub(crate) unreadable: Vec<Unreadable>,
    pub(crate) incomplete: Vec<Incomplete>,
}

/// The kinds that are looked at, registered for one namespace or all.
pub(crate) struct Kinds {
    clusters: Cache<TrustedExecutionCluster>,
    machines: Cache<Machine>,
    keys: Cache<AttestationKey>,
    images: Cache<ApprovedImage>,
    deployments: Cache<Deployment>,
}

impl Kinds {
    pub(crate) fn register(lists: &mut Lists<'_>, namespace: Option<&str>) -> Result<Kinds> {
        let managed = source(namespace).labels(format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
        Ok(Kinds {
            clusters: lists.add(source(namespace))?,
            machines: lists.add(source(namespace))?,
            keys: lists.add(source(namespace))?,
            images: lists.add(source(namespace))?,
            deployments: lists.add(managed)?,
        })
    }

    /// A subscription to each kind.
    pub(crate) fn subscriptions(&self) -> [Subscription<()>; 5] {
        [
            subscribed(&self.clusters),
            subscribed(&self.machines),
            subscribed(&self.keys),
            subscribed(&self.images),
            subscribed(&self.deployments),
        ]
    }

    /// Puts what the caches hold into what was seen; a kind that has not been listed stays as it was.
    pub(crate) fn refresh(&self, seen: &mut Seen) {
        refresh(&self.clusters, &mut seen.clusters);
        refresh(&self.machines, &mut seen.machines);
        refresh(&self.keys, &mut seen.attestation_keys);
        refresh(&self.images, &mut seen.approved_images);
        refresh(&self.deployments, &mut seen.deployments);
    }
}

fn subscribed<K: Cached>(cache: &Cache<K>) -> Subscription<()> {
    cache.subscribe(|_, _| vec![()])
}

fn refresh<K: Cached>(cache: &Cache<K>, seen: &mut Option<Vec<Arc<K>>>) {
    if cache.readiness().borrow().is_synced() {
        *seen = Some(cache.list());
    }
}

pub(crate) async fn collect(connection: &Connection, namespace: Option<&str>) -> Result<Seen> {
    let mut lists = connection.lists();
    let kinds = Kinds::register(&mut lists, namespace)?;
    let listed = lists.load().await;
    not_installed(&[
        listed.error(&kinds.clusters),
        listed.error(&kinds.machines),
        listed.error(&kinds.keys),
        listed.error(&kinds.images),
    ])?;
    let mut seen = Seen::default();
    seen.clusters = seen.take(&listed, &kinds.clusters)?;
    seen.machines = seen.take(&listed, &kinds.machines)?;
    seen.attestation_keys = seen.take(&listed, &kinds.keys)?;
    seen.approved_images = seen.take(&listed, &kinds.images)?;
    seen.deployments = seen.take(&listed, &kinds.deployments)?;
    Ok(seen)
}

/// The same for several namespaces at once; none named stands for all of them.
pub(crate) async fn collect_all(connection: &Connection, namespaces: &[String]) -> Result<Vec<Seen>> {
    if namespaces.is_empty() {
        return Ok(vec![Box::pin(collect(connection, None)).await?]);
    }
    let each = namespaces.iter().map(|namespace| Box::pin(collect(connection, Some(namespace))));
    futures::future::try_join_all(each).await
}

fn source(namespace: Option<&str>) -> Source {
    namespace.map_or_else(Source::all, Source::namespaced)
}

/// Without a single one of our kinds there is nothing to show. With some of them the others are named.
fn not_installed(outcomes: &[Option<Error>]) -> Result<()> {
    if outcomes.iter().all(|outcome| outcome.as_ref().is_some_and(|error| error.class == Class::NotInstalled))
    {
        return Err(Error::new(
            Class::NotInstalled,
            format!(
                "the API server does not know the kinds of {}: the CRDs are not installed",
                trusted_crds::GROUP
            ),
        )
        .next("install them (kubectl apply -k deploy), or choose another cluster with --context"));
    }
    Ok(())
}

impl Seen {
    /// Everything may be seen, and there is nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.incomplete.is_empty()
            && self.unreadable.is_empty()
            && self.clusters.as_ref().is_none_or(Vec::is_empty)
            && self.machines.as_ref().is_none_or(Vec::is_empty)
            && self.attestation_keys.as_ref().is_none_or(Vec::is_empty)
            && self.approved_images.as_ref().is_none_or(Vec::is_empty)
    }

    /// What may not be seen is noted; a server that does not answer at all ends the command.
    fn take<K: Cached>(&mut self, listed: &Listed<'_>, cache: &Cache<K>) -> Result<Option<Vec<Arc<K>>>> {
        if let Some(error) = listed.error(cache) {
            self.incomplete.push(Incomplete::of(&attempt(cache), &error).ok_or(error)?);
            return Ok(None);
        }
        let kind = K::kind(&());
        let unreadable = cache.malformed().into_iter();
        self.unreadable.extend(unreadable.map(|(key, problem)| Unreadable {
            kind: kind.to_string(),
            key,
            problem,
        }));
        Ok(Some(cache.list()))
    }
}
