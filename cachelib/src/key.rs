//! Names of objects within one kind.

use std::fmt;

use kube::Resource;
use serde::{Serialize, Serializer};

/// Name of an object within its kind: namespace and name.
///
/// The namespace is empty for cluster-scoped objects. Keys order by namespace, then by name.
///
/// ```
/// let key = cachelib::Key::new("default", "web");
/// assert_eq!(key.to_string(), "default/web");
/// assert_eq!(cachelib::Key::cluster("node-1").to_string(), "node-1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Namespace, empty for a cluster-scoped object.
    pub namespace: String,
    /// Name within the namespace.
    pub name: String,
}

impl Key {
    /// Key of a namespaced object.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// Key of a cluster-scoped object.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self::new("", name)
    }

    /// Key of any object that has metadata; parts that are missing are empty.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// As text, in the form of `Display`.
impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
