//! Every row of the decision table.

use trusted_crds::{ApprovalPolicy, Decision, Fingerprint, KeyError, reason};

use super::key::{BindingStep, Ownership, Row};
use super::{Plan, decide};
use crate::controllers::machine::situation::{
    Age, Binding, BindingOwner, ByHand, Cluster, KeyFacts, MachineFacts, Situation,
};

pub(super) fn fingerprint(n: u8) -> Fingerprint {
    format!("sha256:{}", format!("{n:02x}").repeat(32)).parse().unwrap()
}

fn age(created_second: i64) -> Age {
    Age { created_second, ..Default::default() }
}

/// Key number `n`, as old as its number.
fn key(n: u8) -> KeyFacts {
    KeyFacts {
        name: format!("key-{n}"),
        age: age(i64::from(n)),
        deleting: false,
        key: Ok(fingerprint(n)),
        approval: None,
        owner_machines: vec![],
        other_owners: 0,
        reason: None,
        formerly_trusted: false,
    }
}

fn approved(n: u8) -> KeyFacts {
    KeyFacts { approval: Some((Decision::Approved, fingerprint(n).to_string())), ..key(n) }
}

fn refused(n: u8, reason: &str) -> KeyFacts {
    KeyFacts { reason: Some(reason.into()), ..key(n) }
}

/// The binding, made at time `n`, that holds key number `n`.
fn binding(n: u8) -> Binding {
    Binding {
        secret: "ak-m".into(),
        uid: format!("binding-{n}"),
        age: age(i64::from(n)),
        fingerprint: Some(fingerprint(n)),
        by_hand: false,
        owner: BindingOwner::Live,
    }
}

/// A served machine with these keys, policy Automatic, approvals protected.
fn with(keys: Vec<KeyFacts>) -> Situation {
    Situation {
        cluster: Some(Cluster::default()),
        machine_id: Some("m".into()),
        machines: vec![MachineFacts { name: "m".into(), uid: "machine-uid".into(), ..Default::default() }],
        keys,
        by_hand: ByHand::Protected,
        ..Default::default()
    }
}

fn bound(keys: Vec<KeyFacts>, binding: Binding) -> Situation {
    Situation { binding: Some(binding), ..with(keys) }
}

fn manual(mut situation: Situation) -> Situation {
    situation.cluster = Some(Cluster { policy: ApprovalPolicy::Manual, ..Default::default() });
    situation
}

fn without_machine(keys: Vec<KeyFacts>) -> Situation {
    Situation { machine_id: None, machines: vec![], ..with(keys) }
}

/// Row, status and reason of the key at `index`.
fn verdict(plan: &Plan, index: usize) -> (Row, Option<(bool, &'static str)>) {
    let verdict = &plan.keys[index];
    (verdict.row, verdict.approved.as_ref().map(|approved| (approved.status, approved.reason)))
}

fn bind(key: usize, by_hand: bool) -> BindingStep {
    BindingStep::Bind { key, by_hand }
}

fn unbind(n: u8) -> BindingStep {
    BindingStep::Unbind { secret: "ak-m".into(), uid: format!("binding-{n}") }
}

const KEEP: BindingStep = BindingStep::Keep;

/// Asserts what becomes of the first key and of the binding.
#[track_caller]
fn expect(situation: &Situation, row: Row, approved: Option<(bool, &'static str)>, step: &BindingStep) {
    let plan = decide(situation);
    assert_eq!(verdict(&plan, 0), (row, approved));
    assert_eq!(plan.binding, *step);
}

#[test]
fn row_1_a_key_on_its_way_out_is_left_alone() {
    let deleting = KeyFacts { deleting: true, ..approved(1) };
    expect(&with(vec![deleting]), Row::Leaving, None, &KEEP);
    let of_former_machine = KeyFacts { owner_machines: vec!["former-uid".into()], ..key(1) };
    let situation = with(vec![of_former_machine]);
    expect(&situation, Row::Leaving, None, &KEEP);
    assert_eq!(decide(&situation).keys[0].owner, Ownership::Keep, "re-owning would race garbage collection");
}

#[test]
fn row_2_what_is_no_public_key_is_invalid() {
    for error in [KeyError::NotPem, KeyError::PrivateKey, KeyError::WeakRsa { bits: 1024 }] {
        let invalid = KeyFacts { key: Err(error), ..key(1) };
        expect(&with(vec![invalid]), Row::Invalid, Some((false, reason::INVALID_KEY)), &KEEP);
    }
}

#[test]
fn row_3_a_denial_holds_for_the_key_under_any_name() {
    let denied = |situation: Situation| Situation { denied: [fingerprint(1)].into(), ..situation };
    let outcome = Some((false, reason::DENIED));
    expect(&denied(with(vec![approved(1)])), Row::Denied, outcome, &KEEP);
    expect(&denied(bound(vec![key(1)], binding(1))), Row::Denied, outcome, &unbind(1));
    // Whatever its owner: a denied key has none, so that deleting its Machine does not wash the denial off.
    let owned = KeyFacts { owner_machines: vec!["former-uid".into()], ..key(1) };
    let situation = denied(with(vec![owned]));
    expect(&situation, Row::Denied, outcome, &KEEP);
    assert_eq!(decide(&situation).keys[0].owner, Ownership::Nobody);
    // The binding goes also when the key's own object is gone; the fresh rival waits for that.
    let situation = denied(bound(vec![key(2)], binding(1)));
    expect(&situation, Row::Unsettled, None, &unbind(1));
}

#[test]
fn row_4_an_approval_for_another_key_does_not_count() {
    let mismatch = KeyFacts { approval: Some((Decision::Approved, fingerprint(9).to_string())), ..key(1) };
    expect(&with(vec![mismatch]), Row::Mismatch, Some((false, reason::APPROVAL_MISMATCH)), &KEEP);
}

#[test]
fn row_5_nothing_is_decided_without_a_served_cluster() {
    let mut situation = with(vec![approved(1)]);
    situation.cluster = None;
    expect(&situation, Row::NoCluster, Some((false, reason::AWAITING_CLUSTER)), &KEEP);
    situation.binding = Some(binding(1));
    expect(&situation, Row::Bound, Some((true, reason::MANUALLY_APPROVED)), &KEEP);
}

#[test]
fn row_5_does_not_make_a_refusal_forgotten() {
    for so_far in [reason::CONFLICT, reason::SUPERSEDED, reason::WITHDRAWN, reason::DENIED] {
        let mut situation = with(vec![refused(1, so_far)]);
        situation.cluster = None;
        expect(&situation, Row::RefusedBefore, Some((false, so_far)), &KEEP);
    }
    let mut situation = with(vec![refused(1, reason::MANUALLY_APPROVED)]);
    situation.cluster = None;
    expect(&situation, Row::RefusedBefore, Some((false, reason::WITHDRAWN)), &KEEP);
}

#[test]
fn row_6_the_bound_key_stays() {
    let automatic = Some((true, reason::MACHINE_CREATED));
    expect(&bound(vec![key(1)], binding(1)), Row::Bound, automatic, &KEEP);
    expect(&manual(bound(vec![key(1)], binding(1))), Row::Bound, automatic, &KEEP);
    expect(&bound(vec![approved(1)], binding(1)), Row::Bound, Some((true, reason::MANUALLY_APPROVED)), &KEEP);
}

#[test]
fn row_6_a_withdrawn_approval_unbinds() {
    let outcome = Some((false, reason::WITHDRAWN));
    let situation = bound(vec![refused(1, reason::MANUALLY_APPROVED)], binding(1));
    expect(&situation, Row::Bound, outcome, &unbind(1));
    // Stopped between binding and status: the binding itself says whose word it rests on.
    let by_hand = Binding { by_hand: true, ..binding(1) };
    expect(&bound(vec![key(1)], by_hand.clone()), Row::Bound, outcome, &unbind(1));
    // The same key under another name, still approved, keeps it.
    let twin = KeyFacts { name: "twin".into(), ..approved(1) };
    let plan = decide(&bound(vec![key(1), twin], by_hand));
    assert_eq!(plan.binding, KEEP);
    assert_eq!(verdict(&plan, 0).1, Some((true, reason::MANUALLY_APPROVED)));
    // Stopped after the binding was deleted, before the status said so.
    let situation = with(vec![refused(1, reason::MANUALLY_APPROVED)]);
    expect(&situation, Row::RefusedBefore, outcome, &KEEP);
}

#[test]
fn row_6_of_two_bindings_of_one_key_the_older_stays() {
    let other = |created: i64| Binding { secret: "ak-n".into(), age: age(created), ..binding(1) };
    let mut situation = bound(vec![key(1)], binding(1));
    situation.elsewhere = vec![other(0)];
    expect(&situation, Row::BoundElsewhere, Some((false, reason::CONFLICT)), &unbind(1));
    situation.elsewhere = vec![other(2)];
    expect(&situation, Row::Bound, Some((true, reason::MACHINE_CREATED)), &KEEP);
}

#[test]
fn row_6_a_restored_binding_is_adopted() {
    let restored = Binding { owner: BindingOwner::Nobody, ..binding(1) };
    let adopt = BindingStep::Adopt { secret: "ak-m".into(), key: 0 };
    expect(&bound(vec![key(1)], restored), Row::Bound, Some((true, reason::MACHINE_CREATED)), &adopt);
}

#[test]
fn row_6a_a_key_serves_one_machine() {
    let other = Binding { secret: "ak-n".into(), ..binding(1) };
    for key in [key(1), approved(1)] {
        let mut situation = with(vec![key]);
        situation.elsewhere = vec![other.clone()];
        expect(&situation, Row::BoundElsewhere, Some((false, reason::CONFLICT)), &KEEP);
        assert!(decide(&situation).keys[0].approved.as_ref().unwrap().message.contains("ak-n"));
    }
    let mut situation = with(vec![key(1)]);
    situation.elsewhere = vec![Binding { owner: BindingOwner::Leaving, ..other }];
    expect(&situation, Row::Unsettled, None, &KEEP);
}

#[test]
fn row_7_a_persons_choice_displaces_a_key_nobody_chose() {
    let plan = decide(&bound(vec![approved(2), key(1)], binding(1)));
    let replace = BindingStep::Replace { secret: "ak-m".into(), uid: "binding-1".into(), key: 0 };
    assert_eq!(plan.binding, replace);
    assert_eq!(verdict(&plan, 0), (Row::Displaces, Some((true, reason::MANUALLY_APPROVED))));
    assert_eq!(verdict(&plan, 1), (Row::Displaced, Some((false, reason::SUPERSEDED))));
    assert_eq!(plan.machines[0].attestation_key.as_ref().unwrap().0, "key-2");
}

#[test]
fn row_7_a_key_that_was_told_before_it_was_unbound_is_told_the_same_again() {
    let told = KeyFacts { reason: Some(reason::SUPERSEDED.into()), ..key(1) };
    let plan = decide(&bound(vec![approved(2), told], binding(1)));
    assert_eq!(plan.binding, unbind(1));
    assert_eq!(verdict(&plan, 1), (Row::Bound, Some((false, reason::SUPERSEDED))));
    let message = &plan.keys[1].approved.as_ref().unwrap().message;
    assert!(message.contains("key-2"), "{message}");
}

#[test]
fn row_7_waits_while_the_former_choice_is_being_withdrawn() {
    let former = KeyFacts { reason: Some(reason::MANUALLY_APPROVED.into()), ..key(1) };
    let mut situation = bound(vec![former, approved(2)], Binding { by_hand: true, ..binding(1) });
    situation.by_hand = ByHand::Unknown;
    let plan = decide(&situation);
    assert_eq!(plan.binding, unbind(1));
    assert_eq!(verdict(&plan, 0).1, Some((false, reason::WITHDRAWN)));
    assert_eq!(
        verdict(&plan, 1),
        (Row::Unsettled, None),
        "nothing is said of it before its approval was proved"
    );
}

#[test]
fn row_7_stopped_halfway_comes_to_the_same_end() {
    // The choice is bound, and nothing has been said yet of the key that was bound before.
    let former = KeyFacts { reason: Some(reason::MACHINE_CREATED.into()), ..key(1) };
    let mut situation = bound(vec![former, approved(2)], Binding { by_hand: true, ..binding(2) });
    let plan = decide(&situation);
    assert_eq!(verdict(&plan, 0), (Row::Taken, Some((false, reason::SUPERSEDED))));
    assert_eq!(plan.binding, KEEP);
    // Where no person chose the other, it is a conflict like any other.
    situation.keys[1].approval = None;
    situation.binding = Some(binding(2));
    assert_eq!(verdict(&decide(&situation), 0), (Row::Taken, Some((false, reason::CONFLICT))));
}

#[test]
fn protection_is_proved_on_a_key_that_was_bound_before_it_could_be_told() {
    let mut situation = bound(vec![key(3), approved(1)], Binding { by_hand: true, ..binding(1) });
    situation.by_hand = ByHand::Unknown;
    assert_eq!(decide(&situation).prove_on, None, "it has been told");
    let unknown = situation.cluster.map(|cluster| Cluster { protection_unknown: true, ..cluster });
    situation.cluster = unknown;
    assert_eq!(decide(&situation).prove_on, Some(1));
    situation.by_hand = ByHand::Unprotected;
    let plan = decide(&situation);
    assert_eq!((plan.prove_on, &plan.binding), (None, &KEEP), "what is bound stays bound");
    let nobody_chose = bound(vec![key(1)], binding(1));
    let nobody_chose = Situation { by_hand: ByHand::Unknown, cluster: unknown, ..nobody_chose };
    assert_eq!(decide(&nobody_chose).prove_on, None);
}

#[test]
fn row_8_a_second_key_is_a_conflict_and_hand_never_displaces_hand() {
    let outcome = Some((false, reason::CONFLICT));
    expect(&bound(vec![key(2), key(1)], binding(1)), Row::Taken, outcome, &KEEP);
    expect(&bound(vec![approved(2), approved(1)], binding(1)), Row::Taken, outcome, &KEEP);
    for says_more in [reason::SUPERSEDED, reason::WITHDRAWN] {
        let outcome = Some((false, says_more));
        expect(&bound(vec![refused(2, says_more), key(1)], binding(1)), Row::Taken, outcome, &KEEP);
    }
    let leaving = Binding { owner: BindingOwner::Leaving, ..binding(1) };
    expect(&bound(vec![key(2)], leaving), Row::Unsettled, None, &KEEP);
}

#[test]
fn row_8_a_foreign_secret_is_an_obstacle_and_no_refusal() {
    let foreign = || Binding { fingerprint: None, ..binding(1) };
    let outcome = Some((false, reason::FOREIGN_SECRET));
    for key in [key(2), approved(2), refused(2, reason::FOREIGN_SECRET), refused(2, reason::MACHINE_CREATED)]
    {
        expect(&bound(vec![key], foreign()), Row::Taken, outcome, &KEEP);
    }
    let machines = decide(&bound(vec![key(2)], foreign())).machines;
    let told = machines.first().and_then(|machine| machine.bound.as_ref()).map(|verdict| verdict.reason);
    assert_eq!(told, Some(reason::CONFLICT), "the machine has a key, which is not trusted");
    // Neither it nor an approval without effect washes off a refusal.
    for reason in [reason::CONFLICT, reason::SUPERSEDED, reason::WITHDRAWN] {
        expect(&bound(vec![refused(2, reason)], foreign()), Row::Taken, Some((false, reason)), &KEEP);
    }
    let withdrawn = Some((false, reason::WITHDRAWN));
    expect(&bound(vec![refused(2, reason::MANUALLY_APPROVED)], foreign()), Row::Taken, withdrawn, &KEEP);
    let freed = with(vec![refused(2, reason::FOREIGN_SECRET)]);
    let trusted = Some((true, reason::MACHINE_CREATED));
    expect(&freed, Row::First, trusted, &BindingStep::Bind { key: 0, by_hand: false });
}

#[test]
fn row_9_an_approved_key_is_bound_also_before_its_machine_exists() {
    let mut situation = manual(with(vec![approved(1)]));
    let outcome = Some((true, reason::MANUALLY_APPROVED));
    expect(&situation, Row::ByHand, outcome, &bind(0, true));
    situation.machines.clear();
    expect(&situation, Row::ByHand, outcome, &bind(0, true));
    // A person's choice goes before an older key that nobody chose.
    let plan = decide(&with(vec![key(1), approved(2)]));
    assert_eq!(plan.binding, bind(1, true));
    assert_eq!(verdict(&plan, 0), (Row::Unsettled, None));
}

#[test]
fn rows_7_9_14_wait_for_the_admission_policy() {
    let cases = [
        bound(vec![approved(2), key(1)], binding(1)),
        with(vec![approved(1)]),
        without_machine(vec![approved(1)]),
    ];
    for situation in cases {
        let unknown = Situation { by_hand: ByHand::Unknown, ..situation.clone() };
        assert_eq!(decide(&unknown).prove_on, Some(0));
        let unprotected = Situation { by_hand: ByHand::Unprotected, ..situation.clone() };
        expect(&unprotected, Row::NeedsPerson, Some((false, reason::AWAITING_APPROVAL)), &KEEP);
        assert_eq!(decide(&situation).prove_on, None);
    }
    // A refusal is not washed off by an approval that has no effect.
    let refused = KeyFacts { reason: Some(reason::CONFLICT.into()), ..approved(1) };
    let unprotected = Situation { by_hand: ByHand::Unprotected, ..with(vec![refused]) };
    expect(&unprotected, Row::NeedsPerson, Some((false, reason::CONFLICT)), &KEEP);
    // Existing bindings stay.
    let mut situation = bound(vec![approved(1)], Binding { by_hand: true, ..binding(1) });
    situation.by_hand = ByHand::Unprotected;
    expect(&situation, Row::Bound, Some((true, reason::MANUALLY_APPROVED)), &KEEP);
}

#[test]
fn row_10_a_key_waits_for_its_machine() {
    let mut situation = with(vec![key(1)]);
    situation.machines.clear();
    expect(&situation, Row::NoMachine, Some((false, reason::AWAITING_MACHINE)), &KEEP);
    situation.machines = vec![MachineFacts { deleting: true, ..Default::default() }];
    expect(&situation, Row::NoMachine, Some((false, reason::AWAITING_MACHINE)), &KEEP);
}

#[test]
fn row_10a_what_an_earlier_operator_trusted_stays_trusted_or_waits_for_a_person() {
    let former = |n| KeyFacts { formerly_trusted: true, ..key(n) };
    // One of them: trusted before an older rival, and under policy Manual, which concerns new keys.
    for situation in [with(vec![key(1), former(2)]), manual(with(vec![key(1), former(2)]))] {
        let plan = decide(&situation);
        assert_eq!(plan.binding, BindingStep::Bind { key: 1, by_hand: false });
        assert_eq!(verdict(&plan, 0), (Row::FormerlyTrusted, Some((false, reason::CONFLICT))));
        assert_eq!(verdict(&plan, 1), (Row::FormerlyTrusted, Some((true, reason::MACHINE_CREATED))));
    }
    // Several: none is bound, all are told, and a person's choice is.
    let mut several = with(vec![former(1), former(2)]);
    let plan = decide(&several);
    assert_eq!(plan.binding, BindingStep::Keep);
    assert_eq!([verdict(&plan, 0).1, verdict(&plan, 1).1], [Some((false, reason::CONFLICT)); 2]);
    several.keys[1] = KeyFacts { formerly_trusted: true, ..approved(2) };
    assert_eq!(decide(&several).binding, BindingStep::Bind { key: 1, by_hand: true });
    // Refused before: gone with its rival it may be, trusted it is not.
    let refused = KeyFacts { formerly_trusted: true, ..refused(1, reason::CONFLICT) };
    assert_eq!(decide(&with(vec![refused])).binding, BindingStep::Keep);
    // One of two denied: the other is the only one.
    let mut denied = with(vec![former(1), former(2)]);
    denied.denied = [fingerprint(1)].into();
    assert_eq!(decide(&denied).binding, BindingStep::Bind { key: 1, by_hand: false });
}

#[test]
fn row_11_policy_manual_needs_a_person() {
    let situation = manual(with(vec![key(1)]));
    expect(&situation, Row::NeedsPerson, Some((false, reason::AWAITING_APPROVAL)), &KEEP);
}

#[test]
fn row_12_a_refused_key_is_never_trusted_again_by_itself() {
    let refusals =
        [reason::CONFLICT, reason::SUPERSEDED, reason::WITHDRAWN, reason::DENIED, reason::APPROVAL_MISMATCH];
    for so_far in refusals {
        expect(&with(vec![refused(1, so_far)]), Row::RefusedBefore, Some((false, so_far)), &KEEP);
    }
    // Nor does it help to register it once more under another name.
    let renamed = KeyFacts { name: "renamed".into(), ..key(1) };
    let situation = with(vec![renamed, refused(1, reason::CONFLICT)]);
    expect(&situation, Row::RefusedBefore, Some((false, reason::CONFLICT)), &KEEP);
    let again = KeyFacts { reason: Some(reason::CONFLICT.into()), ..approved(1) };
    expect(&with(vec![again]), Row::ByHand, Some((true, reason::MANUALLY_APPROVED)), &bind(0, true));
}

#[test]
fn row_13_the_first_key_wins_and_the_oldest_tries_first() {
    let plan = decide(&with(vec![key(2), key(1)]));
    assert_eq!(plan.binding, bind(1, false));
    assert_eq!(verdict(&plan, 1), (Row::First, Some((true, reason::MACHINE_CREATED))));
    assert_eq!(verdict(&plan, 0), (Row::Unsettled, None), "judged once the store shows the winner");
    assert_eq!(plan.keys[1].owner, Ownership::Machine("machine-uid".into()));
    assert_eq!(plan.keys[0].owner, Ownership::Machine("machine-uid".into()), "trusted or not");
}

#[test]
fn row_14_a_key_without_machine_is_trusted_by_hand_only() {
    let waiting = Some((false, reason::AWAITING_APPROVAL));
    expect(&without_machine(vec![key(1)]), Row::NeedsPerson, waiting, &KEEP);
    let by_hand = Some((true, reason::MANUALLY_APPROVED));
    expect(&without_machine(vec![approved(1)]), Row::ByHand, by_hand, &bind(0, true));
    let mut situation = without_machine(vec![approved(1)]);
    situation.binding = Some(Binding { by_hand: true, ..binding(1) });
    expect(&situation, Row::Bound, by_hand, &KEEP);
    situation.keys = vec![key(1)];
    expect(&situation, Row::Bound, Some((false, reason::WITHDRAWN)), &unbind(1));
}

#[test]
fn a_key_is_owned_by_its_machine_alone_and_a_denied_one_by_nobody() {
    let owned = |machines: &[&str], other_owners| KeyFacts {
        owner_machines: machines.iter().map(|uid| (*uid).to_owned()).collect(),
        other_owners,
        ..key(1)
    };
    let owner = |key: KeyFacts, denied: bool| {
        let denied = denied.then(|| fingerprint(1)).into_iter().collect();
        decide(&Situation { denied, ..bound(vec![key], binding(1)) }).keys[0].owner.clone()
    };
    let machine = || Ownership::Machine("machine-uid".into());
    assert_eq!(owner(owned(&["machine-uid"], 0), false), Ownership::Keep);
    assert_eq!(owner(owned(&["machine-uid"], 1), false), machine(), "else it would outlive its machine");
    assert_eq!(owner(owned(&[], 1), false), machine());
    assert_eq!(owner(owned(&[], 1), true), Ownership::Nobody, "nor may a cluster take a denial with it");
    assert_eq!(owner(owned(&[], 0), true), Ownership::Keep);
}

#[test]
fn a_machine_is_told_what_its_keys_came_to() {
    let told = |situation: &Situation| {
        let plan = decide(situation);
        plan.machines[0].bound.as_ref().map(|bound| (bound.status, bound.reason))
    };
    assert_eq!(told(&with(vec![])), Some((false, reason::NO_KEY)));
    assert_eq!(told(&with(vec![key(1)])), Some((true, reason::BOUND)));
    assert_eq!(told(&manual(with(vec![key(1)]))), Some((false, reason::AWAITING_APPROVAL)));
    assert_eq!(told(&with(vec![refused(1, reason::CONFLICT)])), Some((false, reason::CONFLICT)));
    assert_eq!(told(&bound(vec![key(1), key(2)], binding(1))), Some((true, reason::BOUND)));
    let leaving = Binding { owner: BindingOwner::Leaving, ..binding(1) };
    assert_eq!(told(&bound(vec![key(2)], leaving)), None, "open until garbage collection is done");
}

#[test]
fn of_several_machines_with_one_id_one_is_served() {
    let mut situation = with(vec![key(1)]);
    let machine = |uid: &str, created: i64| MachineFacts {
        name: uid.into(),
        uid: uid.into(),
        age: Age { created_second: created, uid: uid.into() },
        ..Default::default()
    };
    situation.machines = vec![machine("young", 2), machine("old", 1)];
    let plan = decide(&situation);
    let ready = |index: usize| plan.machines[index].key_ready.as_ref().map(|v| v.reason);
    assert_eq!((ready(0), ready(1)), (Some(reason::DUPLICATE_ID), Some(reason::KEY_CREATED)));
    assert_eq!(plan.keys[0].owner, Ownership::Machine("old".into()));
}
