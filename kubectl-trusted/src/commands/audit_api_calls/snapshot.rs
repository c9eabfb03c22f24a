//! `audit-api-calls snapshot`: the requests an API server has answered, as one document.
//!
//! Owns where the numbers come from and what must be said about them. The document is the whole result: `diff`
//! reads it back.

use std::path::{Path, PathBuf};

use clap::Args;
use futures::AsyncBufReadExt;
use futures::TryStreamExt;
use jiff::Timestamp;

use super::budget::{BudgetArgs, Limits};
use super::count::Counts;
use super::document::{Filter, Instance, Notes, Snapshot, Source, Window};
use super::group::Group;
use super::log::{self, LogArgs, Tally};
use super::metrics::Scrape;
use super::report::{self, ReportArgs};
use super::validity;
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};
use crate::exit::Exit;
use crate::output::machine;
use crate::output::progress::Progress;
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    log: LogArgs,

    /// Write the document to this file as JSON, for `diff`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    report: ReportArgs,
}

const NO_CLIENTS: &str = "the API server's metrics count all clients together: they do not show who sent a request; \
     an audit log (--audit-log, --user) does";
const WATCH_AT_END: &str =
    "the metrics count a watch when it ends; those still open are listed beside the total";

pub(crate) async fn run(session: &mut Session, args: SnapshotArgs) -> Result<Exit> {
    let limits = args.budget.limits()?;
    let mut snapshot = if args.log.audit_log.is_empty() {
        from_metrics(session, args.log.api_group.clone()).await?
    } else {
        from_audit_logs(session, &args.log).await?
    };
    judge(&mut snapshot, &limits);
    let proposal = args.budget.write_budget.as_deref();
    match &args.out {
        Some(file) => keep(session, &snapshot, file, &args.report, proposal),
        None => report::finish(session, &snapshot, &args.report, proposal),
    }
}

/// Compares with the limits, and says what the comparison is worth.
fn judge(snapshot: &mut Snapshot, limits: &Limits) {
    if limits.is_empty() {
        return;
    }
    snapshot.budget = Some(limits.check(snapshot.rows.iter().map(|row| (&row.kind, row.count))));
    if !limits.max_increase.is_empty() {
        snapshot.notes.note("a limit on the increase needs two snapshots: diff looks at it, this does not");
    }
    if snapshot.is_cumulative() {
        snapshot.notes.doubt("budgets were compared with all that was counted since the API server started");
    }
}

/// Writes the document for `diff` and says on stderr what it holds.
fn keep(
    session: &mut Session,
    snapshot: &Snapshot,
    file: &Path,
    args: &ReportArgs,
    proposal: Option<&Path>,
) -> Result<Exit> {
    report::write(file, &machine::json(snapshot)?)?;
    report::files(snapshot, args, proposal)?;
    session.screen.note(&format!("{}: {} requests, written for diff", file.display(), snapshot.total));
    for warning in &snapshot.notes.warnings {
        session.screen.warning(warning);
    }
    for breach in snapshot.budget.iter().flat_map(|budget| &budget.breaches) {
        session.screen.warning(&format!("over budget: {}: {}", breach.limit, breach.message));
    }
    Ok(report::exit(snapshot, args))
}

async fn from_audit_logs(session: &Session, args: &LogArgs) -> Result<Snapshot> {
    let filter = args.filter(&session.connection)?;
    let (tallies, mut notes) =
        log::read(session, &args.audit_log, vec![Tally::new(filter.clone(), Counts::default())]).await?;
    let Some(tally) = tallies.into_iter().next() else {
        return Err(Error::input("Reading the audit log ended early"));
    };
    log::judge(&tally, &mut notes);
    let (open_watches, malformed_lines) = (tally.open_watches(), tally.malformed);
    let snapshot = Snapshot::of(Source::AuditLog, tally.window(), tally.into_sink());
    if !open_watches.is_empty() || snapshot.groups.iter().any(|group| group.name == Group::Watches) {
        notes.extend(validity::of_window(&snapshot.window, false));
    }
    Ok(Snapshot { filter, open_watches, malformed_lines, notes, ..snapshot })
}

async fn from_metrics(session: &mut Session, api_group: Option<String>) -> Result<Snapshot> {
    let connection = session.connection.connect().await.map_err(|error| match &session.connection.user {
        Some(_) if error.class == Class::Kubeconfig => error.next(
            "without --audit-log, --user is a user of the kubeconfig; the metrics do not tell clients apart",
        ),
        _ => error,
    })?;
    let _progress = Progress::start(&session.screen, "reading the API server's metrics");
    let scrape = scrape(&connection, api_group.as_deref()).await?;
    let mut notes = Notes::default();
    notes.note(NO_CLIENTS);
    notes.note(WATCH_AT_END);
    if scrape.malformed > 0 {
        notes.doubt(format!("{} series could not be read and are not counted", scrape.malformed));
    }
    if scrape.series == 0 {
        notes.invalidate("the answer holds no apiserver_request_total: nothing was measured");
    }
    let window = Window { from: scrape.process_start, to: Some(Timestamp::now()) };
    let instance = Instance { url: connection.url.clone(), process_start: scrape.process_start };
    let (open_watches, malformed_lines) = (scrape.open_watches(), scrape.malformed);
    Ok(Snapshot {
        filter: Filter { api_group, ..Filter::default() },
        instance: Some(instance),
        open_watches,
        malformed_lines,
        notes,
        ..Snapshot::of(Source::ApiserverMetrics, window, scrape.counts)
    })
}

async fn scrape(connection: &Connection, api_group: Option<&str>) -> Result<Scrape> {
    let attempt = Attempt::new("get", "/metrics");
    let request = http::Request::get("/metrics").body(Vec::new()).map_err(|error| {
        Error::new(Class::Server, "The request for /metrics cannot be made").why(error.to_string())
    })?;
    let answer = connection.client.request_stream(request).await.map_err(|error| {
        let error = attempt.failed(&error, &connection.url);
        match error.class {
            Class::Forbidden => error.next(
                "ask for the Role of auditors, which allows get on the non-resource URL /metrics \
                 (as system:monitoring does), or count an audit log with --audit-log",
            ),
            _ => error,
        }
    })?;
    let mut lines = answer.lines();
    let mut scrape = Scrape::of_group(api_group);
    loop {
        match lines.try_next().await {
            Ok(Some(line)) => scrape.line(&line),
            Ok(None) => return Ok(scrape),
            Err(error) => {
                return Err(Error::new(
                    Class::Unreachable,
                    "The API server's metrics broke off while being read",
                )
                .why(error.to_string()));
            }
        }
    }
}
