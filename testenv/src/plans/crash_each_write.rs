//! `crash-each-write`: the operator is killed straight after each of its writes, once the API server has had it and
//! before the operator learns of it.

use super::{
    course::Course,
    report::RunReport,
    scene::{Scene, Verdict},
    writes,
};
use crate::{Error, faults::Match};

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let numbers = 1..=course.clean.writes.len();
    let mut cases: Vec<(String, usize)> = Vec::new();
    for repeat in 1..=course.options.repeats {
        for number in numbers.clone() {
            let again = if repeat == 1 { String::new() } else { format!("-again-{repeat}") };
            cases.push((format!("write-{number:02}{again}"), number));
        }
    }
    course.each(cases, async |scene, number| crash(course, scene, *number).await).await
}

/// So many of the crashes, spread over all writes; the seed says which.
pub(super) async fn some(course: &Course<'_>, count: usize) -> Vec<RunReport> {
    let stride = (course.clean.writes.len() / count).max(1);
    let first = 1 + course.options.seed as usize % stride;
    let numbers = (first..=course.clean.writes.len()).step_by(stride);
    let cases = numbers.map(|number| (format!("write-{number:02}"), number)).collect();
    course.each(cases, async |scene, number| crash(course, scene, *number).await).await
}

async fn crash(course: &Course<'_>, scene: &mut Scene, number: usize) -> Result<Verdict, Error> {
    let point = scene.proxy.on(Match::write("*").when(writes::is_work)).nth(number).crash_point();
    let mut operator = Some(scene.start().await?);
    let launch = scene.launch.clone();
    let (played, crashed) = {
        let crash = async {
            point.acted(1).await;
            drop(operator.take());
            point.lift();
            operator = Some(launch.start()?);
            Ok::<_, Error>(())
        };
        let play = scene.play(course.workload, course.clean);
        tokio::pin!(play, crash);
        tokio::select! {
            crashed = &mut crash => (play.await, Some(crashed?)),
            played = &mut play => (played, None),
        }
    };
    played?;
    let mut verdict = scene.judge(course.clean).await?;
    let sent = writes::sent(&scene.proxy.log());
    verdict.note(writes::repeated_patch(&sent));
    verdict.note = match (&crashed, sent.get(number - 1)) {
        (Some(_), Some(write)) => format!("killed after write {number}: {write}"),
        // Two changes may come together in one write.
        _ => format!("not killed: this time there were only {} writes", sent.len()),
    };
    Ok(verdict)
}
