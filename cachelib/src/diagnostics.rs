//! What stores hold, in a form that can be compared: with another process's, and with the API server.
//!
//! Owns the checksum and the comparison with a live list. Must never tell content: names, uids and versions only.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Client, Resource};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{Cached, Key, KindStatus, ListError, Metadata, Options, Source, oneshot, store::Held};

/// Everything known of one kind. As JSON it holds no content of objects.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnostics {
    /// State and figures.
    #[serde(flatten)]
    pub status: KindStatus,
    /// [`checksum`] of the objects in the store, malformed ones included.
    pub checksum: String,
}

/// Which object it is, and in which version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Its uid.
    pub uid: String,
    /// Its resource version.
    pub version: String,
}

impl From<Held> for Identity {
    fn from(Held { uid, version, .. }: Held) -> Self {
        Self { uid, version }
    }
}

impl Identity {
    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        Self {
            uid: meta.uid.clone().unwrap_or_default(),
            version: meta.resource_version.clone().unwrap_or_default(),
        }
    }
}

/// An object that a store and the API server do not agree on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Resource with its group.
    pub kind: String,
    /// The object.
    pub key: Key,
    /// What the store holds.
    pub store: Option<Identity>,
    /// What the API server holds.
    pub server: Option<Identity>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |identity: &Option<Identity>| match identity {
            Some(Identity { uid, version }) => format!("version {version} of {uid}"),
            None => "nothing".to_owned(),
        };
        write!(f, "{} {}: ", self.kind, self.key)?;
        write!(f, "the store holds {}, the API server {}", side(&self.store), side(&self.server))
    }
}

/// The stores do not equal what the API server holds.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    /// They differ in these objects.
    #[error("{} differences between stores and API server, the first: {}", .0.len(), .0[0])]
    Differences(Vec<Difference>),
    /// The API server could not be asked.
    #[error("the API server could not be asked for {kind}")]
    Request {
        /// Resource with its group.
        kind: String,
        /// What it answered.
        #[source]
        source: ListError,
    },
}

/// A digest over keys, uids and versions, by which two sets of objects can be told equal: 16 hexadecimal digits, the
/// first of the SHA-256 of one line `namespace/name uid version` for each object in the order of keys.
pub fn checksum<'a>(objects: impl IntoIterator<Item = (&'a Key, &'a Identity)>) -> String {
    let sorted: BTreeMap<_, _> = objects.into_iter().collect();
    let mut digest = Sha256::new();
    for (key, Identity { uid, version }) in sorted {
        digest.update(format!("{}/{} {uid} {version}\n", key.namespace, key.name));
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Lists a kind by its metadata and compares. `held` is what the store holds.
pub(crate) async fn compare<K: Cached>(
    client: Client,
    source: &Source,
    kind: &str,
    held: impl FnOnce() -> BTreeMap<Key, Identity>,
) -> Result<Vec<Difference>, Mismatch> {
    let listed = oneshot::list::<Metadata<K>>(&client, source, &Options::default())
        .await
        .map_err(|source| Mismatch::Request { kind: kind.to_owned(), source })?;
    let mut server: BTreeMap<_, _> =
        listed.iter().map(|guard| (guard.key(), Identity::of(guard.meta()))).collect();
    let difference = |key: Key, store, server| Difference { kind: kind.to_owned(), key, store, server };
    let mut differences = Vec::new();
    for (key, store) in held() {
        match server.remove(&key) {
            Some(on_server) if on_server == store => {}
            other => differences.push(difference(key, Some(store), other)),
        }
    }
    differences.extend(server.into_iter().map(|(key, on_server)| difference(key, None, Some(on_server))));
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(uid: &str, version: &str) -> Identity {
        Identity { uid: uid.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn a_checksum_depends_on_names_uids_and_versions_and_not_on_order() {
        let (a, b) = (Key::new("n", "a"), Key::new("n", "b"));
        let (one, two) = (identity("u1", "5"), identity("u2", "7"));
        let sum = checksum([(&a, &one), (&b, &two)]);
        assert_eq!(sum, checksum([(&b, &two), (&a, &one)]));
        assert_eq!(sum.len(), 16);
        assert_ne!(sum, checksum([(&a, &one)]));
        assert_ne!(sum, checksum([(&a, &two), (&b, &one)]));
        assert_ne!(sum, checksum([(&a, &identity("u1", "6")), (&b, &two)]));
        // printf 'n/a u1 5\nn/b u2 7\n' | sha256sum
        assert_eq!(sum, "7750afd81f8c2a87");
    }
}
