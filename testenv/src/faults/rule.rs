//! Rules in force: whom they are about, when they act, and how they end.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{
    action::{CallAction, EventAction},
    call::Call,
    event::Event,
    log::LIMIT,
    matching::{Events, Match},
};
use crate::shuffle::Shuffler;

/// Which of the matching requests or events a rule acts on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// So many are let pass first.
    pub(super) after: usize,
    /// So many are acted on at most.
    pub(super) times: usize,
    /// With this probability.
    pub(super) chance: f64,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { after: 0, times: usize::MAX, chance: 1.0 }
    }
}

/// What happens in the life of a rule, whatever it is about.
#[derive(Debug)]
pub(super) struct Core {
    id: u64,
    schedule: Schedule,
    state: watch::Sender<State>,
}

#[derive(Debug)]
struct State {
    matched: usize,
    hits: usize,
    lifted: bool,
    /// Of this rule alone, so that its draws do not depend on what else happens.
    shuffler: Shuffler,
}

impl Core {
    /// Whether the rule acts on a match. Counts, so it is asked once for each.
    pub(super) fn fires(&self) -> bool {
        let Schedule { after, times, chance } = self.schedule;
        let mut fires = false;
        self.state.send_if_modified(|state| {
            if state.lifted || state.hits >= times {
                return false;
            }
            state.matched += 1;
            fires = state.matched > after && state.shuffler.chance(chance);
            state.hits += usize::from(fires);
            fires
        });
        fires
    }

    pub(super) fn shuffle<T>(&self, list: &mut [T]) {
        self.state.send_if_modified(|state| {
            state.shuffler.shuffle(list);
            false
        });
    }

    pub(super) fn is_lifted(&self) -> bool {
        self.state.borrow().lifted
    }

    /// Returns when the rule is not in force any more.
    pub(super) async fn lifted(&self) {
        // The sender lives as long as this value.
        let _ = self.state.subscribe().wait_for(|state| state.lifted).await;
    }
}

/// A rule about requests or about events.
#[derive(Debug)]
pub(super) struct Live<M, A> {
    pub(super) core: Arc<Core>,
    pub(super) what: M,
    pub(super) action: A,
}

pub(super) type CallRule = Arc<Live<Match, CallAction>>;
pub(super) type EventRule = Arc<Live<Events, EventAction>>;

/// All rules, in the order in which they were made, which is the order in which they act.
#[derive(Debug)]
pub(super) struct Rules {
    set: watch::Sender<RuleSet>,
    /// Where each rule's own chance comes from. Locked while a rule is added, so that numbers grow along the list.
    seeds: Mutex<Shuffler>,
}

#[derive(Debug, Default)]
pub(super) struct RuleSet {
    calls: Vec<CallRule>,
    events: Vec<EventRule>,
    made: u64,
}

impl Rules {
    pub(super) fn new(seed: u64) -> Rules {
        Rules { set: watch::Sender::new(RuleSet::default()), seeds: Mutex::new(Shuffler::new(seed)) }
    }

    /// Tells of every new and every lifted rule.
    pub(super) fn changes(&self) -> watch::Receiver<RuleSet> {
        self.set.subscribe()
    }

    /// The rules about a request, and the number of the newest rule of all.
    pub(super) fn about(&self, call: &Call) -> (Vec<CallRule>, u64) {
        let rules = self.set.borrow();
        (rules.calls.iter().filter(|rule| rule.what.holds(call)).cloned().collect(), rules.made)
    }

    /// The same, only rules that are newer than some number.
    pub(super) fn newer(&self, call: &Call, than: u64) -> (Vec<CallRule>, u64) {
        let (mut rules, newest) = self.about(call);
        rules.retain(|rule| rule.core.id > than);
        (rules, newest)
    }

    pub(super) fn about_event(&self, call: &Call, event: &Event) -> Vec<EventRule> {
        let rules = self.set.borrow();
        rules.events.iter().filter(|rule| rule.what.holds(call, event)).cloned().collect()
    }

    pub(super) fn add_call(self: &Arc<Rules>, schedule: Schedule, what: Match, action: CallAction) -> Rule {
        self.add(schedule, |rules, core| rules.calls.push(Arc::new(Live { core, what, action })))
    }

    pub(super) fn add_event(
        self: &Arc<Rules>,
        schedule: Schedule,
        what: Events,
        action: EventAction,
    ) -> Rule {
        self.add(schedule, |rules, core| rules.events.push(Arc::new(Live { core, what, action })))
    }

    fn add(self: &Arc<Rules>, schedule: Schedule, push: impl FnOnce(&mut RuleSet, Arc<Core>)) -> Rule {
        let mut seeds = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        let state = State { matched: 0, hits: 0, lifted: false, shuffler: Shuffler::new(seeds.draw()) };
        let id = self.set.borrow().made + 1;
        let core = Arc::new(Core { id, schedule, state: watch::Sender::new(state) });
        self.set.send_modify(|rules| {
            rules.made = id;
            push(rules, Arc::clone(&core));
        });
        Rule { rules: Arc::clone(self), core }
    }

    fn lift(&self, core: &Core) {
        core.state.send_modify(|state| state.lifted = true);
        self.set.send_modify(|rules| {
            rules.calls.retain(|rule| rule.core.id != core.id);
            rules.events.retain(|rule| rule.core.id != core.id);
        });
    }
}

/// A rule in force until it is lifted or dropped.
#[derive(Debug)]
#[must_use = "a rule is lifted when it is dropped"]
pub struct Rule {
    rules: Arc<Rules>,
    core: Arc<Core>,
}

impl Rule {
    /// Ends the rule. What it holds goes on: frozen events arrive, in order, and hanging requests are sent.
    pub fn lift(self) {
        drop(self);
    }

    /// How many requests or events it has acted on.
    pub fn hits(&self) -> usize {
        self.core.state.borrow().hits
    }

    /// Waits until it has acted on so many, however long that takes.
    pub async fn acted(&self, times: usize) {
        // The sender lives as long as this value.
        let _ = self.core.state.subscribe().wait_for(|state| state.hits >= times).await;
    }

    /// The same, for at most 60 s; then it panics.
    #[expect(clippy::panic, reason = "a test whose fault did not happen has failed; the panic says so")]
    pub async fn hit(&self, times: usize) {
        if tokio::time::timeout(LIMIT, self.acted(times)).await.is_err() {
            panic!("a rule acted {} times within {LIMIT:?}, not {times}", self.hits());
        }
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        self.rules.lift(&self.core);
    }
}
