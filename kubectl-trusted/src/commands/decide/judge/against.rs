//! What keeps a key from being denied, or a decision from being taken back.
//!
//! Owns the rules of `deny-ak` and `revoke-ak`. They are few: taking trust away is safe, unless it hits another key than
//! the one that was meant.

use super::{Candidate, Refusal, Rules};

/// A denial holds for the key under any name: denying a copy would take the trust of the original with it. Whoever
/// means that names both.
pub(super) fn trusted_elsewhere(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    let other = candidate
        .namesakes
        .iter()
        .find(|other| other.is_trusted && !rules.named.contains(&other.name))
        .filter(|_| !candidate.is_trusted())?;
    let machine = other.uuid.as_deref().unwrap_or("no machine");
    let message = format!(
        "the same key is trusted as AttestationKey {} for {machine}, and a denial holds under any name: it would lose its \
         trust. This copy has no effect and can be deleted; to deny the key name both",
        other.name
    );
    let next = format!("kubectl delete attestationkey {} -n {}", candidate.name, candidate.namespace);
    Some(Refusal::new("TrustedElsewhere", message).next(next))
}

/// Taking back nothing would leave the key trusted, which is not what somebody who revokes wants.
pub(super) fn not_by_hand(candidate: &Candidate, _: &Rules<'_>) -> Option<Refusal> {
    if candidate.approval.is_some() || !candidate.is_trusted() {
        return None;
    }
    let message = "nobody approved this key, so there is nothing to take back: it is trusted because it was its machine's \
                   first. Its trust is ended by a denial";
    let next = format!("kubectl trusted deny-ak {} -n {}", candidate.name, candidate.namespace);
    Some(Refusal::new("NotByHand", message).next(next))
}
