//! `audit-api-calls live`: what is being asked of an API server now, interval by interval.
//!
//! Owns the pace and the end: by time, by Ctrl-C, or when nobody reads any more. Whatever ends it, what was counted up to
//! then is handed out.

mod course;
mod feed;
mod follow;

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::time::Instant;

pub(crate) use self::course::{Course, Line};
use self::feed::Feed;
use super::budget::BudgetArgs;
use super::flow::{self, FlowArgs};
use super::log::LogArgs;
use super::render;
use super::report::ReportArgs;
use super::snapshot;
use super::source::{Counters, SourceArgs};
use crate::error::Result;
use crate::exit::Exit;
use crate::output::redrawn::Redrawn;
use crate::output::time::parse_duration;
use crate::session::Session;

/// A page of a busy API server takes it a good part of a second.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// How long to count, such as 10m; without it until Ctrl-C
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,

    /// How often to look, at most every second
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = parse_interval)]
    interval: Duration,

    #[command(flatten)]
    log: LogArgs,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    flow: FlowArgs,

    /// Write the document to this file as JSON, for `diff`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    report: ReportArgs,
}

fn parse_interval(text: &str) -> std::result::Result<Duration, String> {
    let interval = parse_duration(text)?;
    if interval < SHORTEST_INTERVAL {
        return Err(format!("\"{text}\" is too short; write 1s or more"));
    }
    Ok(interval)
}

pub(crate) async fn run(session: &mut Session, args: LiveArgs) -> Result<Exit> {
    let Some(account) = &args.flow.flow_schema_for else {
        return watched(session, &args, None).await;
    };
    let work = async |session: &mut Session, counters| watched(session, &args, Some(counters)).await;
    let ended = flow::with(session, account, args.source.instances(), work).await?;
    Ok(ended.unwrap_or(Exit::Interrupt))
}

async fn watched(session: &mut Session, args: &LiveArgs, counters: Option<Counters>) -> Result<Exit> {
    let limits = args.budget.limits()?;
    let interrupted = session.interrupt.attend();
    tokio::pin!(interrupted);
    let (mut feed, mut course) = tokio::select! {
        biased;
        () = &mut interrupted => return Ok(Exit::Interrupt),
        begun = begin(session, args, counters) => begun?,
    };
    let ended = watch(session, args, &mut feed, &mut course, interrupted).await?;
    let mut measured = feed.finish(course);
    snapshot::judge(&mut measured, &limits);
    let proposal = args.budget.write_budget.as_deref();
    let exit = snapshot::hand_out(session, &measured, args.out.as_deref(), &args.report, proposal)?;
    Ok(if ended == End::Interrupted { Exit::Interrupt } else { exit })
}

async fn begin(session: &mut Session, args: &LiveArgs, counters: Option<Counters>) -> Result<(Feed, Course)> {
    match counters {
        Some(counters) => Feed::of_counters(session, counters).await,
        None if args.log.audit_log.is_empty() => {
            let counters = args.source.counters(session, &args.log).await?;
            Feed::of_counters(session, counters).await
        }
        None => Feed::of_log(&args.log, &session.connection),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    InTime,
    Interrupted,
}

async fn watch(
    session: &mut Session,
    args: &LiveArgs,
    feed: &mut Feed,
    course: &mut Course,
    mut interrupted: std::pin::Pin<&mut impl Future<Output = ()>>,
) -> Result<End> {
    let screen = Redrawn::on(&session.screen);
    let begun = Instant::now();
    let end = args.duration.map(|duration| begun + duration);
    let mut next = begun;
    loop {
        next += args.interval;
        let at = end.map_or(next, |end| next.min(end));
        let step = async {
            tokio::time::sleep_until(at).await;
            feed.step(course).await;
        };
        tokio::select! {
            biased;
            () = &mut interrupted => return Ok(End::Interrupted),
            () = step => {}
        }
        match &screen {
            Some(screen) => screen.show(&render::live(course, args.duration)),
            None => lines(session, course)?,
        }
        if end.is_some_and(|end| at >= end) || session.screen.is_closed() {
            return Ok(End::InTime);
        }
        // What took longer than the interval is not made up for.
        next = next.max(Instant::now());
    }
}

/// For a pipe: one line for each row that changed, and nothing while nothing does. A document of another format is the
/// only thing on its stream.
fn lines(session: &mut Session, course: &Course) -> Result<()> {
    for told in course.told() {
        session.screen.warning(told);
    }
    if session.screen.is_for_people() {
        for line in render::live_lines(course) {
            session.screen.line(&line)?;
        }
    }
    Ok(())
}
