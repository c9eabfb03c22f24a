//! Tests of condition lists and of what they make of a key.

use super::*;
use crate::{AttestationKey, AttestationKeyStatus, KeyState, reason};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn transition_time_stays_while_the_status_stays() {
    let first = merge(&[], &[new(APPROVED, false, reason::AWAITING_MACHINE, "one")], 1, at(100));
    let second = merge(&first, &[new(APPROVED, false, reason::CONFLICT, "two")], 2, at(200));
    assert_eq!(second[0].last_transition_time, Time(at(100)));
    assert_eq!(
        (second[0].reason.as_str(), second[0].message.as_str(), second[0].observed_generation),
        ("Conflict", "two", Some(2))
    );
    let third = merge(&second, &[new(APPROVED, true, reason::MACHINE_CREATED, "")], 2, at(300));
    assert_eq!(third[0].last_transition_time, Time(at(300)));
    let fourth = merge(&third, &[new(APPROVED, Status::Unknown, reason::NOT_CHECKED, "")], 2, at(400));
    assert_eq!((fourth[0].status.as_str(), &fourth[0].last_transition_time), ("Unknown", &Time(at(400))));
}

#[test]
fn only_what_is_desired_is_applied() {
    let current = merge(
        &[],
        &[new("SomebodyElses", true, "Reason", ""), new(INSTALLED, true, reason::INSTALLATION_COMPLETED, "")],
        1,
        at(100),
    );
    let merged = merge(&current, &[new(INSTALLED, true, reason::INSTALLATION_COMPLETED, "")], 1, at(200));
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0], current[1], "an unchanged condition comes out as it was");
}

#[test]
fn times_are_whole_seconds() {
    let now: Timestamp = "2026-11-30T18:00:00.123456789Z".parse().unwrap();
    let merged = merge(&[], &[new(INSTALLED, false, reason::INSTALLING, "")], 1, now);
    let json = serde_json::to_value(&merged[0]).unwrap();
    assert_eq!(json["lastTransitionTime"], "2026-11-30T18:00:00Z");
}

#[test]
fn same_ignores_order_and_time_and_nothing_else() {
    let wanted =
        [new(KEY_READY, true, reason::KEY_CREATED, "m"), new(ATTESTATION_KEY_BOUND, true, reason::BOUND, "")];
    let list = merge(&[], &wanted, 1, at(100));
    let mut turned = merge(&[], &wanted, 1, at(900));
    turned.reverse();
    assert!(same(&list, &turned));
    assert!(same(&[], &[]));
    assert!(!same(&list, &list[..1]));
    type Edit = fn(&mut Condition);
    let edits: [Edit; 5] = [
        |c| c.status = "False".into(),
        |c| c.reason = "Other".into(),
        |c| c.message = "other".into(),
        |c| c.observed_generation = Some(2),
        |c| c.type_ = "Other".into(),
    ];
    for edit in edits {
        let mut other = list.clone();
        edit(&mut other[0]);
        assert!(!same(&list, &other), "{other:?}");
    }
}

fn key_with(status: Status, reason: &str) -> AttestationKey {
    let conditions = merge(&[], &[new(APPROVED, status, reason, "")], 1, at(100));
    AttestationKey {
        status: Some(AttestationKeyStatus { conditions, fingerprint: None }),
        ..AttestationKey::default()
    }
}

#[test]
fn state_of_a_key_follows_its_condition() {
    assert_eq!(KeyState::of(&AttestationKey::default()), KeyState::Pending);
    for (status, reason, state) in [
        (Status::True, reason::MACHINE_CREATED, KeyState::Trusted),
        (Status::True, reason::MANUALLY_APPROVED, KeyState::Trusted),
        (Status::False, reason::AWAITING_APPROVAL, KeyState::Pending),
        (Status::False, reason::AWAITING_CLUSTER, KeyState::Pending),
        (Status::False, reason::AWAITING_MACHINE, KeyState::Pending),
        (Status::False, reason::CONFLICT, KeyState::Refused),
        (Status::False, reason::DENIED, KeyState::Refused),
        (Status::False, reason::INVALID_KEY, KeyState::Refused),
        (Status::False, reason::SUPERSEDED, KeyState::Refused),
        (Status::False, reason::WITHDRAWN, KeyState::Refused),
        (Status::False, reason::APPROVAL_MISMATCH, KeyState::Refused),
    ] {
        assert_eq!(KeyState::of(&key_with(status, reason)), state, "{status:?} {reason}");
    }
}

#[test]
fn only_our_conditions_are_compared() {
    let theirs = new("SomebodyElses", true, "Reason", "");
    let ours = new(INSTALLED, true, reason::INSTALLATION_COMPLETED, "");
    let current = merge(&[], &[theirs, ours.clone()], 1, at(100));
    let desired = merge(&[], &[ours], 1, at(200));
    assert!(same_among(&[INSTALLED], &current, &desired));
    assert!(!same_among(&[INSTALLED], &current, &[]), "one of ours has to go");
    assert!(!same_among(&[INSTALLED], &[], &desired));
}

#[test]
fn a_kept_condition_says_what_it_said() {
    for status in [Status::True, Status::False, Status::Unknown] {
        let current = merge(&[], &[new(APPROVED, status, reason::CONFLICT, "why")], 1, at(100));
        assert_eq!(kept(&current, APPROVED), Some(new(APPROVED, status, reason::CONFLICT, "why")));
        assert_eq!(merge(&current, &Vec::from_iter(kept(&current, APPROVED)), 1, at(200)), current);
    }
    assert_eq!(kept(&[], APPROVED), None);
}
