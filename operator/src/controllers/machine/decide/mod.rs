//! All decisions about one subject; pure. What is to be done comes out as a [`Plan`].

mod bound;
mod disk_key;
mod judge;
mod key;

pub use disk_key::{DiskKeyStep, created};
pub use key::{BindingStep, KeyVerdict, Ownership, Row};

use trusted_crds::condition::{self, NewCondition};
use trusted_crds::reason;

use super::situation::{MachineFacts, Situation};

/// Everything to be done for one subject.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What becomes of the Secret that records the trusted key.
    pub binding: BindingStep,
    /// What becomes of the disk key.
    pub disk_key: DiskKeyStep,
    /// One verdict for each AttestationKey, in the order of the situation.
    pub keys: Vec<KeyVerdict>,
    /// One verdict for each Machine that is not being deleted.
    pub machines: Vec<MachineVerdict>,
    /// The key on which the protection of approvals by hand must be proved before anything is done.
    pub prove_on: Option<usize>,
}

/// What a Machine is to be told. A `None` condition stays as it is.
#[derive(Clone, Debug)]
pub struct MachineVerdict {
    /// Name of the Machine.
    pub machine: String,
    /// Its KeyReady condition.
    pub key_ready: Option<Verdict>,
    /// Its AttestationKeyBound condition.
    pub bound: Option<Verdict>,
    /// Name and fingerprint of the bound key.
    pub attestation_key: Option<(String, String)>,
}

/// A condition to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub status: bool,
    pub reason: &'static str,
    pub message: String,
}

impl Verdict {
    pub(super) fn yes(reason: &'static str, message: impl Into<String>) -> Self {
        Verdict { status: true, reason, message: message.into() }
    }

    pub(super) fn no(reason: &'static str, message: impl Into<String>) -> Self {
        Verdict { status: false, reason, message: message.into() }
    }

    /// The other half usually follows within seconds: such a verdict is only written when it does not.
    pub fn is_waiting(&self) -> bool {
        [reason::NO_KEY, reason::AWAITING_MACHINE, reason::AWAITING_CLUSTER].contains(&self.reason)
    }

    /// The condition of this type.
    pub fn condition(&self, type_: &'static str) -> NewCondition {
        condition::new(type_, self.status, self.reason, &self.message)
    }
}

/// Decides on everything at once.
pub fn decide(situation: &Situation) -> Plan {
    let keys = key::decide(situation);
    let disk_key = disk_key::decide(situation);
    let served = situation.served_machine();
    let live = situation.machines.iter().filter(|machine| !machine.deleting);
    let machines = live
        .map(|machine| {
            if served.is_some_and(|served| served.uid == machine.uid) {
                served_verdict(machine, situation, &keys, &disk_key)
            } else {
                duplicate_verdict(machine, served)
            }
        })
        .collect();
    Plan {
        binding: keys.binding,
        disk_key: disk_key.step,
        keys: keys.verdicts,
        machines,
        prove_on: keys.prove_on,
    }
}

fn served_verdict(
    machine: &MachineFacts,
    situation: &Situation,
    keys: &key::Keys,
    disk_key: &disk_key::DiskKey,
) -> MachineVerdict {
    let bound = bound::decide(situation, keys);
    MachineVerdict {
        machine: machine.name.clone(),
        key_ready: disk_key.verdict.clone(),
        bound: bound.verdict,
        attestation_key: bound.attestation_key,
    }
}

fn duplicate_verdict(machine: &MachineFacts, served: Option<&MachineFacts>) -> MachineVerdict {
    let other = served.map_or("another one", |served| served.name.as_str());
    MachineVerdict {
        machine: machine.name.clone(),
        key_ready: Some(Verdict::no(
            reason::DUPLICATE_ID,
            format!("Machine {other} has the same spec.id and is served; delete one of the two"),
        )),
        bound: Some(Verdict::no(reason::NO_KEY, format!("keys of this id are bound to Machine {other}"))),
        attestation_key: None,
    }
}

#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod key_tests;
