//! What a cache holds: the kind's trait bounds and the part of the cluster it looks at.

use std::fmt::Debug;

use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use crate::guard::Guard;

/// Any kind a cache can hold. Implemented for every type that meets the bounds, so there is nothing to write.
pub trait Cached:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K> Cached for K where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

/// The objects of a kind that a cache or a one-shot list looks at.
///
/// ```
/// use cachelib::Source;
/// let source = Source::namespaced("default").labels("app=web");
/// assert_eq!(source.to_string(), "namespace default, labels app=web");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Source {
    pub(crate) namespace: Option<String>,
    pub(crate) labels: Option<String>,
}

impl Source {
    /// All objects of a kind: cluster-scoped ones, or those of every namespace.
    pub fn all() -> Self {
        Self::default()
    }

    /// The objects of one namespace.
    pub fn namespaced(namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), labels: None }
    }

    /// Only objects that match a label selector, in the form of `kubectl -l`.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// The one namespace looked at, if there is one.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The label selector, if there is one.
    pub fn label_selector(&self) -> Option<&str> {
        self.labels.as_deref()
    }

    /// The request builder for the guarded kind. The guard has a dynamic scope, so one constructor serves both
    /// namespaced and cluster-scoped kinds.
    pub(crate) fn api<K: Cached>(&self, client: Client) -> Api<Guard<K>> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &()),
            None => Api::all_with(client, &()),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "namespace {namespace}")?,
            None => f.write_str("whole cluster")?,
        }
        match &self.labels {
            Some(labels) => write!(f, ", labels {labels}"),
            None => Ok(()),
        }
    }
}

/// The resource as people and RBAC rules name it: `machines.example.org`, or `pods` in the core group.
pub(crate) fn resource_name<K: Resource<DynamicType = ()>>() -> String {
    let (plural, group) = (K::plural(&()), K::group(&()));
    if group.is_empty() { plural.into_owned() } else { format!("{plural}.{group}") }
}

/// The uids of an object's owners: the extractor for an index of children by owner.
///
/// ```no_run
/// # fn register(builder: &mut cachelib::Builder) -> Result<(), cachelib::BuildError> {
/// use cachelib::{SecretMeta, Source};
/// let secrets = builder.cache::<SecretMeta>(Source::all()).index("owner", cachelib::owner_uids).build()?;
/// # let _ = secrets; Ok(())
/// # }
/// ```
pub fn owner_uids<K: Resource>(object: &K) -> Vec<String> {
    object.meta().owner_references.iter().flatten().map(|owner| owner.uid.clone()).collect()
}
