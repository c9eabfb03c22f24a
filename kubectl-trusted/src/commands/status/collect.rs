//! One LIST per kind, all at once, and what to make of those that are refused.
//!
//! Owns which refusals end the command and which only make the picture incomplete.

use cachelib::{Cached, Key, Source, oneshot};
use k8s_openapi::api::apps::v1::Deployment;
use serde::Serialize;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};

/// A right that was missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Incomplete {
    pub(crate) verb: &'static str,
    pub(crate) resource: String,
    /// Empty for all namespaces.
    pub(crate) namespace: String,
    /// What has to be granted or done, in words.
    pub(crate) need: String,
    /// The command that checks it.
    pub(crate) check: String,
    #[serde(skip)]
    pub(crate) forbidden: bool,
}

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
    pub(crate) clusters: Option<Vec<TrustedExecutionCluster>>,
    pub(crate) machines: Option<Vec<Machine>>,
    pub(crate) attestation_keys: Option<Vec<AttestationKey>>,
    pub(crate) approved_images: Option<Vec<ApprovedImage>>,
    pub(crate) deployments: Option<Vec<Deployment>>,
    pub(crate) unreadable: Vec<Unreadable>,
    pub(crate) incomplete: Vec<Incomplete>,
}

pub(crate) async fn collect(connection: &Connection, namespace: Option<&str>) -> Result<Seen> {
    let ours = source(namespace);
    let managed = source(namespace).labels(format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
    let (clusters, machines, keys, images, deployments) = futures::join!(
        Box::pin(list::<TrustedExecutionCluster>(connection, &ours)),
        Box::pin(list::<Machine>(connection, &ours)),
        Box::pin(list::<AttestationKey>(connection, &ours)),
        Box::pin(list::<ApprovedImage>(connection, &ours)),
        Box::pin(list::<Deployment>(connection, &managed)),
    );
    not_installed([&clusters.outcome(), &machines.outcome(), &keys.outcome(), &images.outcome()])?;
    let mut seen = Seen::default();
    seen.clusters = seen.take(clusters)?;
    seen.machines = seen.take(machines)?;
    seen.attestation_keys = seen.take(keys)?;
    seen.approved_images = seen.take(images)?;
    seen.deployments = seen.take(deployments)?;
    Ok(seen)
}

fn source(namespace: Option<&str>) -> Source {
    namespace.map_or_else(Source::all, Source::namespaced)
}

/// One kind's list and the attempt it came from.
struct Answer<K> {
    attempt: Attempt,
    listed: Result<oneshot::Listed<K>>,
}

impl<K> Answer<K> {
    fn outcome(&self) -> Option<Error> {
        self.listed.as_ref().err().cloned()
    }
}

async fn list<K: Cached>(connection: &Connection, source: &Source) -> Answer<K> {
    let attempt = Attempt::on::<K>("list", source.namespace());
    let listed = connection.ask(&attempt, oneshot::list::<K>(connection.client.clone(), source)).await;
    Answer { attempt, listed }
}

/// Without a single one of our kinds there is nothing to show. With some of them the others are named.
fn not_installed(outcomes: [&Option<Error>; 4]) -> Result<()> {
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
    fn take<K: Cached>(&mut self, answer: Answer<K>) -> Result<Option<Vec<K>>> {
        match answer.listed {
            Ok(listed) => {
                let kind = K::kind(&());
                self.unreadable.extend(listed.malformed.into_iter().map(|(key, problem)| Unreadable {
                    kind: kind.to_string(),
                    key,
                    problem,
                }));
                Ok(Some(listed.objects))
            }
            Err(error) => {
                self.incomplete.push(incomplete(&answer.attempt, &error).ok_or(error)?);
                Ok(None)
            }
        }
    }
}

fn incomplete(attempt: &Attempt, error: &Error) -> Option<Incomplete> {
    let (need, check) = match error.class {
        Class::Forbidden => (format!("the right to {}", attempt.need()), attempt.can_i()),
        Class::NotInstalled => {
            (format!("the CRD {}", attempt.resource), format!("kubectl get crd {}", attempt.resource))
        }
        Class::Server => (
            format!("an answer to {}: {}", attempt.need(), error.what),
            format!("kubectl get {}", attempt.resource),
        ),
        _ => return None,
    };
    Some(Incomplete {
        verb: attempt.verb,
        resource: attempt.resource.clone(),
        namespace: attempt.namespace.clone().unwrap_or_default(),
        need,
        check,
        forbidden: error.class == Class::Forbidden,
    })
}
