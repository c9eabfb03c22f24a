//! `audit-api-calls diff`: two snapshots side by side, which is what the project's claim rests on.
//!
//! Owns which comparisons hold and what must be said about the others. Reads no cluster.

mod joined;
mod judge;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::budget::{self, BudgetArgs, Limits};
use super::change::{Change, Rates, per_minute};
use super::chart;
use super::document::{Budget, Diff, DiffRow, GroupChange, Instance, Kind, Objects, Side, Snapshot, Window};
use super::group::Group;
use super::report::{self, Measured, ReportArgs};
use super::snapshot::KINDS_UNKNOWN;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::machine::{API_VERSION, Document};
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The snapshot before: a file written by `snapshot`, or "-" for stdin
    #[arg(value_name = "BEFORE")]
    before: String,

    /// The snapshot after
    #[arg(value_name = "AFTER")]
    after: String,

    #[command(flatten)]
    budget: BudgetArgs,

    /// The total may grow by at most this much, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = budget::parse_percent, help_heading = "Budget (exit code 3 when over it)")]
    max_increase: Option<f64>,

    /// Show requests for each object instead of each minute: how many objects there were, such as 20, or before and after,
    /// such as 20,40
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', num_args = 1, value_parser = clap::value_parser!(u64).range(1..))]
    per: Vec<u64>,

    /// Draw before and after as bars into this file as well, as SVG
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    chart: Option<PathBuf>,

    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(session: &mut Session, args: &DiffArgs) -> Result<Exit> {
    if args.before == "-" && args.after == "-" {
        return Err(Error::usage("Only one of the two snapshots can come from stdin"));
    }
    let mut limits = args.budget.limits()?;
    limits.max_increase.extend(args.max_increase.map(|most| (format!("--max-increase {most}%"), most)));
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let named = |file, snapshot| Named { file, snapshot };
    let mut diff = compare(named(&args.before, &before), named(&args.after, &after), &limits);
    match args.per[..] {
        [] => {}
        [objects] => divide(&mut diff, Objects { before: objects, after: objects }),
        [before, after] => divide(&mut diff, Objects { before, after }),
        _ => return Err(Error::usage("--per takes one number for both sides, or one for each")),
    }
    if let Some(file) = &args.chart {
        report::write(file, &chart::svg(&diff))?;
    }
    report::finish(session, &diff, &args.report, args.budget.write_budget.as_deref())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    api_version: Option<String>,
    kind: Option<String>,
}

/// A snapshot in JSON or YAML; other files that people mix up with one are named for what they are.
fn read(file: &str) -> Result<Snapshot> {
    let unreadable = |error: &std::io::Error| {
        Error::input(format!("The snapshot \"{file}\" cannot be read"))
            .why(error.to_string())
            .next("make one with: kubectl trusted audit-api-calls snapshot --out FILE")
    };
    let mut text = String::new();
    let reading = if file == "-" {
        std::io::stdin().read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut opened| opened.read_to_string(&mut text))
    };
    reading.map_err(|error| unreadable(&error))?;
    parse(file, &text)
}

fn parse(file: &str, text: &str) -> Result<Snapshot> {
    let no_snapshot = |problem: &str| {
        Error::input(format!("\"{file}\" is no snapshot: {problem}"))
            .next("make one with: kubectl trusted audit-api-calls snapshot --out FILE")
    };
    if text.trim().is_empty() {
        return Err(no_snapshot("it is empty"));
    }
    let first = text.lines().next().unwrap_or_default();
    if super::log::Event::parse(first.as_bytes()).is_some() {
        return Err(Error::input(format!("\"{file}\" is an audit log, not a snapshot of one")).next(
            format!(
                "make one with: kubectl trusted audit-api-calls snapshot --audit-log {file} --out {file}.json"
            ),
        ));
    }
    let is_json = text.trim_start().starts_with('{');
    let head: Head = if is_json {
        serde_json::from_str(text).map_err(|error| no_snapshot(&error.to_string()))?
    } else {
        serde_saphyr::from_str(text).map_err(|_| no_snapshot("it is neither JSON nor YAML of the plug-in"))?
    };
    if head.kind.as_deref() != Some(Snapshot::KIND) {
        return Err(no_snapshot(&format!("its kind is \"{}\"", head.kind.unwrap_or_default())));
    }
    if head.api_version.as_deref() != Some(API_VERSION) {
        let version = head.api_version.unwrap_or_default();
        return Err(no_snapshot(&format!(
            "its apiVersion is \"{version}\", this program reads {API_VERSION}"
        )));
    }
    if is_json {
        serde_json::from_str(text).map_err(|error| no_snapshot(&error.to_string()))
    } else {
        serde_saphyr::from_str(text).map_err(|_| no_snapshot("a field of it is missing or has another type"))
    }
}

/// A snapshot and the file it is from.
#[derive(Clone, Copy)]
struct Named<'a> {
    file: &'a str,
    snapshot: &'a Snapshot,
}

/// The comparison as a pure function of the two documents.
fn compare(before: Named<'_>, after: Named<'_>, limits: &Limits) -> Diff {
    let (first, second) = (before.snapshot, after.snapshot);
    let readings = first.is_cumulative() && second.is_cumulative();
    if readings && first.source == second.source {
        let joined = joined::join(first, second);
        let (first, second) =
            (Named { snapshot: &joined.before, ..before }, Named { snapshot: &joined.after, ..after });
        let mut diff = compared(first, second, limits);
        diff.notes.append(joined.notes);
        return diff;
    }
    compared(before, after, limits)
}

fn compared(before: Named<'_>, after: Named<'_>, limits: &Limits) -> Diff {
    let (first, second) = (before.snapshot, after.snapshot);
    let readings = first.is_cumulative() && second.is_cumulative();
    let change = if readings { Change::of_counter } else { Change::between };
    let scale = Scale::of(first, second, readings);
    let rows = rows(first, second, change, &scale);
    let notes = judge::judge(first, second, &rows);
    let mut total = change(first.total, second.total);
    if readings {
        // The sum of what each counter added, also where some were reset.
        total.delta = rows.iter().map(|row| row.change.delta).sum();
    }
    let (before, after) = (side(before), side(after));
    let mut diff = Diff {
        readings,
        objects: None,
        total,
        per_minute: scale.rates(&total),
        per_object: None,
        failed: change(before.failed, after.failed),
        claimed: first
            .claimed
            .as_ref()
            .zip(second.claimed.as_ref())
            .map(|(one, other)| change(one.total, other.total)),
        groups: groups(&rows, &scale),
        before,
        after,
        rows,
        notes,
        budget: Budget::default(),
    };
    diff.budget = limits.check(diff.counted().into_iter());
    if readings && !limits.is_empty() {
        diff.notes.note(
            "budgets were compared with what was added between the two snapshots, since counters never start anew",
        );
    }
    if !limits.max.is_empty() && [first, second].iter().any(|side| !side.knows_kinds()) {
        diff.notes.invalidate(KINDS_UNKNOWN);
    }
    if readings && !limits.max_increase.is_empty() {
        diff.notes.invalidate(
            "a limit on the increase compares two windows, but these are two readings of one server's counters: \
             measure each window with run or live, or from an audit log",
        );
    } else {
        limits.check_increase(&total, &mut diff.budget);
    }
    diff
}

fn side(named: Named<'_>) -> Side {
    let Named { file, snapshot } = named;
    Side {
        file: file.to_owned(),
        source: snapshot.source,
        window: snapshot.window,
        filter: snapshot.filter.clone(),
        instances: snapshot.instances.iter().map(Instance::bare).collect(),
        total: snapshot.total,
        failed: snapshot.rows.iter().filter(|row| row.code >= 400).map(|row| row.count).sum(),
        open_watches: snapshot.open_watches.iter().map(|open| open.count).sum(),
    }
}

/// The minutes, or objects, by which counts are divided.
struct Scale {
    before: Option<f64>,
    after: Option<f64>,
    added: Option<f64>,
}

impl Scale {
    fn of(before: &Snapshot, after: &Snapshot, readings: bool) -> Scale {
        if readings {
            let between = Window { from: before.window.to, to: after.window.to };
            return Scale { before: None, after: None, added: between.minutes() };
        }
        Scale { before: before.window.minutes(), after: after.window.minutes(), added: None }
    }

    fn rates(&self, change: &Change) -> Rates {
        Rates {
            before: per_minute(change.before, self.before),
            after: per_minute(change.after, self.after),
            added: per_minute(change.added(), self.added),
        }
    }
}

/// Adds what each object cost.
#[expect(clippy::cast_precision_loss, reason = "counts of objects stay far below 2^52")]
fn divide(diff: &mut Diff, objects: Objects) {
    let [before, after] = [objects.before, objects.after].map(|count| Some(count as f64));
    let scale = match diff.readings {
        true => Scale { before: None, after: None, added: after },
        false => Scale { before, after, added: None },
    };
    diff.objects = Some(objects);
    diff.per_object = Some(scale.rates(&diff.total));
    diff.groups.iter_mut().for_each(|group| group.per_object = Some(scale.rates(&group.change)));
    diff.rows.iter_mut().for_each(|row| row.per_object = Some(scale.rates(&row.change)));
}

/// One row for every kind of request on either side, whatever its status codes.
fn rows(before: &Snapshot, after: &Snapshot, change: fn(u64, u64) -> Change, scale: &Scale) -> Vec<DiffRow> {
    let source = if before.source == after.source {
        before.source.word().to_owned()
    } else {
        format!("{}/{}", before.source.word(), after.source.word())
    };
    let mut kinds: BTreeMap<&Kind, (u64, u64)> = BTreeMap::new();
    for row in &before.rows {
        kinds.entry(&row.kind).or_default().0 += row.count;
    }
    for row in &after.rows {
        kinds.entry(&row.kind).or_default().1 += row.count;
    }
    let row = |(kind, (before, after)): (&Kind, (u64, u64))| {
        let change = change(before, after);
        DiffRow {
            kind: kind.clone(),
            change,
            per_minute: scale.rates(&change),
            per_object: None,
            source: source.clone(),
        }
    };
    kinds.into_iter().map(row).collect()
}

fn groups(rows: &[DiffRow], scale: &Scale) -> Vec<GroupChange> {
    let mut groups = BTreeMap::<Group, Change>::new();
    for row in rows {
        let sum = groups.entry(Group::of(&row.kind)).or_insert_with(|| Change::between(0, 0));
        let delta = sum.delta + row.change.delta;
        *sum =
            Change { delta, ..Change::between(sum.before + row.change.before, sum.after + row.change.after) };
    }
    let group =
        |(name, change)| GroupChange { name, change, per_minute: scale.rates(&change), per_object: None };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests;
