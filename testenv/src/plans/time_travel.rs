//! `time-travel`: the operator is started anew against API servers that are behind, some kinds of objects more than
//! others, and sees an earlier life of a Machine whose next life it has served already. Also: events that come again.

use super::{
    course::Course,
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    stale,
    workload::{Step, Workload},
    writes::{self, Sent},
};
use crate::{
    Error,
    faults::{Events, Match},
    shuffle::Shuffler,
};

const KINDS: [&str; 3] = ["machines", "attestationkeys", "secrets"];

/// Which past the operator is led into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    /// The Machine's first life.
    Before,
    /// When it was gone.
    Between,
}

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let cases = course.seeded(6);
    let mut runs =
        course.each(cases, async |scene, seed| travel(course, scene, &mut Shuffler::new(*seed)).await).await;
    let again = vec![("events-again".to_owned(), ())];
    runs.extend(course.each(again, async |scene, ()| events_again(course, scene).await).await);
    runs
}

async fn travel(course: &Course<'_>, scene: &mut Scene, chance: &mut Shuffler) -> Result<Verdict, Error> {
    let (workload, clean) = (course.workload, course.clean);
    let era = if chance.chance(0.5) { Era::Before } else { Era::Between };
    let mut kinds = KINDS;
    chance.shuffle(&mut kinds);
    let kinds = &kinds[..1 + (chance.draw() % KINDS.len() as u64) as usize];
    let recreate = workload.position(Step::Recreate);

    let operator = scene.start().await?;
    scene.play_steps(workload, clean, 0..recreate).await?;
    drop(operator);
    if era == Era::Between {
        workload.remove_second(&scene.hands).await?;
    }
    // What this one lists is what the next one will be told.
    let operator = scene.start().await?;
    let past: Vec<_> = kinds.iter().map(|kind| scene.proxy.on(Match::list(kind)).older_answer()).collect();
    match era {
        Era::Before => workload.recreate(&scene.hands).await?,
        Era::Between => workload.register_second(&scene.hands).await?,
    }
    scene.reach("the new Machine to be served", &clean.states[recreate]).await?;
    drop(operator);

    let frozen: Vec<_> = kinds.iter().map(|kind| scene.proxy.on(Events::all(kind)).freeze()).collect();
    let before = writes::sent(&scene.proxy.log()).len();
    let _operator = scene.start().await?;
    scene.still(QUIET).await;
    let meanwhile = writes::sent(&scene.proxy.log()).split_off(before);
    let led = past.iter().all(|rule| rule.hits() > 0);
    drop((past, frozen));
    scene.reach("the new Machine to be served after the thaw", &clean.states[recreate]).await?;
    scene.play_steps(workload, clean, recreate + 1..workload.steps.len()).await?;

    let mut verdict = scene.judge(clean).await?;
    verdict.note(stale::destroyed(&meanwhile));
    verdict.note(overwritten(workload, &meanwhile));
    verdict.unless(led, || "the operator was not led into the past".to_owned());
    let when = if era == Era::Before { "the first life of" } else { "the time without" };
    verdict.note = format!(
        "{} as of {when} Machine {}; {} writes meanwhile",
        kinds.join(" and "),
        workload.machines[1],
        meanwhile.len()
    );
    Ok(verdict)
}

/// A change, decided in the past, of what belongs to the Machine's new life.
fn overwritten(workload: &Workload, sent: &[Sent]) -> Option<String> {
    let of_new =
        |write: &Sent| write.name.contains(&workload.machines[1]) || write.name == workload.second.name;
    let found = sent.iter().find(|write| write.succeeded() && of_new(write));
    found.map(|write| format!("{write}, decided on an earlier life of the Machine"))
}

/// Older events come once more; whoever takes them for news goes back in time.
async fn events_again(course: &Course<'_>, scene: &mut Scene) -> Result<Verdict, Error> {
    let again = scene.proxy.on(Events::changes("*")).chance(0.3).replay(5);
    let _operator = scene.start().await?;
    scene.play(course.workload, course.clean).await?;
    let mut verdict = scene.judge(course.clean).await?;
    verdict.note(writes::repeated_patch(&writes::sent(&scene.proxy.log())));
    verdict.unless(again.hits() > 0, || "no event came again".to_owned());
    verdict.note = format!("{} times the five events before came again", again.hits());
    Ok(verdict)
}
