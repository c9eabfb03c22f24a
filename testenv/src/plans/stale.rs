//! `stale`: the operator sees what happened late, its own writes too, or does not see one kind at all for a while.

use std::time::Duration;

use super::{
    course::Course,
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    workload::Step,
    writes::{self, Sent},
};
use crate::{
    Error,
    faults::{Events, Rule},
};

/// Nobody else writes these.
const OWN: [&str; 2] = ["secrets", "configmaps"];

/// What is stale, and how.
#[derive(Clone, Copy, Debug)]
enum Stale {
    /// Every event comes this much later.
    Late(Duration),
    /// Everything of what the operator alone writes comes this much later.
    OwnLate(Duration),
    /// Nothing is seen of this resource while objects are made anew.
    Frozen(&'static str),
}

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let late = |milliseconds| Stale::Late(Duration::from_millis(milliseconds));
    let mut cases = vec![("late-500ms".to_owned(), late(500)), ("late-3s".to_owned(), late(3_000))];
    cases.push(("own-late-30s".to_owned(), Stale::OwnLate(Duration::from_secs(30))));
    for resource in ["machines", "attestationkeys", "secrets", "deployments", "*"] {
        let name = if resource == "*" { "everything" } else { resource };
        cases.push((format!("frozen-{name}"), Stale::Frozen(resource)));
    }
    course
        .each(cases, async |scene, stale| match stale {
            Stale::Late(delay) => late_events(course, scene, &["*"], *delay).await,
            Stale::OwnLate(delay) => late_events(course, scene, &OWN, *delay).await,
            Stale::Frozen(resource) => frozen(course, scene, resource).await,
        })
        .await
}

/// The shortest of them.
pub(super) async fn late(course: &Course<'_>) -> Vec<RunReport> {
    let cases = vec![("late-500ms".to_owned(), Duration::from_millis(500))];
    course.each(cases, async |scene, delay| late_events(course, scene, &["*"], *delay).await).await
}

/// No write is made twice: no create of what is there, no conflict, no patch that repeats the last one.
async fn late_events(
    course: &Course<'_>,
    scene: &mut Scene,
    resources: &[&str],
    delay: Duration,
) -> Result<Verdict, Error> {
    let late: Vec<Rule> =
        resources.iter().map(|resource| scene.proxy.on(Events::changes(resource)).delay(delay)).collect();
    let _operator = scene.start().await?;
    scene.play(course.workload, course.clean).await?;
    let mut verdict = scene.judge(course.clean).await?;
    let sent = writes::sent(&scene.proxy.log());
    verdict.note(writes::repeated_patch(&sent));
    let conflict = sent.iter().find(|write| write.code == Some(409));
    verdict.note(conflict.map(|write| format!("{write} was answered with 409")));
    let hits: usize = late.iter().map(Rule::hits).sum();
    verdict.unless(hits > 0, || "no event was late".to_owned());
    verdict.note = format!("{hits} events {delay:?} late");
    Ok(verdict)
}

/// Nothing is destroyed because of what the operator does not see.
async fn frozen(course: &Course<'_>, scene: &mut Scene, resource: &str) -> Result<Verdict, Error> {
    let (workload, clean) = (course.workload, course.clean);
    let recreate = workload.position(Step::Recreate);
    let _operator = scene.start().await?;
    scene.play_steps(workload, clean, 0..recreate).await?;
    let before = writes::sent(&scene.proxy.log()).len();
    let freeze = scene.proxy.on(Events::all(resource)).freeze();
    workload.act(Step::Recreate, &scene.hands).await?;
    scene.still(QUIET).await;
    let meanwhile = writes::sent(&scene.proxy.log()).split_off(before);
    let hits = freeze.hits();
    freeze.lift();
    scene.reach("the new Machine to be served after the thaw", &clean.states[recreate]).await?;
    scene.play_steps(workload, clean, recreate + 1..workload.steps.len()).await?;
    let mut verdict = scene.judge(clean).await?;
    verdict.note(destroyed(&meanwhile));
    verdict.unless(hits > 0, || "nothing was frozen".to_owned());
    verdict.note = format!("{hits} events frozen, {} writes meanwhile", meanwhile.len());
    Ok(verdict)
}

/// A deletion that had an effect.
pub(super) fn destroyed(sent: &[Sent]) -> Option<String> {
    let effective = |write: &&Sent| write.verb.starts_with("delete") && write.succeeded();
    sent.iter().find(effective).map(|write| format!("{write}, decided on a stale view"))
}
