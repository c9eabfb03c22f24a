//! What the stores keep of a Secret.
//!
//! Every machine has two Secrets, so they are half of all objects. Their metadata as the API server sends it takes 2 KB
//! of memory each; what is ever read of it takes a quarter of that.

use cachelib::Metadata;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use trusted_crds::names::{BOUND_BY_HAND_ANNOTATION, FINGERPRINT_ANNOTATION};
use trusted_crds::{AttestationKey, Fingerprint, Machine};

use crate::owner::{is_managed, is_ours};
use crate::writer::Target;

/// A Secret as it is watched: metadata alone, never a byte of its data.
pub type SecretMeta = Metadata<Secret>;

/// What is known of a Secret. Annotations of others are not part of it: they may hold anything, former versions of the
/// data, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRecord {
    name: Box<str>,
    uid: Box<str>,
    version: Box<str>,
    created_second: Option<i64>,
    deleting: bool,
    managed: bool,
    by_hand: bool,
    fingerprint: Option<Box<str>>,
    owners: Box<[SecretOwner]>,
    finalizers: Box<[Box<str>]>,
}

/// An owner of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretOwner {
    /// What it is.
    pub kind: OwnerKind,
    /// Its name.
    pub name: Box<str>,
    /// Its uid.
    pub uid: Box<str>,
}

/// What owns a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    /// A Machine.
    Machine,
    /// An AttestationKey.
    AttestationKey,
    /// Nothing that owns Secrets of ours.
    Other,
}

impl From<SecretMeta> for SecretRecord {
    fn from(secret: SecretMeta) -> Self {
        let (managed, meta) = (is_managed(&secret), secret.meta());
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
        SecretRecord {
            name: text(&meta.name),
            uid: text(&meta.uid),
            version: text(&meta.resource_version),
            created_second: meta.creation_timestamp.as_ref().map(|time| time.0.as_second()),
            deleting: meta.deletion_timestamp.is_some(),
            managed,
            by_hand: secret.annotations().contains_key(BOUND_BY_HAND_ANNOTATION),
            fingerprint: secret.annotations().get(FINGERPRINT_ANNOTATION).map(|text| text.as_str().into()),
            owners: secret.owner_references().iter().map(SecretOwner::from).collect(),
            finalizers: secret.finalizers().iter().map(|finalizer| finalizer.as_str().into()).collect(),
        }
    }
}

impl From<&OwnerReference> for SecretOwner {
    fn from(owner: &OwnerReference) -> Self {
        let kind = if is_ours::<Machine>(owner) {
            OwnerKind::Machine
        } else if is_ours::<AttestationKey>(owner) {
            OwnerKind::AttestationKey
        } else {
            OwnerKind::Other
        };
        SecretOwner { kind, name: owner.name.as_str().into(), uid: owner.uid.as_str().into() }
    }
}

impl SecretRecord {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Its resource version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// When it was created, in seconds since 1970, which is as exact as the API server tells.
    pub fn created_second(&self) -> Option<i64> {
        self.created_second
    }

    /// Whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.deleting
    }

    /// Whether it carries our label.
    pub fn is_managed(&self) -> bool {
        self.managed
    }

    /// Whether it says that a person chose the key it binds.
    pub fn is_bound_by_hand(&self) -> bool {
        self.by_hand
    }

    /// What it says of the key it binds, as it stands there.
    pub fn fingerprint_text(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// The key whose binding it records, if it says so.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint.as_deref()?.parse().ok()
    }

    /// Its owners.
    pub fn owners(&self) -> &[SecretOwner] {
        &self.owners
    }

    /// Its finalizers.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.finalizers.iter().map(|finalizer| &**finalizer)
    }

    /// Whether a Machine, be it there or not, is among its owners.
    pub fn belongs_to_machine(&self) -> bool {
        self.owners.iter().any(|owner| owner.kind == OwnerKind::Machine)
    }

    /// The Secret at exactly the version that is known of.
    pub fn target(&self) -> Target<'_> {
        Target { name: &self.name, uid: &self.uid, resource_version: Some(&self.version) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trusted_crds::API_VERSION;
    use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};

    use super::*;

    #[test]
    fn a_record_holds_what_is_read_and_nothing_else() {
        let fingerprint = format!("sha256:{}", "ab".repeat(32));
        let owner = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "name": "o", "uid": format!("uid-of-{kind}")});
        let meta = json!({
            "name": "ak-a", "namespace": "ns", "uid": "u", "resourceVersion": "7",
            "finalizers": ["example.com/f"], "creationTimestamp": "1970-01-01T00:00:09Z", "deletionTimestamp": "1970-01-01T00:01:00Z",
            "labels": {MANAGED_BY_LABEL: MANAGED_BY},
            "annotations": {
                FINGERPRINT_ANNOTATION: fingerprint, BOUND_BY_HAND_ANNOTATION: "true",
                "example.com/copy-of-the-data": "hunter2",
            },
            "ownerReferences": [owner(API_VERSION, "Machine"), owner(API_VERSION, "AttestationKey"), owner("v1", "Machine")],
        });
        let record = SecretRecord::from(SecretMeta::new(serde_json::from_value(meta).unwrap()));
        assert_eq!((record.name(), record.uid(), record.version()), ("ak-a", "u", "7"));
        assert_eq!(record.created_second(), Some(9));
        assert!(record.is_deleting() && record.is_managed() && record.is_bound_by_hand());
        assert_eq!(record.fingerprint(), fingerprint.parse().ok());
        let kinds: Vec<_> = record.owners().iter().map(|owner| owner.kind).collect();
        assert_eq!(kinds, [OwnerKind::Machine, OwnerKind::AttestationKey, OwnerKind::Other]);
        assert_eq!(&*record.owners()[1].uid, "uid-of-AttestationKey");
        assert_eq!(record.finalizers().collect::<Vec<_>>(), ["example.com/f"]);
        assert_eq!(record.target().resource_version, Some("7"));
        assert!(!format!("{record:?}").contains("hunter2"));

        let bare = SecretRecord::from(SecretMeta::new(Default::default()));
        assert!(!bare.is_deleting() && !bare.is_managed() && !bare.is_bound_by_hand());
        assert!(bare.fingerprint_text().is_none() && !bare.belongs_to_machine());
        assert!(size_of::<SecretRecord>() <= 128);
    }
}
