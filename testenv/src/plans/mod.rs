//! Plans of faults against a running operator.
//!
//! Purpose: show that the operator comes to the same end whatever happens to it on the way. A workload is done once
//! without faults and recorded; each run of a plan does it again with faults and is compared with the record: the
//! same end, each child made and unmade as often, every delete for one uid, and no write once all has settled. No
//! expectation about the operator's own steps is written down anywhere.
//!
//! The three perturbations (a crash after a write, a view that goes back in time, states that are never seen) are
//! those of Sieve (Sun et al., OSDI 2022); that a system left alone becomes stable and stays so is the property of
//! Anvil (Sun et al., OSDI 2024).
//!
//! Owns: a namespace, a fault proxy and an operator process for each run.
//!
//! Must not: know how the operator works. Kinds, names and verbs of the public API are all that it uses.

mod away;
mod clean;
mod course;
mod crash_each_write;
mod crowd;
mod mixed;
mod mutations;
mod races;
mod report;
mod scene;
mod stale;
mod state;
mod time_travel;
mod two_leaders;
mod unobserved;
mod watched;
mod workload;
mod writes;

use std::{path::Path, time::Instant};

pub use course::Options;
pub use report::{Failed, Report, RunReport};

use self::{
    clean::Clean,
    course::{Course, Stage},
    workload::{Step, Workload},
};
use crate::{ControlPlane, Error, progress::Progress};

/// How many crashes a selection has.
const SELECTED: usize = 5;

/// A kind of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Plan {
    /// Kill the operator after each of its writes.
    CrashEachWrite,
    /// Show it everything late, or one kind not at all for a while.
    Stale,
    /// Lead it into the past of a Machine that was made anew.
    TimeTravel,
    /// Let Machines and keys come and go unseen.
    Unobserved,
    /// Crashes, lost and refused requests, late and reordered events and the deeds of others, all at once.
    Mixed,
    /// Stop the leader in the middle of a write until another one leads.
    TwoLeaders,
    /// Put into every field of our kinds what does not belong there, and take it back.
    Mutations,
    /// Change things while nobody is there, or make fifty pairs come and fifty go.
    Away,
    /// Register two keys for one machine at once, a thousand times.
    Races,
    /// All of them.
    All,
}

impl Plan {
    const EACH: [Plan; 9] = [
        Plan::CrashEachWrite,
        Plan::Stale,
        Plan::TimeTravel,
        Plan::Unobserved,
        Plan::Mixed,
        Plan::TwoLeaders,
        Plan::Mutations,
        Plan::Away,
        Plan::Races,
    ];

    /// As on the command line.
    pub fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Has a plan carried out against this program.
///
/// # Errors
///
/// When the run without faults fails, so that there is nothing to compare with.
pub async fn run(
    control_plane: &'static ControlPlane,
    operator: &Path,
    plan: Plan,
    options: &Options,
) -> Result<Report, Error> {
    let began = Instant::now();
    let workload = Workload::new(options.seed, &Step::ALL);
    let clean = record(control_plane, operator, &workload).await?;
    let plans: &[Plan] = if plan == Plan::All { &Plan::EACH } else { &[plan] };
    let mut reports = Vec::new();
    for plan in plans {
        let stage = Stage { control_plane, operator, progress: Progress::steps(0, &plan.name()) };
        let course = Course { stage: &stage, options, workload: &workload, clean: &clean };
        reports.push(carry_out(&course, *plan).await);
        stage.progress.finish(&format!("{} is done", plan.name()));
    }
    let mut report = match reports.len() {
        1 => reports.remove(0),
        _ => Report::together(&plan.name(), options.seed, reports),
    };
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Has a short selection carried out, for every run of the tests: some of the crashes, and late events.
///
/// # Errors
///
/// As [`run`].
pub async fn selection(
    control_plane: &'static ControlPlane,
    operator: &Path,
    seed: u64,
) -> Result<Report, Error> {
    let began = Instant::now();
    let workload = Workload::new(seed, &[Step::Install, Step::Pairs, Step::Strangers, Step::ByHand]);
    let clean = record(control_plane, operator, &workload).await?;
    let options = Options { seed, repeats: 1, seeds: None, jobs: 6, only: None, logs: None };
    let stage = Stage { control_plane, operator, progress: Progress::short("a selection of faults") };
    let course = Course { stage: &stage, options: &options, workload: &workload, clean: &clean };
    let (mut runs, late) = futures::join!(crash_each_write::some(&course, SELECTED), stale::late(&course));
    runs.extend(late);
    stage.progress.clear();
    let mut report = Report::new("selection", seed, clean.writes.len(), runs);
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

async fn record(
    control_plane: &'static ControlPlane,
    operator: &Path,
    workload: &Workload,
) -> Result<Clean, Error> {
    let progress = Progress::steps(workload.steps.len() as u64, "doing the work without faults");
    let stage = Stage { control_plane, operator, progress };
    let clean = Clean::record(&stage, workload).await?;
    stage.progress.finish(&format!("the run without faults is recorded: {} writes", clean.writes.len()));
    Ok(clean)
}

async fn carry_out(course: &Course<'_>, plan: Plan) -> Report {
    let (workload, clean) = (course.workload, course.clean);
    let control = vec![("control".to_owned(), ())];
    let mut runs = course.each(control, async |scene, ()| clean::control(scene, workload, clean).await).await;
    runs.extend(match plan {
        Plan::CrashEachWrite => crash_each_write::run(course).await,
        Plan::Stale => stale::run(course).await,
        Plan::TimeTravel => time_travel::run(course).await,
        Plan::Unobserved => unobserved::run(course).await,
        Plan::Mixed => mixed::run(course).await,
        Plan::TwoLeaders => two_leaders::run(course).await,
        Plan::Mutations => mutations::run(course).await,
        Plan::Away => away::run(course).await,
        Plan::Races => races::run(course).await,
        Plan::All => Vec::new(),
    });
    Report::new(&plan.name(), course.options.seed, clean.writes.len(), runs)
}
