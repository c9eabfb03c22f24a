//! Metadata-only view of any kind.
//!
//! Owns the one decision that keeps contents off the wire: `metadata_api()` is true, so kube asks the API server
//! for `PartialObjectMetadata` and nothing else of the object is ever sent to this process.

use std::{borrow::Cow, fmt, marker::PhantomData};

use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::Resource;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The metadata of an object of kind `K`, and nothing else of it.
///
/// A cache of `Metadata<K>` receives names, labels, annotations, owner references, uids and resource versions;
/// spec, status and data never reach this process.
pub struct Metadata<K> {
    /// Metadata as the server sent it, without managed fields and last-applied configuration.
    pub metadata: ObjectMeta,
    kind: PhantomData<fn() -> K>,
}

/// Metadata of Secrets: enough to know that they exist and to whom they belong, never what is in them.
pub type SecretMeta = Metadata<Secret>;

impl<K> Metadata<K> {
    /// Wraps metadata, for tests and for objects known from elsewhere.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self { metadata, kind: PhantomData }
    }
}

impl<K> Clone for Metadata<K> {
    fn clone(&self) -> Self {
        Self::new(self.metadata.clone())
    }
}

impl<K> fmt::Debug for Metadata<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata").field("metadata", &self.metadata).finish()
    }
}

impl<K> Serialize for Metadata<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut partial = serializer.serialize_struct("PartialObjectMetadata", 1)?;
        partial.serialize_field("metadata", &self.metadata)?;
        partial.end()
    }
}

impl<'de, K> Deserialize<'de> for Metadata<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Partial {
            #[serde(default)]
            metadata: ObjectMeta,
        }
        Partial::deserialize(deserializer).map(|partial| Self::new(partial.metadata))
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Metadata<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn metadata_api() -> bool {
        true
    }

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
