//! `unobserved`: Machines and keys come and go, and the operator does not see it, or only some of it.

use std::time::Duration;

use super::{
    course::Course,
    crowd::{create_pair, destroy_pair, each, trusted},
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    workload::Step,
    writes,
};
use crate::{
    Error,
    faults::{Events, Match, Refusal},
    objects, poll,
};

/// Machines with keys that come and go.
const PAIRS: usize = 50;
/// How long each kind may take to be listed again.
const LIMIT: Duration = Duration::from_secs(90);

/// What has to be listed again, so that what was not seen is known.
const LISTED: [&str; 3] = ["machines", "attestationkeys", "secrets"];

/// What is seen of a pair, and how its name begins.
const NEVER: &str = "never-";
const KEY_ONLY: &str = "key-only-";
const NOT_ITS_END: &str = "not-its-end-";

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let cases = vec![("pairs".to_owned(), ())];
    course.each(cases, async |scene, ()| pairs(course, scene).await).await
}

async fn pairs(course: &Course<'_>, scene: &mut Scene) -> Result<Verdict, Error> {
    let (workload, clean) = (course.workload, course.clean);
    let strangers = workload.position(Step::Strangers);
    let names: Vec<String> =
        (0..PAIRS).map(|number| format!("{}{number}", [NEVER, KEY_ONLY, NOT_ITS_END][number % 3])).collect();
    let seen: Vec<&String> = names.iter().filter(|name| name.starts_with(NOT_ITS_END)).collect();
    let _operator = scene.start().await?;
    scene.play_steps(workload, clean, 0..strangers).await?;

    let about = |prefix: &'static str| move |object: &serde_json::Value| is_about(object, prefix);
    let mut unseen = vec![
        scene.proxy.on(Events::changes("*").when(about(NEVER))).lose(),
        scene.proxy.on(Events::changes("machines").when(about(KEY_ONLY))).lose(),
    ];
    each(&names, async |name| create_pair(&scene.hands, name, &objects::public_key()).await).await?;
    trusted(&scene.hands, &seen).await?;
    scene.still(QUIET).await;
    unseen.push(scene.proxy.on(Events::changes("*").when(about(NOT_ITS_END))).lose());
    unseen.push(scene.proxy.on(Events::changes("*").when(about(KEY_ONLY))).lose());
    each(&names, async |name| destroy_pair(&scene.hands, name).await).await?;
    let lost: usize = unseen.iter().map(crate::faults::Rule::hits).sum();
    drop(unseen);

    // Every open watch ends with "too old", so that each kind is listed once more.
    let relist = scene.proxy.on(Match::watch("*")).error_event(Refusal::expired());
    poll("each kind to be listed again", LIMIT, || async {
        let log = scene.proxy.log();
        LISTED.iter().all(|kind| log.count("list", kind) > 1).then_some(())
    })
    .await?;
    relist.lift();
    let mut verdict = scene.settle(&clean.states[strangers - 1]).await;
    scene.play_steps(workload, clean, strangers..workload.steps.len()).await?;
    let end = scene.settle(clean.end()).await;
    verdict.broken.extend(end.broken);
    verdict.equal &= end.equal;
    verdict.writes_after += end.writes_after;
    verdict.note(writes::unguarded_delete(&writes::sent(&scene.proxy.log())));
    verdict.unless(lost > 0, || "every event was seen".to_owned());
    verdict.note = format!("{PAIRS} pairs came and went, {lost} events lost");
    Ok(verdict)
}

/// Machine, key and Secrets of a pair bear its name, the Secrets with something before it.
fn is_about(object: &serde_json::Value, prefix: &str) -> bool {
    object["metadata"]["name"].as_str().is_some_and(|name| name.contains(prefix))
}
