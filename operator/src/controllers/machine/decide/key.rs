//! Which attestation key is trusted: turns the verdicts on single keys into one step for all of them.
//!
//! The trusted key is recorded in one Secret per machine, the binding. First key wins, a key that was refused
//! once is never trusted again without a person, and a person's denial beats everything.

use super::Verdict;
use super::judge::{judge, superseded};
use crate::controllers::machine::situation::{BindingOwner, ByHand, KeyFacts, MachineFacts, Situation};

/// The row of the table that decided. Rows keep the numbers they have in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    /// 1: on its way out.
    Leaving,
    /// 2: no public key we accept.
    Invalid,
    /// 3: a person denied this key, on this object or another.
    Denied,
    /// 4: the approval was made for another key.
    Mismatch,
    /// 5: nobody is served.
    NoCluster,
    /// 6: the binding holds this key.
    Bound,
    /// 6a: the key is bound in another place.
    BoundElsewhere,
    /// 7: approved by hand, displaces a key that was not.
    Displaces,
    /// The key that row 7 displaces.
    Displaced,
    /// 8: another key is bound.
    Taken,
    /// 9 and 14: approved by hand, nothing is bound.
    ByHand,
    /// 10: no Machine of that id.
    NoMachine,
    /// 11 and 14: a person is needed.
    NeedsPerson,
    /// 12: refused before.
    RefusedBefore,
    /// 10a: the existing operator trusted keys of this machine.
    FormerlyTrusted,
    /// 13: first key.
    First,
    /// Waits for the store to show who won, or for garbage collection.
    Unsettled,
}

/// What becomes of the binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BindingStep {
    #[default]
    Keep,
    /// Record the key at this index of the situation's keys.
    Bind { key: usize, by_hand: bool },
    /// Delete the binding of this uid.
    Unbind { secret: String, uid: String },
    /// Delete the binding of this uid, then record the key at this index.
    Replace { secret: String, uid: String, key: usize },
    /// Make the key at this index the owner of a binding that has none.
    Adopt { secret: String, key: usize },
}

/// Who shall own an AttestationKey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    Keep,
    /// The Machine of this uid alone, so that the key leaves with it.
    Machine(String),
    /// Nobody, so that no deletion of a Machine washes a denial off.
    Nobody,
}

/// What is to become of one AttestationKey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyVerdict {
    pub row: Row,
    /// Its Approved condition; `None` leaves it as it is.
    pub approved: Option<Verdict>,
    pub owner: Ownership,
}

/// What is to become of all keys of a subject.
pub(super) struct Keys {
    pub(super) verdicts: Vec<KeyVerdict>,
    pub(super) binding: BindingStep,
    pub(super) prove_on: Option<usize>,
}

/// Verdict on one key, and what it would like to happen to the binding.
pub(super) struct Judged {
    row: Row,
    approved: Option<Verdict>,
    wants: Wants,
}

/// What a key would like to happen to the binding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    Nothing,
    Bind { by_hand: bool },
    Displace,
    Unbind,
    Adopt,
}

impl Judged {
    pub(super) fn new(row: Row, approved: Verdict) -> Self {
        Judged { row, approved: Some(approved), wants: Wants::Nothing }
    }

    pub(super) fn unchanged(row: Row) -> Self {
        Judged { row, approved: None, wants: Wants::Nothing }
    }

    pub(super) fn wanting(mut self, wants: Wants) -> Self {
        self.wants = wants;
        self
    }
}

pub(super) fn decide(situation: &Situation) -> Keys {
    let mut judged: Vec<Judged> = situation.keys.iter().map(|key| judge(key, situation)).collect();
    let denied_binding = situation.binding.as_ref().filter(|binding| {
        binding.owner != BindingOwner::Leaving
            && binding.fingerprint.as_ref().is_some_and(|held| situation.denied.contains(held))
    });
    let binding = match denied_binding {
        Some(binding) => {
            hold_back(&mut judged, |_| false);
            BindingStep::Unbind { secret: binding.secret.clone(), uid: binding.uid.clone() }
        }
        None => settle(situation, &mut judged),
    };
    let prove_on = to_be_proved_on(&binding, situation);
    let verdicts = situation.keys.iter().zip(judged).map(|(key, judged)| KeyVerdict {
        owner: ownership(key, judged.row, situation),
        row: judged.row,
        approved: judged.approved,
    });
    Keys { verdicts: verdicts.collect(), binding, prove_on }
}

/// The key on which the protection of approvals by hand has to be proved: one whose approval is about to take effect,
/// or has, where we were stopped before that could be told.
fn to_be_proved_on(binding: &BindingStep, situation: &Situation) -> Option<usize> {
    if situation.by_hand != ByHand::Unknown {
        return None;
    }
    match binding {
        BindingStep::Bind { key, by_hand: true } | BindingStep::Replace { key, .. } => Some(*key),
        _ if situation.cluster.is_some_and(|cluster| cluster.protection_unknown) => {
            let binding = situation.binding.as_ref().filter(|binding| binding.by_hand)?;
            let holds = |key: &KeyFacts| key.key.as_ref().is_ok_and(|key| binding.holds(key));
            situation.keys.iter().position(|key| key.is_approved_by_hand() && holds(key))
        }
        _ => None,
    }
}

/// Turns the wishes of all keys into one step. Unbinding comes first, then a person's choice, then age; whoever
/// asked in vain is judged again once the store shows the winner.
fn settle(situation: &Situation, judged: &mut [Judged]) -> BindingStep {
    let held = || situation.binding.as_ref().map(|b| (b.secret.clone(), b.uid.clone())).unwrap_or_default();
    let first = |judged: &[Judged], wants: fn(Wants) -> bool| {
        let candidates = (0..judged.len()).filter(|i| wants(judged[*i].wants));
        candidates.min_by(|a, b| situation.keys[*a].age.cmp(&situation.keys[*b].age))
    };
    if first(judged, |wants| wants == Wants::Unbind).is_some() {
        hold_back(judged, |wants| wants == Wants::Unbind);
        let (secret, uid) = held();
        return BindingStep::Unbind { secret, uid };
    }
    if let Some(key) = first(judged, |wants| wants == Wants::Adopt) {
        hold_back(judged, |wants| wants == Wants::Adopt);
        let (secret, _) = held();
        return BindingStep::Adopt { secret, key };
    }
    let by_hand = first(judged, |wants| matches!(wants, Wants::Displace | Wants::Bind { by_hand: true }));
    let Some(winner) = by_hand.or_else(|| first(judged, |wants| wants == Wants::Bind { by_hand: false }))
    else {
        return BindingStep::Keep;
    };
    for (index, other) in judged.iter_mut().enumerate() {
        if index != winner && other.wants != Wants::Nothing {
            *other = Judged::unchanged(Row::Unsettled);
        }
    }
    match judged[winner].wants {
        Wants::Displace => {
            supersede(situation, judged, winner);
            let (secret, uid) = held();
            BindingStep::Replace { secret, uid, key: winner }
        }
        _ => BindingStep::Bind { key: winner, by_hand: by_hand.is_some() },
    }
}

/// Whoever wants something else than what is done now is judged again when that shows.
fn hold_back(judged: &mut [Judged], done: fn(Wants) -> bool) {
    for other in judged.iter_mut().filter(|other| other.wants != Wants::Nothing && !done(other.wants)) {
        *other = Judged::unchanged(Row::Unsettled);
    }
}

fn supersede(situation: &Situation, judged: &mut [Judged], winner: usize) {
    let held = situation.binding.as_ref().and_then(|binding| binding.fingerprint.as_ref());
    for (key, judged) in situation.keys.iter().zip(judged) {
        if judged.row == Row::Bound && key.key.as_ref().ok() == held {
            *judged = Judged::new(Row::Displaced, superseded(Some(&situation.keys[winner].name)));
        }
    }
}

fn ownership(key: &KeyFacts, row: Row, situation: &Situation) -> Ownership {
    let machine = situation.served_machine();
    match (row, machine) {
        (Row::Leaving, _) => Ownership::Keep,
        (Row::Denied, _) if key.owner_machines.is_empty() && key.other_owners == 0 => Ownership::Keep,
        (Row::Denied, _) => Ownership::Nobody,
        (_, Some(MachineFacts { uid, .. })) if !key.is_owned_by(uid) => Ownership::Machine(uid.clone()),
        _ => Ownership::Keep,
    }
}
