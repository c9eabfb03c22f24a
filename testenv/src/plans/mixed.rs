//! `mixed`: for a while everything goes wrong at once: crashes, lost requests and answers, refusals, late and
//! reordered events, children that others change and delete. Then nothing goes wrong any more.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    course::Course,
    report::RunReport,
    scene::{Scene, Verdict},
    workload::{Child, Hands, Step},
    writes,
};
use crate::{
    Error,
    faults::{Events, FaultProxy, Match, Refusal, Rule},
    operator::{Launch, Operator},
    shuffle::Shuffler,
};

/// How long the faults last at least.
const FAULTS: Duration = Duration::from_secs(30);
/// A step that needs not have had its effect before the next one gets so much time.
const HASTE: Duration = Duration::from_secs(2);
/// Between two crashes, in the mean.
const CRASH_MEAN: f64 = 2.0;
/// Between two deeds of others.
const MEDDLING: Duration = Duration::from_millis(1_500);

/// Steps whose effect decides how later steps end: a key that is not bound yet is another's rival, and an approval
/// that was taken back before it took effect was none.
const DECISIVE: [Step; 2] = [Step::Pairs, Step::ByHand];

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let cases = course.seeded(4);
    course.each(cases, async |scene, seed| mixed(course, scene, *seed).await).await
}

async fn mixed(course: &Course<'_>, scene: &mut Scene, seed: u64) -> Result<Verdict, Error> {
    let mut chance = Shuffler::new(seed);
    let rules = faults(&scene.proxy);
    let (mut crashes, mut deeds) = (0, 0);
    let (launch, hands) = (scene.launch.clone(), scene.hands.clone());
    let mut operator = None;
    {
        let mut luck = Shuffler::new(chance.draw());
        let played = play(course, scene);
        let crash = crash(&launch, &mut luck, &mut operator, &mut crashes);
        let meddle = meddle(&hands, &mut chance, &mut deeds);
        tokio::select! {
            played = played => played?,
            crashed = crash => crashed?,
            meddled = meddle => meddled?,
        }
    }
    let hits: usize = rules.iter().map(Rule::hits).sum();
    drop((operator, rules));
    let _operator = scene.start().await?;
    let mut verdict = scene.settle(course.clean.end()).await;
    verdict.note(writes::unguarded_delete(&writes::sent(&scene.proxy.log())));
    verdict.note = format!("{crashes} crashes, {hits} faults, {deeds} deeds of others");
    Ok(verdict)
}

/// One request in ten goes wrong, and one event in three.
fn faults(proxy: &FaultProxy) -> Vec<Rule> {
    let overload = Refusal::code(429).retry_after(1);
    vec![
        proxy.on(Match::any()).chance(0.03).cut(),
        proxy.on(Match::write("*")).chance(0.02).lose_answer(),
        proxy.on(Match::any()).chance(0.02).answer(500),
        proxy.on(Match::any()).chance(0.02).answer(503),
        proxy.on(Match::any()).chance(0.01).answer(overload),
        proxy.on(Events::changes("*")).chance(0.1).shuffle(2),
        proxy.on(Events::changes("*")).chance(0.2).delay(Duration::from_millis(700)),
        proxy.on(Events::changes("*")).chance(0.02).cut_mid_event(),
    ]
}

async fn play(course: &Course<'_>, scene: &mut Scene) -> Result<(), Error> {
    let began = Instant::now();
    for (number, step) in course.workload.steps.iter().enumerate() {
        course.workload.act(*step, &scene.hands).await?;
        let state = &course.clean.states[number];
        if DECISIVE.contains(step) {
            scene.reach_trust(&format!("step {step:?} to have its effect"), state).await?;
        } else {
            // Whether it has its effect in this time makes no difference to the end.
            let _ = tokio::time::timeout(HASTE, scene.reach("", state)).await;
        }
    }
    sleep(FAULTS.saturating_sub(began.elapsed())).await;
    Ok(())
}

/// Kills the operator again and again. Where it ended by itself it is started anew, too.
async fn crash(
    launch: &Launch,
    chance: &mut Shuffler,
    operator: &mut Option<Operator>,
    crashes: &mut usize,
) -> Result<(), Error> {
    loop {
        drop(operator.take());
        *operator = Some(launch.start()?);
        *crashes += 1;
        sleep(Duration::from_secs_f64(exponential(chance, CRASH_MEAN))).await;
    }
}

/// Times between events that have nothing to do with each other are distributed like this.
fn exponential(chance: &mut Shuffler, mean: f64) -> f64 {
    let uniform = ((chance.draw() >> 11) as f64 + 1.0) / ((1_u64 << 53) as f64);
    -mean * uniform.ln()
}

/// Others delete and change children of the cluster.
async fn meddle(hands: &Hands, chance: &mut Shuffler, deeds: &mut usize) -> Result<(), Error> {
    loop {
        sleep(MEDDLING).await;
        let child = Child::ALL[(chance.draw() % Child::ALL.len() as u64) as usize];
        if chance.chance(0.3) {
            hands.destroy(child).await?;
        } else {
            hands.deface(child).await?;
        }
        *deeds += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_crashes_have_the_mean_that_is_asked_for() {
        let mut chance = Shuffler::new(7);
        let times: Vec<f64> = (0..10_000).map(|_| exponential(&mut chance, 2.0)).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        assert!((1.9..2.1).contains(&mean), "{mean}");
        assert!(times.iter().all(|time| *time >= 0.0));
    }
}
