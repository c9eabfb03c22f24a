//! The statuses of Machines and AttestationKeys; pure. Each is written whole or, if nothing changed, not at all.

use k8s_openapi::jiff::Timestamp;
use trusted_crds::condition::{self, APPROVED, ATTESTATION_KEY_BOUND, KEY_READY, NewCondition};
use trusted_crds::{AttestationKey, AttestationKeyStatus, BoundKey, Fingerprint, Machine, MachineStatus};

use super::decide::{MachineVerdict, Verdict};

/// The status of an AttestationKey, if it is not that already.
pub fn of_key(
    key: &AttestationKey,
    fingerprint: Option<&Fingerprint>,
    approved: &Verdict,
    now: Timestamp,
) -> Option<AttestationKeyStatus> {
    let current = key.status.clone().unwrap_or_default();
    let generation = key.metadata.generation.unwrap_or_default();
    let desired = AttestationKeyStatus {
        conditions: condition::merge(&current.conditions, &[approved.condition(APPROVED)], generation, now),
        fingerprint: fingerprint.map(ToString::to_string),
    };
    let same = condition::same_among(&[APPROVED], &current.conditions, &desired.conditions)
        && current.fingerprint == desired.fingerprint;
    (!same).then_some(desired)
}

/// The status of a Machine, if it is not that already. A verdict that is left open keeps the condition it has.
pub fn of_machine(machine: &Machine, verdict: &MachineVerdict, now: Timestamp) -> Option<MachineStatus> {
    let current = machine.status.clone().unwrap_or_default();
    let generation = machine.metadata.generation.unwrap_or_default();
    let wanted = [(KEY_READY, &verdict.key_ready), (ATTESTATION_KEY_BOUND, &verdict.bound)];
    let desired: Vec<NewCondition> = wanted
        .into_iter()
        .filter_map(|(type_, verdict)| match verdict {
            Some(verdict) => Some(verdict.condition(type_)),
            None => condition::kept(&current.conditions, type_),
        })
        .collect();
    let attestation_key = match &verdict.bound {
        None => current.attestation_key.clone(),
        Some(_) => bound_key(verdict),
    };
    let desired = MachineStatus {
        conditions: condition::merge(&current.conditions, &desired, generation, now),
        attestation_key,
    };
    let same =
        condition::same_among(&[KEY_READY, ATTESTATION_KEY_BOUND], &current.conditions, &desired.conditions)
            && current.attestation_key == desired.attestation_key;
    (!same).then_some(desired)
}

fn bound_key(verdict: &MachineVerdict) -> Option<BoundKey> {
    let (name, fingerprint) = verdict.attestation_key.as_ref()?;
    Some(BoundKey { name: name.clone(), fingerprint: fingerprint.clone() })
}
