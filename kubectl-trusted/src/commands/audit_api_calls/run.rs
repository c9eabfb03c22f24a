//! `audit-api-calls run`: what was asked of an API server while a command ran.
//!
//! Owns the child process. Its output goes to stderr, so that stdout holds the measurement alone; its exit code is that
//! of the program, unless it is 0.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use clap::Args;
use jiff::Timestamp;

use super::budget::BudgetArgs;
use super::document::{Filter, Snapshot, Window};
use super::flow::{self, FlowArgs};
use super::log::LogArgs;
use super::report::ReportArgs;
use super::snapshot;
use super::source::{self, Counters, SourceArgs};
use crate::error::{Class, Error, Result};
use crate::exit::Exit;
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
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

    /// The command and its arguments; what it prints goes to stderr
    #[arg(value_name = "COMMAND", required = true, last = true, num_args = 1..)]
    command: Vec<std::ffi::OsString>,
}

pub(crate) async fn run(session: &mut Session, args: RunArgs) -> Result<Exit> {
    let limits = args.budget.limits()?;
    let Some((mut measured, ended)) = measure(session, &args).await? else {
        return Ok(Exit::Interrupt);
    };
    snapshot::judge(&mut measured, &limits);
    let proposal = args.budget.write_budget.as_deref();
    let exit = snapshot::hand_out(session, &measured, args.out.as_deref(), &args.report, proposal)?;
    Ok(code(ended).map_or(exit, Exit::OfCommand))
}

/// None when it was interrupted: the numbers would be of another length than was asked for.
async fn measure(session: &mut Session, args: &RunArgs) -> Result<Option<(Snapshot, ExitStatus)>> {
    if let Some(account) = &args.flow.flow_schema_for {
        let instances = args.source.instances();
        let work = async |session: &mut Session, counters| counted(session, counters, args).await;
        return Ok(flow::with(session, account, instances, work).await?.flatten());
    }
    if args.log.audit_log.is_empty() {
        let counters = args.source.counters(session, &args.log).await?;
        return counted(session, counters, args).await;
    }
    let filter = args.log.filter(&session.connection)?;
    if filter.since.is_some() || filter.until.is_some() {
        return Err(Error::usage(
            "run counts from the start of the command to its end: leave out --since and --until",
        ));
    }
    let from = Timestamp::now();
    let Some(ended) = wait_for(session, &args.command).await? else { return Ok(None) };
    let to = Timestamp::now();
    let filter = Filter { since: Some(from), until: Some(to), ..filter };
    let measured = snapshot::from_audit_logs(session, &args.log, filter).await?;
    let window = Window { from: Some(from), to: Some(to) };
    Ok(Some((Snapshot { window, ..measured }.with_rates(), ended)))
}

async fn counted(
    session: &mut Session,
    mut counters: Counters,
    args: &RunArgs,
) -> Result<Option<(Snapshot, ExitStatus)>> {
    let before = source::read(session, &mut counters).await?;
    let Some(ended) = wait_for(session, &args.command).await? else { return Ok(None) };
    Ok(Some((source::read(session, &mut counters).await?.since(&before), ended)))
}

async fn wait_for(session: &Session, command: &[std::ffi::OsString]) -> Result<Option<ExitStatus>> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::usage("run needs a command behind --"));
    };
    let failed = |error: std::io::Error| {
        Error::new(Class::Input, format!("The command \"{}\" cannot be run", program.display()))
            .why(error.to_string())
            .next("name a program that is on PATH, behind --")
    };
    let interrupted = session.interrupt.attend();
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdout(Stdio::from(std::io::stderr()))
        .spawn()
        .map_err(failed)?;
    tokio::select! {
        biased;
        ended = child.wait() => ended.map(Some).map_err(failed),
        () = interrupted => {
            // The terminal has told the command as well; how it ends is its own matter.
            let _ = child.wait().await;
            Ok(None)
        }
    }
}

/// The exit code of a command that failed, in the way of shells.
fn code(ended: ExitStatus) -> Option<u8> {
    if ended.success() {
        return None;
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended) {
        return Some(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    Some(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
