//! The objects of the demo, as files that a person applies.

use std::{fs, path::Path};

use serde::Serialize;
use testenv::objects;
use trusted_crds::PublicKey;

use crate::failure::Failure;

/// Machines by id, which is also their name.
pub(super) const MACHINES: [&str; 2] = ["rack1-node1", "rack1-node2"];
/// Keys that name a Machine that is there: approved at once.
pub(super) const MATCHING: [&str; 2] = ["ak-rack1-node1", "ak-rack1-node2"];
/// A key that names no Machine: a person must decide.
pub(super) const WAITING: &str = "ak-lab-spare";
/// A second key for the first Machine.
pub(super) const CONFLICTING: &str = "ak-unexpected";

/// The fleet's files, and what is typed about them.
pub(super) struct Fleet {
    waiting_fingerprint: String,
}

impl Fleet {
    /// Writes the files into a folder.
    pub(super) fn write(folder: &Path) -> Result<Fleet, Failure> {
        let waiting_key = objects::public_key();
        let fingerprint =
            PublicKey::from_pem(&waiting_key).map_err(|error| Failure::Unexpected(error.to_string()))?;
        let image = format!("quay.io/fedora/fedora-coreos@sha256:{}", "5c".repeat(32));
        let key =
            |name: &str, machine: &str| objects::attestation_key(name, Some(machine), &objects::public_key());
        write(folder, "cluster.yaml", &[objects::cluster("trusted-cluster")])?;
        write(folder, "image.yaml", &[objects::approved_image("fedora-coreos", &image)])?;
        write(folder, "machines.yaml", &MACHINES.map(|id| objects::machine(id, id)))?;
        let keys = [
            key(MATCHING[0], MACHINES[0]),
            key(MATCHING[1], MACHINES[1]),
            objects::attestation_key(WAITING, None, &waiting_key),
        ];
        write(folder, "keys.yaml", &keys)?;
        write(folder, "intruder.yaml", &[key(CONFLICTING, MACHINES[0])])?;
        Ok(Fleet { waiting_fingerprint: fingerprint.fingerprint().to_string() })
    }

    /// The command that approves the waiting key, and only if it is still the one that was looked at.
    pub(super) fn approval(&self, wait: bool) -> String {
        format!(
            "kubectl trusted approve-ak {WAITING} --yes --expect-fingerprint {} --reason 'label on the spare \
             machine'{}",
            self.waiting_fingerprint,
            if wait { "" } else { " --no-wait" }
        )
    }
}

fn write(folder: &Path, name: &str, objects: &[impl Serialize]) -> Result<(), Failure> {
    let path = folder.join(name);
    let documents: Result<Vec<String>, _> = objects.iter().map(serde_saphyr::to_string).collect();
    let documents = documents.map_err(|error| Failure::Unexpected(format!("{name}: {error}")))?;
    fs::write(&path, documents.join("---\n")).map_err(Failure::io(path.display().to_string()))
}
