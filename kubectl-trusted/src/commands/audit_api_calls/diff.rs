//! `audit-api-calls diff`: two snapshots side by side, which is what the project's claim rests on.
//!
//! Owns which comparisons hold and what must be said about the others. Reads no cluster.

use std::collections::BTreeMap;
use std::io::Read;

use clap::Args;
use serde::Deserialize;

use super::budget::{self, Limits};
use super::document::{Change, Diff, DiffRow, Kind, Side, Snapshot, Source};
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
    limits: Limits,

    /// The total may grow by at most this much, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = budget::parse_percent, help_heading = "Budget (exit code 3 when over it)")]
    max_increase: Option<f64>,
}

/// Windows that differ by more than this share are worth a warning.
const SAME_LENGTH: f64 = 0.1;

pub(crate) fn run(session: &mut Session, args: &DiffArgs) -> Result<Exit> {
    if args.before == "-" && args.after == "-" {
        return Err(Error::usage("Only one of the two snapshots can come from stdin"));
    }
    let before = read(&args.before)?;
    let after = read(&args.after)?;
    let diff = compare(&args.before, &before, &args.after, &after, &args.limits, args.max_increase);
    session.screen.document(&diff)?;
    Ok(match diff {
        Diff { invalid: true, .. } => Exit::Incomplete,
        Diff { budget, .. } if !budget.ok => Exit::Unhealthy,
        _ => Exit::Good,
    })
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
    if super::event::Event::parse(first.as_bytes()).is_some() {
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

/// The comparison as a pure function of the two documents.
fn compare(
    before_file: &str,
    before: &Snapshot,
    after_file: &str,
    after: &Snapshot,
    limits: &Limits,
    max_increase: Option<f64>,
) -> Diff {
    let mut warnings = Vec::new();
    let rows = rows(before, after);
    let invalid = judge(before, after, &rows, &mut warnings);
    let total = Change::between(before.total, after.total);
    let mut budget = limits.check(counted(before, after, &rows));
    if let Some(breach) = max_increase.and_then(|most| budget::increase(most, &total)) {
        budget.breaches.push(breach);
        budget.ok = false;
    }
    if !budget.ok || !limits.is_empty() {
        warnings.extend(is_cumulative(before, after).then(|| {
            "budgets were compared with what was added between the two snapshots, since counters never start anew"
                .to_owned()
        }));
    }
    let (before, after) = (side(before_file, before), side(after_file, after));
    let failed = Change::between(before.failed, after.failed);
    Diff { before, after, total, failed, rows, warnings, invalid, budget }
}

fn side(file: &str, snapshot: &Snapshot) -> Side {
    Side {
        file: file.to_owned(),
        source: snapshot.source,
        window: snapshot.window,
        filter: snapshot.filter.clone(),
        instance: snapshot.instance.clone(),
        total: snapshot.total,
        failed: snapshot.rows.iter().filter(|row| row.code >= 400).map(|row| row.count).sum(),
        open_watches: snapshot.open_watches.iter().map(|open| open.count).sum(),
    }
}

/// One row for every kind of request on either side, whatever its status codes.
fn rows(before: &Snapshot, after: &Snapshot) -> Vec<DiffRow> {
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
    let row = |(kind, (before, after)): (&Kind, (u64, u64))| DiffRow {
        kind: kind.clone(),
        change: Change::between(before, after),
        source: source.clone(),
    };
    kinds.into_iter().map(row).collect()
}

/// Two readings of the counters of one running server: what was added between them is the measurement.
fn is_cumulative(before: &Snapshot, after: &Snapshot) -> bool {
    before.source == Source::ApiserverMetrics && after.source == Source::ApiserverMetrics
}

fn counted<'a>(
    before: &Snapshot,
    after: &Snapshot,
    rows: &'a [DiffRow],
) -> impl Iterator<Item = (&'a Kind, u64)> + use<'a> {
    let added = is_cumulative(before, after);
    rows.iter().map(move |row| {
        let change = &row.change;
        (&row.kind, if added { change.after.saturating_sub(change.before) } else { change.after })
    })
}

/// What a reader must know; whether the comparison does not hold.
fn judge(before: &Snapshot, after: &Snapshot, rows: &[DiffRow], warnings: &mut Vec<String>) -> bool {
    for (name, one, other) in [("before", before, after), ("after", after, before)] {
        // What holds of both is said once.
        let alone = one.warnings.iter().filter(|warning| !other.warnings.contains(warning));
        warnings.extend(alone.map(|warning| format!("{name}: {warning}")));
    }
    warnings.extend(before.warnings.iter().filter(|warning| after.warnings.contains(warning)).cloned());
    let mut invalid = before.invalid || after.invalid;
    if before.source != after.source {
        warnings.push(format!(
            "before is from {}, after from {}: they count different things and cannot be compared",
            before.source.word(),
            after.source.word()
        ));
        return true;
    }
    if before.filter.user != after.filter.user {
        let user = |snapshot: &Snapshot| match &snapshot.filter.user {
            Some(user) => format!("user {user}"),
            None => "all users".to_owned(),
        };
        warnings.push(format!(
            "the sides differ in whose requests they are: {} and {}",
            user(before),
            user(after)
        ));
    }
    if before.filter.api_group != after.filter.api_group {
        warnings.push("the sides differ in the API groups they count".to_owned());
        invalid = true;
    }
    if before.window.to.zip(after.window.to).is_some_and(|(before, after)| before > after) {
        warnings.push(
            "the snapshot before is of a later time than the one after: are the two swapped?".to_owned(),
        );
    }
    if is_cumulative(before, after) {
        invalid |= judge_counters(before, after, rows, warnings);
    } else {
        judge_windows(before, after, warnings);
    }
    invalid
}

fn judge_counters(before: &Snapshot, after: &Snapshot, rows: &[DiffRow], warnings: &mut Vec<String>) -> bool {
    let start = |snapshot: &Snapshot| snapshot.instance.as_ref().and_then(|instance| instance.process_start);
    let mut invalid = false;
    if start(before) != start(after) {
        warnings.push(
            "the API server was restarted, or another instance behind the same address answered: the counters do not \
             continue each other"
                .to_owned(),
        );
        invalid = true;
    }
    let fallen = rows.iter().filter(|row| row.change.delta < 0).count();
    if fallen > 0 && !invalid {
        warnings.push(format!(
            "{fallen} counters fell, which a counter never does: the two are not of one server"
        ));
        invalid = true;
    }
    invalid
}

fn judge_windows(before: &Snapshot, after: &Snapshot, warnings: &mut Vec<String>) {
    let Some((first, second)) = before.window.length().zip(after.window.length()) else { return };
    let (short, long) = (first.min(second).as_secs_f64(), first.max(second).as_secs_f64());
    if short < long * (1.0 - SAME_LENGTH) {
        warnings.push(format!(
            "the windows are of different length ({} and {}): compare the numbers per minute as well",
            crate::output::time::duration(first),
            crate::output::time::duration(second)
        ));
    }
}

#[cfg(test)]
mod tests;
