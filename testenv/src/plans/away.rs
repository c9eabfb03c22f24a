//! `away`: the operator is not there while things change: it was killed, or asked to stop. When it comes back it brings
//! about what it would have brought about had it been there.

use super::{
    course::Course,
    crowd::{create_pair, destroy_pair, each, trusted},
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    workload::{Hands, Step},
    writes,
};
use crate::{Error, objects, operator::Operator};

/// Machines with keys that go while nobody is there, and as many that come.
const PAIRS: usize = 50;

/// What is done while it is away.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    /// One step of the work.
    Step(Step),
    /// All steps from this one on.
    From(Step),
    /// Machines go and others come, each with a key.
    Crowd,
}

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let steps = [Step::Strangers, Step::ByHand, Step::Recreate, Step::Destroy, Step::Withdraw];
    let mut cases = steps.map(|step| (format!("{step:?}").to_lowercase(), Meanwhile::Step(step))).to_vec();
    cases.push(("rest".to_owned(), Meanwhile::From(Step::Recreate)));
    cases.push(("crowd".to_owned(), Meanwhile::Crowd));
    course
        .each(cases, async |scene, meanwhile| match meanwhile {
            Meanwhile::Step(step) => {
                let at = course.workload.position(*step);
                away(course, scene, at..at + 1).await
            }
            Meanwhile::From(step) => {
                away(course, scene, course.workload.position(*step)..course.workload.steps.len()).await
            }
            Meanwhile::Crowd => crowd_comes(course, scene).await,
        })
        .await
}

/// Killed before these steps, started when they are done; then the rest of the work.
async fn away(
    course: &Course<'_>,
    scene: &mut Scene,
    steps: std::ops::Range<usize>,
) -> Result<Verdict, Error> {
    let (workload, clean) = (course.workload, course.clean);
    let operator = scene.start().await?;
    scene.play_steps(workload, clean, 0..steps.start).await?;
    drop(operator);
    for number in steps.clone() {
        workload.act(workload.steps[number], &scene.hands).await?;
    }
    let _operator = scene.start().await?;
    scene.reach("what was done meanwhile to have its effect", &clean.states[steps.end - 1]).await?;
    scene.play_steps(workload, clean, steps.end..workload.steps.len()).await?;
    let mut verdict = scene.judge(clean).await?;
    verdict.note = format!("killed before {:?}, started after it was done", &workload.steps[steps]);
    Ok(verdict)
}

/// The end is that of an operator that was there, and the writes are not more.
async fn crowd_comes(course: &Course<'_>, scene: &mut Scene) -> Result<Verdict, Error> {
    let crowd = Crowd::new();
    let there = Scene::new(course.stage, course.options.seed).await?;
    let operator = settled(&there, course, &crowd).await?;
    let before = writes::sent(&there.proxy.log()).len();
    crowd.change(&there.hands).await?;
    there.still(QUIET).await;
    let made = writes::sent(&there.proxy.log()).len() - before;
    let expected = there.watched.state();
    operator.stop().await?;

    let operator = settled(scene, course, &crowd).await?;
    operator.stop().await?;
    let before = writes::sent(&scene.proxy.log()).len();
    crowd.change(&scene.hands).await?;
    let _operator = scene.start().await?;
    let mut verdict = scene.settle(&expected).await;
    let sent = writes::sent(&scene.proxy.log()).split_off(before);
    verdict.note(writes::unguarded_delete(&sent));
    verdict.unless(sent.len() <= made, || {
        format!("{} writes where an operator that was there made {made}", sent.len())
    });
    let count = sent.len();
    verdict.note =
        format!("{PAIRS} pairs went and {PAIRS} came: {count} writes, {made} by an operator that was there");
    Ok(verdict)
}

/// Pairs that the operator has dealt with.
async fn settled(scene: &Scene, course: &Course<'_>, crowd: &Crowd) -> Result<Operator, Error> {
    let operator = scene.start().await?;
    course.workload.act(Step::Install, &scene.hands).await?;
    each(&crowd.old, async |(name, pem)| create_pair(&scene.hands, name, pem).await).await?;
    let names: Vec<&String> = crowd.old.iter().map(|(name, _)| name).collect();
    trusted(&scene.hands, &names).await?;
    scene.still(QUIET).await;
    Ok(operator)
}

/// Names and keys of the pairs that go and of those that come.
struct Crowd {
    old: Vec<(String, String)>,
    new: Vec<(String, String)>,
}

impl Crowd {
    fn new() -> Crowd {
        let pairs = |name: &str| -> Vec<(String, String)> {
            (1..=PAIRS).map(|number| (format!("{name}-{number:02}"), objects::public_key())).collect()
        };
        Crowd { old: pairs("old"), new: pairs("new") }
    }

    async fn change(&self, hands: &Hands) -> Result<(), Error> {
        each(&self.old, async |(name, _)| destroy_pair(hands, name).await).await?;
        each(&self.new, async |(name, pem)| create_pair(hands, name, pem).await).await
    }
}
