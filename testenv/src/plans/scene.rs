//! Where one run takes place: a namespace, an operator behind a fault proxy, and what is expected at its end.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    clean::Clean,
    course::Stage,
    state::State,
    watched::Watched,
    workload::{Hands, Workload},
    writes,
};
use crate::{
    Error, TestNamespace,
    audit::Window,
    faults::FaultProxy,
    operator::{Launch, Operator},
};

/// How long a step may take to have its effect, faults included.
pub(super) const STEP: Duration = Duration::from_secs(180);
/// How long the operator may take to converge once there are no faults any more.
pub(super) const CONVERGE: Duration = Duration::from_secs(30);
/// No write for this long, and everything as it should be: it has converged.
const STILL: Duration = Duration::from_secs(2);
/// Longer than any delay of the operator's own: a status that says "waiting" is held back for 5 s.
pub(super) const QUIET: Duration = Duration::from_secs(6);
/// Between two looks at the proxy's log.
const LOOK: Duration = Duration::from_millis(250);
/// How much of the operator's log goes with a failure.
const LOG_LINES: usize = 400;

/// The stage of one run.
pub(super) struct Scene {
    pub(super) namespace: TestNamespace,
    pub(super) proxy: Arc<FaultProxy>,
    pub(super) launch: Launch,
    pub(super) hands: Hands,
    pub(super) watched: Watched,
}

/// What a run has shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// What does not hold.
    pub(super) broken: Vec<String>,
    /// Whether the end is the one of the run without faults.
    pub(super) equal: bool,
    /// Writes after everything had settled.
    pub(super) writes_after: usize,
    /// What was done, for a person.
    pub(super) note: String,
}

impl Verdict {
    /// Notes what is broken, if something is.
    pub(super) fn note(&mut self, broken: Option<String>) {
        self.broken.extend(broken);
    }

    pub(super) fn unless(&mut self, holds: bool, broken: impl FnOnce() -> String) {
        self.note((!holds).then(broken));
    }
}

impl Scene {
    /// A namespace with a proxy, without an operator. All chance in the proxy follows from the seed.
    pub(super) async fn new(stage: &Stage<'_>, seed: u64) -> Result<Scene, Error> {
        let namespace = stage.control_plane.try_namespace("faults").await?;
        let proxy = Arc::new(FaultProxy::try_start(stage.control_plane, seed)?);
        let launch = Launch::prepare(stage.operator, &namespace).await?.through(&proxy)?.pod("operator-0");
        let hands = Hands::new(&namespace)?;
        let watched = Watched::start(hands.admin(), namespace.name());
        Ok(Scene { namespace, proxy, launch, hands, watched })
    }

    /// Starts the operator and waits until it is ready.
    pub(super) async fn start(&self) -> Result<Operator, Error> {
        let mut operator = self.launch.start()?;
        operator.ready().await?;
        Ok(operator)
    }

    /// Does the work step by step, each when the one before has had its effect.
    pub(super) async fn play(&mut self, workload: &Workload, clean: &Clean) -> Result<(), Error> {
        self.play_steps(workload, clean, 0..workload.steps.len()).await
    }

    /// Does some of the steps.
    pub(super) async fn play_steps(
        &mut self,
        workload: &Workload,
        clean: &Clean,
        steps: std::ops::Range<usize>,
    ) -> Result<(), Error> {
        for number in steps {
            let step = workload.steps[number];
            workload.act(step, &self.hands).await?;
            self.reach(&format!("step {step:?} to have its effect"), &clean.states[number]).await?;
        }
        Ok(())
    }

    /// Waits for a state.
    pub(super) async fn reach(&mut self, what: &str, state: &State) -> Result<(), Error> {
        self.reach_within(what, state, STEP).await
    }

    /// Waits for a state as far as it tells who is trusted.
    pub(super) async fn reach_trust(&mut self, what: &str, state: &State) -> Result<(), Error> {
        let state = state.of_trust();
        let reached = self.watched.until(STEP, |found| same(&state, &found.of_trust())).await;
        reached.map_err(|last| Error::Timeout { what: format!("{what} ({STEP:?})"), last })
    }

    async fn reach_within(&mut self, what: &str, state: &State, limit: Duration) -> Result<(), Error> {
        let reached = self.watched.until(limit, |found| same(state, found)).await;
        reached.map_err(|last| Error::Timeout { what: format!("{what} ({limit:?})"), last })
    }

    /// Waits for the expected end and for silence, and then watches whether it lasts.
    pub(super) async fn settle(&mut self, expected: &State) -> Verdict {
        let mut verdict = Verdict::default();
        let deadline = Instant::now() + CONVERGE;
        let reached = self.reach_within("the expected end", expected, CONVERGE).await;
        verdict.note(reached.err().map(|error| error.to_string()));
        while !self.is_still(STILL) && Instant::now() < deadline {
            sleep(LOOK).await;
        }
        let before = writes::sent(&self.proxy.log());
        let from = Instant::now();
        while from.elapsed() < QUIET {
            sleep(LOOK).await;
        }
        let all = writes::sent(&self.proxy.log());
        verdict.writes_after = all.len() - before.len();
        verdict.note(all.get(before.len()).map(|first| {
            format!("{} writes after everything had settled, the first: {first}", verdict.writes_after)
        }));
        let difference = expected.difference(&self.watched.state());
        verdict.equal = difference.is_none();
        if verdict.broken.is_empty() {
            verdict.note(difference.map(|what| format!("the end is another one: {what}")));
        }
        verdict
    }

    /// Settles, and judges all that was sent: each child made and unmade as often as without faults, no delete
    /// without a uid.
    pub(super) async fn judge(&mut self, clean: &Clean) -> Result<Verdict, Error> {
        let mut verdict = self.settle(clean.end()).await;
        let sent = writes::sent(&self.proxy.log());
        verdict.note(writes::miscount(&clean.tally, &self.tally().await?, &writes::unanswered(&sent)));
        verdict.note(writes::unguarded_delete(&sent));
        Ok(verdict)
    }

    /// What the operator created and deleted in this run, by the API server's audit log.
    pub(super) async fn tally(&self) -> Result<writes::Tally, Error> {
        let user = self.namespace.service_account_user("trusted-operator");
        let requests = self.namespace.control_plane().audit().settled(&user, Window::ALL).await?;
        Ok(writes::tally(&requests))
    }

    /// Waits until no work has been sent for a while from now on.
    pub(super) async fn still(&self, quiet: Duration) {
        let (deadline, began) = (Instant::now() + STEP, Instant::now());
        while (began.elapsed() < quiet || !self.is_still(quiet)) && Instant::now() < deadline {
            sleep(LOOK).await;
        }
    }

    fn is_still(&self, quiet: Duration) -> bool {
        let log = self.proxy.log();
        writes::last(&log).is_none_or(|last| self.proxy.age().saturating_sub(last) >= quiet)
    }

    /// What the operator said and what the proxy saw, for who looks into a failure.
    pub(super) fn account(&self) -> String {
        let told = crate::process::tail(self.launch.log(), LOG_LINES);
        format!("== operator\n{told}\n\n== proxy\n{}\n", self.proxy.log())
    }
}

fn same(expected: &State, found: &State) -> Result<(), String> {
    expected.difference(found).map_or(Ok(()), Err)
}
