//! `audit-api-calls snapshot`: the requests an API server has answered, as one document.
//!
//! Owns where the numbers come from and what must be said about them. The document is the whole result: `diff`
//! reads it back.

use std::path::{Path, PathBuf};

use clap::Args;

use super::budget::{BudgetArgs, Limits};
use super::claim;
use super::count::Counts;
use super::document::{Filter, Snapshot, Source};
use super::group::Group;
use super::log::{self, LogArgs, Tally};
use super::report::{self, ReportArgs};
use super::source::{self, SourceArgs};
use super::validity;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::machine;
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    log: LogArgs,

    #[command(flatten)]
    source: SourceArgs,

    /// Write the document to this file as JSON, for `diff`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Beside it the sum that is often published: requests for our own API group, of all clients
    #[arg(long)]
    as_claimed: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) async fn run(session: &mut Session, args: SnapshotArgs) -> Result<Exit> {
    let limits = args.budget.limits()?;
    let mut snapshot = if args.log.audit_log.is_empty() {
        let mut counters = args.source.counters(session, &args.log).await?;
        source::read(session, &mut counters).await?.since_start()
    } else {
        let filter = args.log.filter(&session.connection)?;
        from_audit_logs(session, &args.log, filter).await?
    };
    if args.as_claimed {
        if !matches!(snapshot.source, Source::AuditLog | Source::ApiserverMetrics) {
            return Err(Error::usage(
                "--as-claimed is a sum over all clients, and these counters are of one or of some",
            )
            .next("leave out --as-claimed, or read the API server's metrics or an audit log"));
        }
        snapshot.claimed = Some(claim::of(session, &args.log, &snapshot).await?);
    }
    judge(&mut snapshot, &limits);
    let proposal = args.budget.write_budget.as_deref();
    hand_out(session, &snapshot, args.out.as_deref(), &args.report, proposal)
}

/// Shows the document, or writes it for `diff`.
pub(super) fn hand_out(
    session: &mut Session,
    snapshot: &Snapshot,
    out: Option<&Path>,
    args: &ReportArgs,
    proposal: Option<&Path>,
) -> Result<Exit> {
    match out {
        Some(file) => keep(session, snapshot, file, args, proposal),
        None => report::finish(session, snapshot, args, proposal),
    }
}

/// A limit that covers no row because rows know less than it must not pass for one that is kept.
pub(super) const KINDS_UNKNOWN: &str = "these counters know no verbs and resources of Kubernetes, so that limits on them cannot be looked at: limit the total";

/// Compares with the limits, and says what the comparison is worth.
pub(super) fn judge(snapshot: &mut Snapshot, limits: &Limits) {
    if limits.is_empty() {
        return;
    }
    snapshot.budget = Some(limits.check(snapshot.rows.iter().map(|row| (&row.kind, row.count))));
    if !limits.max_increase.is_empty() {
        snapshot.notes.note("a limit on the increase needs two snapshots: diff looks at it, this does not");
    }
    if snapshot.is_cumulative() {
        let since = snapshot.source.since();
        snapshot.notes.doubt(format!("budgets were compared with all that was counted {since}"));
    }
    if !limits.max.is_empty() && !snapshot.knows_kinds() {
        snapshot.notes.invalidate(KINDS_UNKNOWN);
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

pub(super) async fn from_audit_logs(session: &Session, args: &LogArgs, filter: Filter) -> Result<Snapshot> {
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
