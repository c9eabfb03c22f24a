//! What a Machine is told about its key: the mirror of the binding.

use trusted_crds::reason;

use super::Verdict;
use super::key::{BindingStep, Keys};
use crate::controllers::machine::situation::{BindingOwner, KeyFacts, Situation};

pub(super) struct Bound {
    pub(super) verdict: Option<Verdict>,
    pub(super) attestation_key: Option<(String, String)>,
}

pub(super) fn decide(situation: &Situation, keys: &Keys) -> Bound {
    match &keys.binding {
        BindingStep::Bind { key, .. } | BindingStep::Replace { key, .. } | BindingStep::Adopt { key, .. } => {
            bound_to(&situation.keys[*key])
        }
        BindingStep::Keep => match held_key(situation) {
            Some(key) => bound_to(key),
            None if situation.binding.as_ref().is_some_and(|b| b.owner == BindingOwner::Leaving) => {
                Bound { verdict: None, attestation_key: None }
            }
            None => unbound(situation, keys),
        },
        BindingStep::Unbind { .. } => unbound(situation, keys),
    }
}

/// The AttestationKey whose key the binding holds; of several objects with that key the oldest.
fn held_key(situation: &Situation) -> Option<&KeyFacts> {
    let binding = situation.binding.as_ref()?;
    let holds = |key: &&KeyFacts| key.key.as_ref().is_ok_and(|fingerprint| binding.holds(fingerprint));
    situation.keys.iter().filter(|key| !key.deleting).filter(holds).min_by(|a, b| a.age.cmp(&b.age))
}

fn bound_to(key: &KeyFacts) -> Bound {
    let fingerprint = key.key.as_ref().map(ToString::to_string).unwrap_or_default();
    Bound {
        verdict: Some(Verdict::yes(reason::BOUND, format!("bound to AttestationKey {}", key.name))),
        attestation_key: Some((key.name.clone(), fingerprint)),
    }
}

fn unbound(situation: &Situation, keys: &Keys) -> Bound {
    // What is new counts; a verdict that stays as it is counts with the reason it has.
    let reasons =
        situation.keys.iter().zip(&keys.verdicts).filter(|(key, _)| !key.deleting).map(|(key, verdict)| {
            verdict.approved.as_ref().map(|v| v.reason).or(key.reason.as_deref()).unwrap_or_default()
        });
    let reasons: Vec<&str> = reasons.collect();
    let any = |wanted: &[&str]| reasons.iter().any(|reason| wanted.contains(reason));
    let verdict = if any(&[reason::AWAITING_APPROVAL, reason::APPROVAL_MISMATCH, reason::WITHDRAWN]) {
        Verdict::no(
            reason::AWAITING_APPROVAL,
            "a key waits for a person: see `kubectl trusted status`, then `kubectl trusted approve-ak`",
        )
    } else if any(&[reason::CONFLICT, reason::SUPERSEDED, reason::FOREIGN_SECRET]) {
        Verdict::no(
            reason::CONFLICT,
            "keys name this machine, but none of them is trusted: see `kubectl trusted status`",
        )
    } else {
        Verdict::no(
            reason::NO_KEY,
            "no attestation key that can be trusted has been registered for this machine",
        )
    };
    Bound { verdict: Some(verdict), attestation_key: None }
}
