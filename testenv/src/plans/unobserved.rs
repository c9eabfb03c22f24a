//! `unobserved`: Machines and keys come and go, and the operator does not see it, or only some of it.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use kube::api::ListParams;
use trusted_crds::{AttestationKey, Machine, condition};

use super::{
    course::Course,
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    workload::{Hands, Step},
    writes,
};
use crate::{
    Error,
    faults::{Events, Match, Refusal},
    objects, poll,
};

/// Machines with keys that come and go.
const PAIRS: usize = 50;
/// Requests at a time.
const CONCURRENCY: usize = 4;
/// How long they may take to be trusted, and to be gone.
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
    each(&names, async |name| create(&scene.hands, name).await).await?;
    trusted(&scene.hands, &seen).await?;
    scene.still(QUIET).await;
    unseen.push(scene.proxy.on(Events::changes("*").when(about(NOT_ITS_END))).lose());
    unseen.push(scene.proxy.on(Events::changes("*").when(about(KEY_ONLY))).lose());
    each(&names, async |name| destroy(&scene.hands, name).await).await?;
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

async fn each(names: &[String], act: impl AsyncFn(&String) -> Result<(), Error>) -> Result<(), Error> {
    stream::iter(names).map(|name| act(name)).buffer_unordered(CONCURRENCY).try_collect().await
}

async fn create(hands: &Hands, name: &str) -> Result<(), Error> {
    hands.create(&objects::attestation_key(name, Some(name), &objects::public_key())).await?;
    hands.create(&objects::machine(name, name)).await
}

/// With its key, where that did not become the Machine's and goes with it.
async fn destroy(hands: &Hands, name: &str) -> Result<(), Error> {
    hands.delete::<Machine>(name).await?;
    hands.delete::<AttestationKey>(name).await?;
    hands.gone::<Machine>(name).await?;
    hands.gone::<AttestationKey>(name).await
}

async fn trusted(hands: &Hands, names: &[&String]) -> Result<(), Error> {
    let keys = hands.api::<AttestationKey>();
    poll("the keys that are seen to be trusted", LIMIT, || async {
        let all = keys.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let trusted = |key: &&AttestationKey| {
            let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
            let owned = key.metadata.owner_references.as_ref().is_some_and(|owners| !owners.is_empty());
            owned && condition::is_true(conditions, condition::APPROVED)
        };
        let trusted: Vec<_> =
            all.items.iter().filter(trusted).filter_map(|key| key.metadata.name.as_ref()).collect();
        let missing = names.iter().filter(|name| !trusted.contains(*name)).count();
        if missing == 0 { Ok(()) } else { Err(format!("{missing} are not")) }
    })
    .await
}
