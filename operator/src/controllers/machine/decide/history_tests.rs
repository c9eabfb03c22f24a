//! Random histories of people, registrations, deletions, crashes and stale stores: whatever happens, never two
//! keys trusted for one machine, never one key for two, never a refused key trusted without a person.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use trusted_crds::{ApprovalPolicy, Decision, Fingerprint, reason};

use super::key::BindingStep;
use super::key_tests::fingerprint;
use super::{Plan, decide};
use crate::controllers::machine::situation::{
    Age, Binding, BindingOwner, ByHand, Cluster, KeyFacts, MachineFacts, Situation,
};

const MACHINES: [&str; 2] = ["m0", "m1"];

/// Something that happens in the cluster.
#[derive(Clone, Debug)]
enum Event {
    CreateMachine(usize),
    DeleteMachine(usize),
    /// Register key number `key` for a machine id.
    Register {
        machine: usize,
        key: u8,
    },
    DeleteKey(usize),
    Decide {
        object: usize,
        decision: Option<Decision>,
    },
    /// An approval or denial for another key than the one it is written on.
    Mismatch {
        object: usize,
        decision: Decision,
    },
    Policy(ApprovalPolicy),
    /// The cluster goes or comes.
    Cluster(bool),
    /// The admission policy goes or comes.
    Protected(bool),
    /// A pass over a machine id that may stop after some of its writes, on stores that may be behind.
    Reconcile {
        machine: usize,
        stop_after: usize,
        stale: bool,
    },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let machine = 0..MACHINES.len();
    let decision = prop_oneof![Just(None), Just(Some(Decision::Approved)), Just(Some(Decision::Denied))];
    let policy = prop_oneof![Just(ApprovalPolicy::Automatic), Just(ApprovalPolicy::Manual)];
    let event = prop_oneof![
        1 => machine.clone().prop_map(Event::CreateMachine),
        1 => machine.clone().prop_map(Event::DeleteMachine),
        3 => (machine.clone(), 1_u8..5).prop_map(|(machine, key)| Event::Register { machine, key }),
        1 => (0_usize..6).prop_map(Event::DeleteKey),
        2 => (0_usize..6, decision).prop_map(|(object, decision)| Event::Decide { object, decision }),
        1 => (0_usize..6, prop_oneof![Just(Decision::Approved), Just(Decision::Denied)])
            .prop_map(|(object, decision)| Event::Mismatch { object, decision }),
        1 => policy.prop_map(Event::Policy),
        1 => any::<bool>().prop_map(Event::Cluster),
        1 => any::<bool>().prop_map(Event::Protected),
        8 => (machine, 0_usize..6, any::<bool>())
            .prop_map(|(machine, stop_after, stale)| Event::Reconcile { machine, stop_after, stale }),
    ];
    prop::collection::vec(event, 1..60)
}

#[derive(Clone, Debug)]
struct KeyObject {
    machine: usize,
    facts: KeyFacts,
}

/// What the API server stores.
#[derive(Clone, Debug, Default)]
struct World {
    clock: i64,
    policy: ApprovalPolicy,
    without_cluster: bool,
    unprotected: bool,
    machines: BTreeMap<usize, MachineFacts>,
    keys: Vec<KeyObject>,
    bindings: BTreeMap<usize, (Binding, String)>,
}

/// A world, the older view of it that a store may still hold, and what may never be trusted by itself.
#[derive(Debug, Default)]
struct History {
    world: World,
    before: World,
    /// Objects that were told they are refused and that no person has approved since.
    refused: BTreeSet<String>,
}

impl History {
    fn step(&mut self, event: &Event) {
        let before = self.world.clone();
        self.world.clock += 1;
        if let Event::Reconcile { machine, stop_after, stale } = event {
            self.reconcile(*machine, *stop_after, *stale);
            // A store may be behind the world, but the ledger keeps it from being behind our own writes.
            self.before = self.world.clone();
        } else {
            self.happen(event);
            self.before = before;
        }
        self.check();
    }

    fn happen(&mut self, event: &Event) {
        let world = &mut self.world;
        let age = Age { created_second: world.clock, uid: format!("uid-{}", world.clock) };
        match *event {
            Event::CreateMachine(machine) => {
                world.machines.entry(machine).or_insert_with(|| MachineFacts {
                    name: MACHINES[machine].into(),
                    uid: age.uid.clone(),
                    age,
                    ..Default::default()
                });
            }
            Event::DeleteMachine(machine) => {
                world.machines.remove(&machine);
            }
            Event::Register { machine, key } if world.keys.len() < 6 => {
                world.keys.push(KeyObject { machine, facts: fresh_key(key, age) });
            }
            Event::DeleteKey(object) if object < world.keys.len() => {
                world.keys.remove(object);
            }
            Event::Decide { object, decision } if object < world.keys.len() => {
                let facts = &mut world.keys[object].facts;
                let own = facts.key.clone().unwrap().to_string();
                facts.approval = decision.map(|decision| (decision, own));
                // Only a decision that may take effect takes a key off the list.
                if decision == Some(Decision::Approved) && !world.unprotected {
                    self.refused.remove(&facts.age.uid);
                }
            }
            Event::Mismatch { object, decision } if object < world.keys.len() => {
                world.keys[object].facts.approval = Some((decision, fingerprint(200).to_string()));
            }
            Event::Cluster(present) => world.without_cluster = !present,
            Event::Protected(protected) => {
                world.unprotected = !protected;
                // What was approved meanwhile takes effect once it is protected again.
                if protected {
                    let approved = world.keys.iter().filter(|key| key.facts.is_approved_by_hand());
                    approved.for_each(|key| _ = self.refused.remove(&key.facts.age.uid));
                }
            }
            Event::Policy(policy) => world.policy = policy,
            _ => {}
        }
        self.collect_garbage();
    }

    fn collect_garbage(&mut self) {
        let machines: BTreeSet<String> =
            self.world.machines.values().map(|machine| machine.uid.clone()).collect();
        self.world.keys.retain(|key| {
            let owners = &key.facts.owner_machines;
            owners.is_empty() || owners.iter().any(|owner| machines.contains(owner))
        });
        let live: BTreeSet<&String> = self.world.keys.iter().map(|key| &key.facts.age.uid).collect();
        self.world.bindings.retain(|_, (_, owner)| live.contains(owner));
    }

    /// One pass: decides on a view, writes into the world as the API server would let it, in the order of the real
    /// one: a key that loses trust is told first, and kept if it was not what the decision rests on.
    fn reconcile(&mut self, machine: usize, stop_after: usize, stale: bool) {
        let view = if stale { &self.before } else { &self.world };
        let situation = situation(view, machine);
        let uids: Vec<String> = situation.keys.iter().map(|key| key.age.uid.clone()).collect();
        let versions: Vec<KeyFacts> = situation.keys.clone();
        let plan = decide(&situation);
        let mut writes = 0;
        let mut stopped = || {
            writes += 1;
            writes > stop_after
        };
        let held = situation.binding.as_ref().and_then(|binding| binding.fingerprint.clone());
        let unbinds = matches!(plan.binding, BindingStep::Unbind { .. });
        let first = |index: usize| unbinds && versions[index].key.as_ref().ok() == held.as_ref();
        for index in (0..uids.len()).filter(|index| first(*index)) {
            if stopped() || !self.write_key(&versions[index], &plan.keys[index]) {
                return;
            }
        }
        if stopped() || !self.write_binding(machine, &plan, &uids) {
            return;
        }
        for index in (0..uids.len()).filter(|index| !first(*index)) {
            if stopped() {
                return;
            }
            self.write_key(&versions[index], &plan.keys[index]);
        }
        self.collect_garbage();
    }

    /// Whether the key still was as it was seen: a status carries the resourceVersion of the decision.
    fn write_key(&mut self, seen: &KeyFacts, verdict: &super::KeyVerdict) -> bool {
        let object = self.world.keys.iter_mut().find(|key| key.facts.age.uid == seen.age.uid);
        let Some(object) = object.filter(|object| object.facts == *seen) else { return false };
        if let super::Ownership::Machine(owner) = &verdict.owner {
            object.facts.owner_machines = vec![owner.clone()];
        }
        if let Some(approved) = &verdict.approved {
            object.facts.reason = Some(approved.reason.to_owned());
            let refusal = [reason::CONFLICT, reason::SUPERSEDED, reason::DENIED, reason::WITHDRAWN];
            if refusal.contains(&approved.reason) {
                self.refused.insert(seen.age.uid.clone());
            }
        }
        true
    }

    /// Whether the pass goes on: not when a create met an existing object.
    fn write_binding(&mut self, machine: usize, plan: &Plan, uids: &[String]) -> bool {
        match &plan.binding {
            BindingStep::Keep | BindingStep::Adopt { .. } => true,
            BindingStep::Unbind { uid, .. } => {
                self.unbind(machine, uid);
                true
            }
            BindingStep::Bind { key, by_hand } => self.bind(machine, &uids[*key], *by_hand),
            BindingStep::Replace { uid, key, .. } => {
                self.unbind(machine, uid);
                self.bind(machine, &uids[*key], true)
            }
        }
    }

    fn unbind(&mut self, machine: usize, uid: &str) {
        if self.world.bindings.get(&machine).is_some_and(|(binding, _)| binding.uid == uid) {
            self.world.bindings.remove(&machine);
        }
    }

    fn bind(&mut self, machine: usize, owner: &str, by_hand: bool) -> bool {
        let Some(key) = self.world.keys.iter().find(|key| key.facts.age.uid == owner) else { return false };
        let held = key.facts.key.clone().unwrap();
        // The claim of this process, looked up again in the store just before the write.
        let elsewhere = |(other, (binding, _)): (&usize, &(Binding, String))| {
            *other != machine && binding.fingerprint.as_ref() == Some(&held)
        };
        if self.world.bindings.contains_key(&machine) || self.world.bindings.iter().any(elsewhere) {
            return false;
        }
        let clock = self.world.clock;
        let binding = Binding {
            secret: format!("ak-{}", MACHINES[machine]),
            uid: format!("binding-{clock}"),
            age: Age { created_second: clock, uid: format!("binding-{clock}") },
            fingerprint: Some(held),
            by_hand,
            owner: BindingOwner::Live,
        };
        self.world.bindings.insert(machine, (binding, owner.to_owned()));
        true
    }

    fn check(&self) {
        let mut serving = BTreeSet::new();
        for (machine, (binding, owner)) in &self.world.bindings {
            let held = binding.fingerprint.clone().unwrap();
            assert!(serving.insert(held.clone()), "one key serves two machines");
            let key = self.world.keys.iter().find(|key| key.facts.age.uid == *owner).unwrap();
            assert_eq!(key.machine, *machine, "a key serves a machine it does not name");
        }
        for machine in 0..MACHINES.len() {
            let trusted = |key: &&KeyObject| {
                let told = key.facts.reason.as_deref();
                key.machine == machine
                    && (told == Some(reason::MACHINE_CREATED) || told == Some(reason::MANUALLY_APPROVED))
            };
            let bound =
                self.world.bindings.get(&machine).and_then(|(binding, _)| binding.fingerprint.clone());
            let told: BTreeSet<Fingerprint> =
                self.world.keys.iter().filter(trusted).map(|key| key.facts.key.clone().unwrap()).collect();
            let bound_and_told: Vec<_> = told.iter().filter(|held| Some(*held) == bound.as_ref()).collect();
            assert!(bound_and_told.len() <= 1);
        }
    }

    /// After every machine id was looked at on fresh stores until nothing changes, words and deeds agree.
    fn settle(&mut self) {
        self.step(&Event::Cluster(true));
        for _ in 0..8 {
            for machine in 0..MACHINES.len() {
                self.step(&Event::Reconcile { machine, stop_after: usize::MAX, stale: false });
            }
        }
        for object in &self.world.keys {
            let held = object.facts.key.clone().unwrap();
            let bound = self.world.bindings.get(&object.machine).and_then(|(b, _)| b.fingerprint.clone());
            let told = object.facts.reason.as_deref().unwrap_or_default();
            if told == reason::APPROVAL_MISMATCH {
                continue; // Told so, and otherwise left as it is, bound or not.
            }
            let trusted = [reason::MACHINE_CREATED, reason::MANUALLY_APPROVED].contains(&told);
            assert_eq!(trusted, bound.as_ref() == Some(&held), "{told} of {object:?}, bound {bound:?}");
        }
    }
}

fn fresh_key(number: u8, age: Age) -> KeyFacts {
    KeyFacts {
        name: format!("key-{}", age.uid),
        age,
        deleting: false,
        key: Ok(fingerprint(number)),
        approval: None,
        owner_machines: vec![],
        other_owners: 0,
        reason: None,
        formerly_trusted: false,
    }
}

fn situation(world: &World, machine: usize) -> Situation {
    let keys: Vec<KeyFacts> =
        world.keys.iter().filter(|key| key.machine == machine).map(|key| key.facts.clone()).collect();
    let own: BTreeSet<Fingerprint> = keys.iter().filter_map(|key| key.key.clone().ok()).collect();
    let denied = world.keys.iter().filter(|key| key.facts.decision() == Some(Decision::Denied));
    let elsewhere = world.bindings.iter().filter(|(other, _)| **other != machine);
    Situation {
        cluster: (!world.without_cluster).then_some(Cluster { policy: world.policy, ..Default::default() }),
        machine_id: Some(MACHINES[machine].into()),
        machines: world.machines.get(&machine).cloned().into_iter().collect(),
        elsewhere: elsewhere
            .filter(|(_, (binding, _))| binding.fingerprint.as_ref().is_some_and(|held| own.contains(held)))
            .map(|(_, (binding, _))| binding.clone())
            .collect(),
        denied: denied.filter_map(|key| key.facts.key.clone().ok()).collect(),
        binding: world.bindings.get(&machine).map(|(binding, _)| binding.clone()),
        keys,
        by_hand: if world.unprotected { ByHand::Unprotected } else { ByHand::Protected },
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn first_key_wins_through_any_history(events in events()) {
        let mut history = History::default();
        for event in &events {
            let refused_before = history.refused.clone();
            history.step(event);
            // A refused key comes to be trusted only through a person, who takes it off the list.
            for uid in refused_before.intersection(&history.refused) {
                let object = history.world.keys.iter().find(|key| key.facts.age.uid == *uid);
                let owns = history.world.bindings.values().any(|(binding, owner)| owner == uid && !binding.by_hand);
                let bound_before = history.before.bindings.values().any(|(_, owner)| owner == uid);
                prop_assert!(object.is_none() || !owns || bound_before, "refused and then bound: {:?}", object);
            }
        }
        history.settle();
    }
}
