//! `audit-api-calls snapshot`: the requests an API server has answered, as one document.
//!
//! Owns where the numbers come from and what must be said about them. The document is the whole result: `diff`
//! reads it back.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use clap::Args;
use futures::AsyncBufReadExt;
use futures::TryStreamExt;
use jiff::Timestamp;

use super::budget::{BudgetArgs, Limits};
use super::document::{Filter, Instance, Notes, Snapshot, Source, Window};
use super::group::Group;
use super::lines::{self, Line};
use super::metrics::Scrape;
use super::report::{self, ReportArgs};
use super::tally::Tally;
use super::validity;
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};
use crate::exit::Exit;
use crate::output::machine;
use crate::output::progress::Progress;
use crate::output::time::{Moment, parse_moment};
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// Count the events of these audit logs ("-" for stdin, gzip is recognised) instead of reading /metrics; with it,
    /// --user names the client whose requests are counted
    #[arg(long, value_name = "FILE", num_args = 1..)]
    audit_log: Vec<String>,

    /// Only requests for this API group, such as trusted-execution-clusters.io
    #[arg(long, value_name = "GROUP")]
    api_group: Option<String>,

    /// Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago
    #[arg(long, value_name = "TIME", value_parser = parse_moment, requires = "audit_log")]
    since: Option<Moment>,

    /// Only requests received before this
    #[arg(long, value_name = "TIME", value_parser = parse_moment, requires = "audit_log")]
    until: Option<Moment>,

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
    let mut snapshot = if args.audit_log.is_empty() {
        from_metrics(session, args.api_group.clone()).await?
    } else {
        from_audit_logs(session, &args).await?
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

/// Reads in a thread of its own, so that Ctrl-C is heard while a long log is read.
async fn from_audit_logs(session: &Session, args: &SnapshotArgs) -> Result<Snapshot> {
    let now = Timestamp::now();
    let filter = Filter {
        user: session.connection.user.clone(),
        user_agent: None,
        namespaces: Vec::new(),
        api_group: args.api_group.clone(),
        since: args.since.map(|moment| moment.resolve(now)),
        until: args.until.map(|moment| moment.resolve(now)),
    };
    if filter.since.zip(filter.until).is_some_and(|(since, until)| since >= until) {
        return Err(Error::usage("--since is not before --until: no request can be between them"));
    }
    let files = args.audit_log.clone();
    refuse_repeated(&files)?;
    let _progress = Progress::start(&session.screen, "reading audit events");
    let reading = tokio::task::spawn_blocking(move || read_logs(&files, filter));
    reading.await.map_err(|error| Error::input("Reading the audit log ended early").why(error.to_string()))?
}

fn refuse_repeated(files: &[String]) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for file in files {
        let path = std::fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file));
        if !seen.insert(path) {
            return Err(Error::usage(format!(
                "--audit-log names \"{file}\" twice: its requests would count twice"
            )));
        }
    }
    Ok(())
}

fn read_logs(files: &[String], filter: Filter) -> Result<Snapshot> {
    let mut tally = Tally::new(filter.clone());
    let mut notes = Notes::default();
    for file in files {
        let (events, malformed) = (tally.events, tally.malformed);
        let mut input = lines::open(file)?;
        if let Err(error) = read_log(&mut *input, &mut tally) {
            notes.invalidate(format!(
                "\"{file}\" could be read only in part: {error}; the numbers are too low"
            ));
        }
        if tally.events == events && tally.malformed > malformed {
            return Err(Error::input(format!(
                "\"{file}\" is no audit log: none of its lines is an audit event"
            ))
            .next("name a file that the API server wrote (--audit-log-path), one JSON event per line"));
        }
    }
    warn(&tally, &filter, &mut notes);
    let (open_watches, malformed_lines) = (tally.open_watches(), tally.malformed);
    let snapshot = Snapshot::of(Source::AuditLog, tally.window(), tally.into_counts());
    if !open_watches.is_empty() || snapshot.groups.iter().any(|group| group.name == Group::Watches) {
        notes.extend(validity::of_window(&snapshot.window, false));
    }
    Ok(Snapshot { filter, open_watches, malformed_lines, notes, ..snapshot })
}

fn read_log(input: &mut dyn BufRead, tally: &mut Tally) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        match lines::next(input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => tally.malformed += 1,
            Line::Read => tally.line(&line),
        }
    }
}

/// What a reader of the numbers must know.
fn warn(tally: &Tally, filter: &Filter, notes: &mut Notes) {
    if tally.malformed > 0 {
        notes.doubt(format!("{} lines are no audit events and are not counted", tally.malformed));
    }
    if tally.repeated > 0 {
        notes.note(format!("{} repeated events were counted once", tally.repeated));
    }
    if tally.headless() > 0 {
        notes.note(format!(
            "{} watches began before this log and are not counted: they belong to the log before",
            tally.headless()
        ));
    }
    if tally.forgotten() > 0 {
        notes.doubt(format!(
            "more requests were open at once than can be remembered; up to {} may be counted twice",
            tally.forgotten()
        ));
    }
    if let Some((since, first)) = filter.since.zip(tally.first()).filter(|(since, first)| since < first) {
        notes.doubt(format!("the log begins at {first}, after --since {since}"));
    }
    if tally.events == 0 {
        notes.invalidate("the log holds no event: nothing was measured");
    } else if tally.is_empty() {
        notes.invalidate(match filter.user.as_deref() {
            Some(user) => format!("no request of user \"{user}\" matches; {}", seen(&tally.other_users())),
            None => "no request matches: nothing was measured".to_owned(),
        });
    }
}

fn seen(users: &[&str]) -> String {
    match users {
        [] => "nobody else sent one in this window".to_owned(),
        users => format!("seen were: {}", users.iter().take(8).copied().collect::<Vec<_>>().join(", ")),
    }
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
