//! `two-leaders`: the leader is stopped in the middle of a write, for longer than its lease; another operator takes
//! over and goes on with the work; then the first one goes on where it was, and so does its write. Or it is killed.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    course::Course,
    report::RunReport,
    scene::{Scene, Verdict},
    writes,
};
use crate::{
    Error,
    faults::{FaultProxy, Match},
    operator::{Launch, Operator},
    poll,
    shuffle::Shuffler,
};

/// A short lease, so that nobody waits for a minute.
const LEASE: Duration = Duration::from_secs(5);
/// What a standby may need beyond the lease to take over from one that was killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long is waited for the second one to take over: the lease, and some time on a slow machine.
const TAKE_OVER: Duration = Duration::from_secs(60);
/// How long the first one may take to learn that it is not the leader any more.
const LEARNED: Duration = Duration::from_secs(10);

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let stopped = course.seeded(6).into_iter().map(|(name, seed)| (name, Change::Stopped(seed)));
    let mut chance = Shuffler::new(course.options.seed);
    let kills = (1..=course.options.repeats)
        .map(|number| (format!("killed-{number:02}"), Change::Killed(chance.draw())))
        .collect::<Vec<_>>();
    course
        .each(stopped.chain(kills).collect(), async |scene, change| match change {
            Change::Stopped(seed) => two(course, scene, *seed).await,
            Change::Killed(seed) => killed(course, scene, *seed).await,
        })
        .await
}

/// How a leader ends, in a write that follows from the seed.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// It is stopped for longer than its lease, and goes on.
    Stopped(u64),
    /// It is killed.
    Killed(u64),
}

/// What the first leader did.
struct First {
    operator: Operator,
    proxy: FaultProxy,
    /// When it went on, by the clock of its proxy.
    resumed: Option<Duration>,
    took_over: Duration,
}

async fn two(course: &Course<'_>, scene: &mut Scene, seed: u64) -> Result<Verdict, Error> {
    let number = write_of(course, seed);
    let mut first = leader(course, scene, seed).await?;
    let second = scene.start().await?;

    let second_proxy = scene.proxy.clone();
    {
        let play = scene.play(course.workload, course.clean);
        let change = change_leaders(&mut first, &second_proxy, number);
        tokio::pin!(play, change);
        tokio::select! {
            changed = &mut change => {
                changed?;
                play.await?;
            }
            played = &mut play => played?,
        }
    }
    let mut verdict = scene.judge(course.clean).await?;
    drop(second);
    first.judge(number, &mut verdict);
    Ok(verdict)
}

/// The standby, whose stores are full, takes over within the lease and two seconds, and lists nothing for it.
async fn killed(course: &Course<'_>, scene: &mut Scene, seed: u64) -> Result<Verdict, Error> {
    let number = write_of(course, seed);
    let First { operator, proxy, .. } = leader(course, scene, seed).await?;
    let _second = scene.start().await?;
    let standby = scene.proxy.clone();
    let listed = standby.log().count("list", "*");
    let mut took_over = None;
    {
        let play = scene.play(course.workload, course.clean);
        let kill = async {
            let point = proxy.on(Match::write("*").when(writes::is_work)).nth(number).crash_point();
            point.acted(1).await;
            drop(operator);
            let killed = Instant::now();
            leads(&standby).await?;
            took_over = Some(killed.elapsed());
            Ok::<_, Error>(())
        };
        tokio::pin!(play, kill);
        tokio::select! {
            killed = &mut kill => {
                killed?;
                play.await?;
            }
            played = &mut play => played?,
        }
    }
    let mut verdict = scene.judge(course.clean).await?;
    let lists = standby.log().count("list", "*") - listed;
    verdict.unless(lists == 0, || format!("{lists} lists at the take-over"));
    let Some(took_over) = took_over else {
        verdict.note = format!("not killed: the leader made fewer than {number} writes");
        return Ok(verdict);
    };
    let limit = LEASE + GRACE;
    verdict.unless(took_over <= limit, || format!("taken over after {took_over:.1?}, more than {limit:?}"));
    verdict.note = format!("killed after write {number}; taken over after {:.1} s", took_over.as_secs_f64());
    Ok(verdict)
}

fn write_of(course: &Course<'_>, seed: u64) -> usize {
    1 + (Shuffler::new(seed).draw() % course.clean.writes.len() as u64) as usize
}

/// An operator that has the lease, behind a proxy of its own.
async fn leader(course: &Course<'_>, scene: &mut Scene, seed: u64) -> Result<First, Error> {
    scene.launch = scene.launch.clone().lease(LEASE);
    let proxy = FaultProxy::try_start(course.stage.control_plane, seed)?;
    let launch = Launch::prepare(course.stage.operator, &scene.namespace).await?;
    let launch = launch.through(&proxy)?.pod("operator-1").lease(LEASE);
    let mut operator = launch.start()?;
    operator.ready().await?;
    leads(&proxy).await?;
    Ok(First { operator, proxy, resumed: None, took_over: Duration::ZERO })
}

/// Waits until an operator has taken the lease, which it shows by its first write of one.
async fn leads(proxy: &FaultProxy) -> Result<(), Error> {
    poll("the first operator to take the lease", TAKE_OVER, || async {
        (proxy.log().count("patch", "leases") > 0).then_some(())
    })
    .await
}

async fn change_leaders(first: &mut First, second: &FaultProxy, number: usize) -> Result<(), Error> {
    let hung = first.proxy.on(Match::write("*").when(writes::is_work)).nth(number).hang();
    hung.acted(1).await;
    first.operator.pause()?;
    let paused = Instant::now();
    poll("the second operator to take over", TAKE_OVER, || async { writes::last(&second.log()).map(|_| ()) })
        .await?;
    first.took_over = paused.elapsed();
    first.resumed = Some(first.proxy.age());
    hung.lift();
    first.operator.resume()?;
    let operator = &mut first.operator;
    poll("the first operator to end", LEARNED, || {
        let ended = operator.has_ended();
        async move { ended.then_some(()) }
    })
    .await
}

impl First {
    /// At most the one write that was under way is refused, and no other one is sent.
    fn judge(&self, number: usize, verdict: &mut Verdict) {
        let sent = writes::sent(&self.proxy.log());
        let Some(resumed) = self.resumed else {
            verdict.note = format!("not stopped: the first leader made only {} writes", sent.len());
            return;
        };
        let late = sent.iter().find(|write| write.at > resumed);
        verdict.note(late.map(|write| format!("{write} was sent by the one that leads no more")));
        let refused = sent.iter().filter(|write| write.code.is_some_and(|code| code >= 400)).count();
        verdict.unless(refused <= 1, || format!("{refused} writes of the first leader were refused"));
        verdict.note(writes::unguarded_delete(&sent));
        let under_way = sent.get(number - 1).map(ToString::to_string).unwrap_or_default();
        let answer = sent.get(number - 1).and_then(|write| write.code);
        let answer = answer.map_or_else(|| "no answer".to_owned(), |code| code.to_string());
        verdict.note = format!(
            "stopped in write {number}: {under_way}, which came late ({answer}); taken over after {:.1} s",
            self.took_over.as_secs_f64()
        );
    }
}
