//! The decision table of docs/invariants.md, one row after the other, for one key at a time.

use std::collections::BTreeSet;

use trusted_crds::{ApprovalPolicy, Fingerprint, reason};

use super::Verdict;
use super::key::{Judged, Row, Wants};
use crate::controllers::machine::situation::{Binding, BindingOwner, ByHand, Cluster, KeyFacts, Situation};

/// The verdict on one key, by the first row that matches.
pub(super) fn judge(key: &KeyFacts, situation: &Situation) -> Judged {
    let fingerprint = match &key.key {
        _ if key.deleting => return Judged::unchanged(Row::Leaving),
        Ok(fingerprint) => Some(fingerprint),
        Err(_) => None,
    };
    let denied = fingerprint.is_some_and(|fingerprint| situation.denied.contains(fingerprint));
    let live = situation.served_machine().map(|machine| machine.uid.as_str());
    if !denied && key.owner_machines.iter().any(|uid| Some(uid.as_str()) != live) {
        return Judged::unchanged(Row::Leaving);
    }
    let fingerprint = match &key.key {
        Ok(fingerprint) => fingerprint,
        Err(error) => {
            let message = format!("spec.publicKey is not usable: {error}. Register a new AttestationKey");
            return Judged::new(Row::Invalid, Verdict::no(reason::INVALID_KEY, message));
        }
    };
    if denied {
        let message =
            "a person denied this key; approve it with `kubectl trusted approve-ak --override-denial`";
        return Judged::new(Row::Denied, Verdict::no(reason::DENIED, message));
    }
    let bound = situation.binding.as_ref().filter(|binding| binding.holds(fingerprint));
    if key.approval.is_some() && key.decision().is_none() {
        return Judged::new(Row::Mismatch, mismatch(bound.is_some()));
    }
    match (bound, situation.cluster) {
        (Some(binding), _) => judge_bound(fingerprint, binding, situation),
        (None, Some(cluster)) => judge_unbound(key, fingerprint, cluster, situation),
        (None, None) => refused_before(key, fingerprint, situation).unwrap_or_else(no_cluster),
    }
}

/// Row 6: the binding holds this key.
fn judge_bound(fingerprint: &Fingerprint, binding: &Binding, situation: &Situation) -> Judged {
    let older = |other: &&Binding| other.holds(fingerprint) && other.age < binding.age;
    if let Some(other) = situation.elsewhere.iter().find(older) {
        return bound_elsewhere(other).wanting(Wants::Unbind);
    }
    let wants = if binding.owner == BindingOwner::Nobody { Wants::Adopt } else { Wants::Nothing };
    if situation.is_approved_by_hand(fingerprint) {
        return Judged::new(Row::Bound, by_hand()).wanting(wants);
    }
    if !binding.by_hand && told_before(fingerprint, situation, &[reason::SUPERSEDED]).is_some() {
        // Row 7, stopped between the two: told so, and still bound.
        let chosen = situation.keys.iter().find(|key| key.is_approved_by_hand());
        let verdict = superseded(chosen.map(|key| key.name.as_str()));
        return Judged::new(Row::Bound, verdict).wanting(Wants::Unbind);
    }
    if binding.by_hand || needed_person(fingerprint, situation) {
        return withdrawn(Row::Bound).wanting(Wants::Unbind);
    }
    Judged::new(Row::Bound, Verdict::yes(reason::MACHINE_CREATED, "first key of its machine")).wanting(wants)
}

/// Rows 6a to 14: the binding does not hold this key.
fn judge_unbound(
    key: &KeyFacts,
    fingerprint: &Fingerprint,
    cluster: Cluster,
    situation: &Situation,
) -> Judged {
    let elsewhere =
        || situation.elsewhere.iter().filter(|other| other.fingerprint.as_ref() == Some(fingerprint));
    if let Some(other) = elsewhere().find(|other| other.holds(fingerprint)) {
        return bound_elsewhere(other);
    }
    let leaving = |binding: &Binding| {
        let denied = binding.fingerprint.as_ref().is_some_and(|held| situation.denied.contains(held));
        binding.owner == BindingOwner::Leaving || denied
    };
    if elsewhere().any(leaving) || situation.binding.as_ref().is_some_and(leaving) {
        return Judged::unchanged(Row::Unsettled);
    }
    let approved = situation.is_approved_by_hand(fingerprint);
    if approved && situation.by_hand == ByHand::Unprotected && may_take_effect(situation) {
        // A refusal stays on record: else an approval without effect, set and removed, would wash it off.
        let so_far = refusal(fingerprint, situation).map_or(reason::AWAITING_APPROVAL, |(reason, _)| reason);
        return Judged::new(Row::NeedsPerson, unprotected(so_far));
    }
    match &situation.binding {
        Some(binding) if approved && may_be_displaced(binding, situation) => {
            Judged::new(Row::Displaces, by_hand()).wanting(Wants::Displace)
        }
        Some(Binding { fingerprint: None, secret, .. }) => in_the_way(secret, fingerprint, situation),
        Some(Binding { fingerprint: Some(held), .. }) => match key.reason.as_deref() {
            // These say more than Conflict would, and refuse as well.
            Some(reason::WITHDRAWN) => withdrawn(Row::Taken),
            Some(reason::SUPERSEDED) => Judged::new(Row::Taken, superseded(chosen(held, situation))),
            _ => {
                let cut_off = displaced_before(fingerprint, held, situation);
                Judged::new(Row::Taken, cut_off.unwrap_or_else(|| taken(held)))
            }
        },
        None if approved => Judged::new(Row::ByHand, by_hand()).wanting(Wants::Bind { by_hand: true }),
        None => judge_without_approval(key, fingerprint, cluster, situation),
    }
}

/// Rows 10 to 14: nothing is bound and no person has trusted the key.
fn judge_without_approval(
    key: &KeyFacts,
    fingerprint: &Fingerprint,
    cluster: Cluster,
    situation: &Situation,
) -> Judged {
    if let Some(refused) = refused_before(key, fingerprint, situation) {
        return refused;
    }
    let needs_person =
        |message: &str| Judged::new(Row::NeedsPerson, Verdict::no(reason::AWAITING_APPROVAL, message));
    let Some(machine_id) = &situation.machine_id else {
        return needs_person(
            "spec.uuid names no machine id, so only a person can trust this key: `kubectl trusted approve-ak`",
        );
    };
    if situation.served_machine().is_none() {
        let message = format!("no Machine with spec.id {machine_id} exists yet");
        return Judged::new(Row::NoMachine, Verdict::no(reason::AWAITING_MACHINE, message));
    }
    if let Some(judged) = judge_formerly_trusted(fingerprint, situation) {
        return judged;
    }
    if cluster.policy == ApprovalPolicy::Manual {
        return needs_person("the cluster's attestationKeyApproval is Manual: `kubectl trusted approve-ak`");
    }
    Judged::new(Row::First, Verdict::yes(reason::MACHINE_CREATED, "first key of its machine"))
        .wanting(Wants::Bind { by_hand: false })
}

/// Row 10a: the existing operator trusted every key that named the machine. One alone stays trusted, whatever the policy,
/// which concerns new keys; between several a person decides.
fn judge_formerly_trusted(fingerprint: &Fingerprint, situation: &Situation) -> Option<Judged> {
    let trusted = situation.keys.iter().filter(|key| key.formerly_trusted && !key.deleting);
    let trusted: BTreeSet<&Fingerprint> = trusted
        .filter_map(|key| key.key.as_ref().ok())
        .filter(|key| !situation.denied.contains(key))
        .collect();
    let conflict =
        |message: &str| Some(Judged::new(Row::FormerlyTrusted, Verdict::no(reason::CONFLICT, message)));
    match (trusted.len(), trusted.contains(fingerprint)) {
        (0, _) => None,
        (1, true) => {
            let verdict =
                Verdict::yes(reason::MACHINE_CREATED, "trusted by the operator that was here before");
            Some(Judged::new(Row::FormerlyTrusted, verdict).wanting(Wants::Bind { by_hand: false }))
        }
        (_, true) => conflict(
            "one of several keys of this machine that the operator before trusted; all stay in Trustee until one is \
             chosen: `kubectl trusted approve-ak`",
        ),
        (_, false) => conflict(
            "the operator that was here before trusted another key of this machine; to trust this one instead run \
             `kubectl trusted approve-ak`",
        ),
    }
}

/// Row 12: what this key was told before stands until a person says otherwise.
fn refused_before(key: &KeyFacts, fingerprint: &Fingerprint, situation: &Situation) -> Option<Judged> {
    let approved = situation.is_approved_by_hand(fingerprint);
    if !approved && told_before(fingerprint, situation, &[reason::MANUALLY_APPROVED]).is_some() {
        return Some(withdrawn(Row::RefusedBefore));
    }
    let (reason, refused) = refusal(fingerprint, situation)?;
    // Without a machine nothing is ever automatic, so a refusal that is over leaves the key waiting for a person.
    if situation.machine_id.is_none() && reason != reason::WITHDRAWN {
        return None;
    }
    // What a decision was refused for is said anew when the decision is gone: it is no longer true, and whoever took the
    // decision back waits for an answer.
    let message = match reason {
        _ if refused.name != key.name => {
            format!("the same key was refused as AttestationKey {}", refused.name)
        }
        reason::DENIED => {
            "a person denied this key and took that back; it stays refused until a person approves it"
                .to_owned()
        }
        reason::APPROVAL_MISMATCH => {
            "an approval of another key was taken back; this one stays refused until a person approves it"
                .to_owned()
        }
        reason::WITHDRAWN => return Some(withdrawn(Row::RefusedBefore)),
        reason::SUPERSEDED => return Some(Judged::new(Row::RefusedBefore, superseded(None))),
        _ => {
            "another key of this machine was bound before; this one stays refused until a person approves it"
                .to_owned()
        }
    };
    Some(Judged::new(Row::RefusedBefore, Verdict::no(reason, message)))
}

/// The refusal this key met before, on this object or on another of the same machine: without a person it is
/// never trusted again, under whatever name.
fn refusal<'a>(fingerprint: &Fingerprint, situation: &'a Situation) -> Option<(&'static str, &'a KeyFacts)> {
    const REFUSALS: [&str; 5] =
        [reason::CONFLICT, reason::SUPERSEDED, reason::DENIED, reason::WITHDRAWN, reason::APPROVAL_MISMATCH];
    told_before(fingerprint, situation, &REFUSALS)
}

/// Whether a bound key rests on a person's word that is gone by now, or on one that was about to be carried out
/// when we were stopped.
fn needed_person(fingerprint: &Fingerprint, situation: &Situation) -> bool {
    const BY_A_PERSON: [&str; 4] =
        [reason::MANUALLY_APPROVED, reason::DENIED, reason::WITHDRAWN, reason::SUPERSEDED];
    told_before(fingerprint, situation, &BY_A_PERSON).is_some()
}

/// The first of `reasons` that any object with this key was told, and that object.
fn told_before<'a>(
    fingerprint: &Fingerprint,
    situation: &'a Situation,
    reasons: &[&'static str],
) -> Option<(&'static str, &'a KeyFacts)> {
    let same_key = |key: &&KeyFacts| !key.deleting && key.key.as_ref() == Ok(fingerprint);
    situation.keys.iter().filter(same_key).find_map(|key| {
        let told = reasons.iter().find(|reason| key.reason.as_deref() == Some(**reason))?;
        Some((*told, key))
    })
}

/// Whether an approval by hand could bind a key here at all.
fn may_take_effect(situation: &Situation) -> bool {
    situation.binding.as_ref().is_none_or(|binding| may_be_displaced(binding, situation))
}

/// A person's choice displaces a key that nobody chose; it never displaces another person's choice, nor a Secret
/// that is not ours.
fn may_be_displaced(binding: &Binding, situation: &Situation) -> bool {
    binding.fingerprint.as_ref().is_some_and(|held| !situation.is_approved_by_hand(held))
}

fn no_cluster() -> Judged {
    let message =
        "no TrustedExecutionCluster is served in this namespace; create one, then keys are decided on";
    Judged::new(Row::NoCluster, Verdict::no(reason::AWAITING_CLUSTER, message))
}

fn mismatch(bound: bool) -> Verdict {
    let effect =
        if bound { "it has no effect, and the key stays bound as it was" } else { "it has no effect" };
    let message =
        format!("spec.approval names another fingerprint than this key has; {effect}. Decide again");
    Verdict::no(reason::APPROVAL_MISMATCH, message)
}

fn by_hand() -> Verdict {
    Verdict::yes(reason::MANUALLY_APPROVED, "a person approved this key, see spec.approval")
}

fn withdrawn(row: Row) -> Judged {
    let message = "the approval by hand was removed; approve the key again to trust it";
    Judged::new(row, Verdict::no(reason::WITHDRAWN, message))
}

fn bound_elsewhere(other: &Binding) -> Judged {
    let message = format!(
        "this key is bound already, in Secret {}; a key serves one machine. Delete the other Machine or \
         AttestationKey first",
        other.secret
    );
    Judged::new(Row::BoundElsewhere, Verdict::no(reason::CONFLICT, message))
}

fn taken(held: &Fingerprint) -> Verdict {
    let message = format!(
        "the machine is bound to another key, {held}; to trust this one instead run `kubectl trusted approve-ak`, with \
         --replace if a person chose the other"
    );
    Verdict::no(reason::CONFLICT, message)
}

/// Row 7, stopped before this key was told: it was trusted until a person chose the one that is bound now.
fn displaced_before(fingerprint: &Fingerprint, held: &Fingerprint, situation: &Situation) -> Option<Verdict> {
    told_before(fingerprint, situation, &[reason::MACHINE_CREATED])?;
    chosen(held, situation).map(|chosen| superseded(Some(chosen)))
}

/// The name of the AttestationKey with this key that a person chose.
fn chosen<'a>(held: &Fingerprint, situation: &'a Situation) -> Option<&'a str> {
    let chosen = |key: &&KeyFacts| key.key.as_ref() == Ok(held) && key.is_approved_by_hand();
    situation.keys.iter().find(chosen).map(|chosen| chosen.name.as_str())
}

/// Without a name where the key that was chosen instead is not bound any more.
pub(super) fn superseded(chosen: Option<&str>) -> Verdict {
    let chosen = chosen.map_or_else(|| "another key".to_owned(), |name| format!("AttestationKey {name}"));
    let message =
        format!("a person approved {chosen} for this machine; approve this one by hand to trust it again");
    Verdict::no(reason::SUPERSEDED, message)
}

/// A Secret that is not ours has the name. It refuses nothing: with the Secret the obstacle is gone. What this key was
/// told before stays on record all the same.
fn in_the_way(secret: &str, fingerprint: &Fingerprint, situation: &Situation) -> Judged {
    if !situation.is_approved_by_hand(fingerprint)
        && told_before(fingerprint, situation, &[reason::MANUALLY_APPROVED]).is_some()
    {
        return withdrawn(Row::Taken);
    }
    let so_far = refusal(fingerprint, situation).map_or(reason::FOREIGN_SECRET, |(reason, _)| reason);
    let message = format!(
        "Secret {secret} exists but is not managed by trusted-operator; it is left untouched. Rename or delete it"
    );
    Judged::new(Row::Taken, Verdict::no(so_far, message))
}

fn unprotected(reason: &'static str) -> Verdict {
    Verdict::no(
        reason,
        "approved, but the admission policy that guards approvals is not in force in this namespace: apply \
         deploy/admission and label the namespace trusted-execution-clusters.io/managed=true",
    )
}
