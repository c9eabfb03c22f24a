//! What is to be delivered to Trustee, and how: a list of Secrets in, parts of the pod template out. Pure.
//!
//! Nothing else knows how keys get to Trustee, so that another way to deliver them is another [`render`].

use std::collections::HashSet;

use k8s_openapi::api::core::v1::{
    KeyToPath, ProjectedVolumeSource, SecretProjection, Volume, VolumeMount, VolumeProjection,
};
use trusted_crds::Delivered;
use trusted_crds::Fingerprint;
use trusted_crds::delivery::{ATTESTATION_KEYS_VOLUME, DISK_KEYS_VOLUME, disk_key_path, key_file};
use trusted_crds::names::{DISK_KEY_ENTRY, PUBLIC_KEY_ENTRY};

use super::build::{ATTESTATION_KEYS_DIR, DISK_KEYS_DIR};
use crate::controllers::cluster::build::pod::{FILE_MODE, read_only};
use crate::digest::hash_of;

/// One Secret to deliver. A uid is part of it, so that a Secret made anew under its name is delivered anew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source<T> {
    /// What it is delivered as.
    pub as_: T,
    /// Name of the Secret.
    pub secret: String,
    /// Its uid.
    pub uid: String,
}

/// Everything that is to be delivered, in order and without repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Disk keys by machine id.
    pub disk_keys: Vec<Source<String>>,
    /// Trusted attestation keys by fingerprint.
    pub attestation_keys: Vec<Source<Fingerprint>>,
}

impl Wanted {
    /// Whether a disk key that is delivered would no longer be.
    pub fn drops_disk_keys(&self, delivered: &Delivered) -> bool {
        let kept = self.disk_keys.iter().filter(|source| delivered.has_disk_key(&source.as_));
        kept.count() < delivered.disk_keys()
    }

    /// The attestation keys that are delivered and would no longer be.
    pub fn dropped_attestation_keys(&self, delivered: &Delivered) -> Vec<Fingerprint> {
        let kept: HashSet<_> = self.attestation_keys.iter().map(|source| &source.as_).collect();
        delivered.keys().filter(|key| !kept.contains(key)).collect()
    }
}

/// What a delivery asks of the Trustee pod template.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Volumes to add.
    pub volumes: Vec<Volume>,
    /// Where they are mounted.
    pub mounts: Vec<VolumeMount>,
    /// Stands for what is delivered; a new one has to roll the pod.
    pub hash: String,
}

/// What it takes to deliver `wanted`: all disk keys in one projected volume and all attestation keys in another, both
/// of which are always there. Every change of keys rolls the pod.
pub(super) fn render(wanted: &Wanted) -> Result<Rendered, serde_json::Error> {
    let disk_keys = wanted.disk_keys.iter();
    let disk_keys =
        disk_keys.map(|source| projection(&source.secret, DISK_KEY_ENTRY, disk_key_path(&source.as_)));
    let keys = wanted.attestation_keys.iter();
    let keys = keys.map(|source| projection(&source.secret, PUBLIC_KEY_ENTRY, key_file(&source.as_)));
    Ok(Rendered {
        volumes: vec![
            projected(DISK_KEYS_VOLUME, disk_keys.collect()),
            projected(ATTESTATION_KEYS_VOLUME, keys.collect()),
        ],
        mounts: vec![
            read_only(DISK_KEYS_VOLUME, DISK_KEYS_DIR),
            read_only(ATTESTATION_KEYS_VOLUME, ATTESTATION_KEYS_DIR),
        ],
        hash: hash(wanted)?,
    })
}

fn projected(name: &str, sources: Vec<VolumeProjection>) -> Volume {
    Volume {
        name: name.into(),
        projected: Some(ProjectedVolumeSource {
            default_mode: Some(FILE_MODE),
            sources: Some(sources),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// One file from one Secret. A Secret that has gone in the meantime must not keep the pod from starting.
fn projection(secret: &str, key: &str, path: String) -> VolumeProjection {
    VolumeProjection {
        secret: Some(SecretProjection {
            name: secret.into(),
            items: Some(vec![KeyToPath { key: key.into(), path, ..Default::default() }]),
            optional: Some(true),
        }),
        ..Default::default()
    }
}

fn hash(wanted: &Wanted) -> Result<String, serde_json::Error> {
    let disk_keys: Vec<_> = wanted.disk_keys.iter().map(|key| (&key.secret, &key.uid, &key.as_)).collect();
    let keys = wanted.attestation_keys.iter();
    let keys: Vec<_> = keys.map(|key| (&key.secret, &key.uid, key.as_.as_str())).collect();
    hash_of(&(disk_keys, keys))
}

#[cfg(test)]
mod tests;
