//! The screens of `audit-api-calls`.
//!
//! Owns the layout: totals first, then verbs, then kinds of request, the notes last. Numbers come from the
//! documents alone.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{
    Budget, Change, Diff, DiffRow, Filter, OpenWatches, Row, Side, Snapshot, Source, Window,
};
use crate::output::machine::Document;
use crate::output::text::{Align, Span, Table, Text, Tone};
use crate::output::time;

/// Rows shown of a snapshot; the document holds all of them.
const MOST_ROWS: usize = 40;

/// Kinds named of the open watches.
const MOST_WATCHES: usize = 12;

impl Document for Snapshot {
    const KIND: &'static str = "ApiCallSnapshot";

    fn text(&self) -> Text {
        let mut text = Text::default();
        text.line([
            Span::new(format!("{} requests", self.total), Tone::Strong),
            rate(self.total, &self.window).into(),
        ]);
        let mut facts = vec![
            ("source", describe(self.source, &self.filter).into()),
            ("window", interval(&self.window).into()),
        ];
        if let Some(instance) = &self.instance {
            facts.push(("server", instance.url.as_str().into()));
        }
        text.facts(facts);
        verbs(&mut text, &self.rows);
        busiest(&mut text, &self.rows);
        open(&mut text, &self.open_watches);
        if let Some(budget) = &self.budget {
            show_budget(&mut text, budget);
        }
        notes(&mut text, &self.warnings);
        text
    }
}

impl Document for Diff {
    const KIND: &'static str = "ApiCallDiff";

    fn text(&self) -> Text {
        let mut text = Text::default();
        let total = &self.total;
        text.line([
            Span::new(format!("{} requests before, {} after", total.before, total.after), Tone::Strong),
            format!("  ({}, {})", signed(total.delta), percent(total)).into(),
        ]);
        sides(&mut text, &self.before, &self.after);
        let mut table = changes("VERB");
        for (verb, change) in &changes_by_verb(&self.rows) {
            table.row(change_row(verb.as_str().into(), change));
        }
        table.row(change_row(Span::new("total", Tone::Strong), total));
        if self.failed != Change::between(0, 0) {
            table.row(change_row("failed (4xx, 5xx)".into(), &self.failed));
        }
        text.blank();
        text.table(table);
        changed_rows(&mut text, self);
        show_budget(&mut text, &self.budget);
        notes(&mut text, &self.warnings);
        text
    }
}

fn describe(source: Source, filter: &Filter) -> String {
    let mut words = source.word().to_owned();
    match (&filter.user, source) {
        (Some(user), _) => words.push_str(&format!(", user {user}")),
        (None, Source::AuditLog) => words.push_str(", all users"),
        (None, Source::ApiserverMetrics) => words.push_str(", all clients since the server started"),
    }
    if let Some(group) = &filter.api_group {
        words.push_str(&format!(", group {group}"));
    }
    words
}

fn interval(window: &Window) -> String {
    match (window.from, window.to, window.length()) {
        (Some(from), Some(to), Some(length)) => {
            format!("{} to {} ({})", instant(from), instant(to), time::duration(length))
        }
        _ => "unknown".to_owned(),
    }
}

/// To the second: nobody reads microseconds; the document has them.
fn instant(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
fn rate(total: u64, window: &Window) -> String {
    match window.length().map(|length| length.as_secs_f64()).filter(|seconds| *seconds >= 1.0) {
        Some(seconds) => format!(", {:.1} per minute", total as f64 * 60.0 / seconds),
        None => String::new(),
    }
}

fn verbs(text: &mut Text, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let mut verbs = BTreeMap::<&str, (u64, u64)>::new();
    for row in rows {
        let verb = verbs.entry(&row.kind.verb).or_default();
        verb.0 += row.count;
        verb.1 += if row.code >= 400 { row.count } else { 0 };
    }
    let mut verbs: Vec<_> = verbs.into_iter().collect();
    verbs.sort_by_key(|(verb, (count, _))| (std::cmp::Reverse(*count), *verb));
    let mut table =
        Table::new(&[("VERB", Align::Left), ("REQUESTS", Align::Right), ("FAILED", Align::Right)]);
    for (verb, (count, failed)) in verbs {
        let failed = if failed > 0 { Span::new(failed.to_string(), Tone::Warn) } else { failed.into() };
        table.row(vec![verb.into(), count.into(), failed]);
    }
    text.blank();
    text.table(table);
}

fn busiest(text: &mut Text, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let named = Names::of(rows.iter().map(|row| (row.kind.group.as_str(), row.kind.resource.as_str())));
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.count), *row));
    let mut table = Table::new(&[
        ("VERB", Align::Left),
        ("RESOURCE", Align::Left),
        ("CODE", Align::Right),
        ("REQUESTS", Align::Right),
    ]);
    for row in rows.iter().take(MOST_ROWS) {
        let code = Span::new(row.code.to_string(), if row.code >= 400 { Tone::Warn } else { Tone::Plain });
        let resource = named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource);
        table.row(vec![row.kind.verb.as_str().into(), resource.into(), code, row.count.into()]);
    }
    text.blank();
    text.table(table);
    if let Some(rest) = rows.get(MOST_ROWS..).filter(|rest| !rest.is_empty()) {
        let count: u64 = rest.iter().map(|row| row.count).sum();
        let line = format!("... and {} more rows with {count} requests; -o json shows them", rest.len());
        text.line([Span::new(line, Tone::Faint)]);
    }
}

fn open(text: &mut Text, watches: &[OpenWatches]) {
    if watches.is_empty() {
        return;
    }
    let named = Names::of(watches.iter().map(|open| (open.group.as_str(), open.resource.as_str())));
    let total: u64 = watches.iter().map(|open| open.count).sum();
    let mut watches: Vec<_> = watches.iter().collect();
    watches.sort_by_key(|open| (std::cmp::Reverse(open.count), *open));
    let mut each: Vec<_> = watches
        .iter()
        .take(MOST_WATCHES)
        .map(|open| format!("{} {}", named.name(&open.group, &open.resource, ""), open.count))
        .collect();
    if watches.len() > MOST_WATCHES {
        each.push(format!("and {} more kinds", watches.len() - MOST_WATCHES));
    }
    text.blank();
    text.paragraph(0, [format!("{total} watches open at the end: {}", each.join(", "))]);
}

fn sides(text: &mut Text, before: &Side, after: &Side) {
    let mut table = Table::left(&["", "BEFORE", "AFTER"]);
    let mut row = |title: &str, cell: fn(&Side) -> String| {
        table.row(vec![Span::new(title, Tone::Faint), cell(before).into(), cell(after).into()]);
    };
    row("file", |side| side.file.clone());
    row("source", |side| describe(side.source, &side.filter));
    row("from", |side| side.window.from.map_or_else(|| "unknown".to_owned(), instant));
    row("to", |side| side.window.to.map_or_else(|| "unknown".to_owned(), instant));
    row("requests", |side| format!("{}{}", side.total, rate(side.total, &side.window)));
    row("open watches", |side| side.open_watches.to_string());
    text.blank();
    text.table(table);
}

fn changes(first: &'static str) -> Table {
    Table::new(&[
        (first, Align::Left),
        ("BEFORE", Align::Right),
        ("AFTER", Align::Right),
        ("DELTA", Align::Right),
        ("PERCENT", Align::Right),
    ])
}

fn change_row(title: Span, change: &Change) -> Vec<Span> {
    let tone = match change.delta {
        0 => Tone::Plain,
        ..0 => Tone::Good,
        1.. => Tone::Warn,
    };
    vec![
        title,
        change.before.into(),
        change.after.into(),
        Span::new(signed(change.delta), tone),
        Span::new(percent(change), tone),
    ]
}

fn signed(delta: i64) -> String {
    if delta == 0 { "0".to_owned() } else { format!("{delta:+}") }
}

fn percent(change: &Change) -> String {
    match change.percent {
        None => "new".to_owned(),
        Some(0.0) => "0%".to_owned(),
        Some(percent) => format!("{percent:+.1}%"),
    }
}

fn changes_by_verb(rows: &[DiffRow]) -> Vec<(String, Change)> {
    let mut verbs = BTreeMap::<&str, (u64, u64)>::new();
    for row in rows {
        let verb = verbs.entry(&row.kind.verb).or_default();
        verb.0 += row.change.before;
        verb.1 += row.change.after;
    }
    let change =
        |(verb, (before, after)): (&str, (u64, u64))| (verb.to_owned(), Change::between(before, after));
    verbs.into_iter().map(change).collect()
}

/// The kinds of request whose number changed, the largest change first.
fn changed_rows(text: &mut Text, diff: &Diff) {
    let named = Names::of(diff.rows.iter().map(|row| (row.kind.group.as_str(), row.kind.resource.as_str())));
    let (mut shown, hidden): (Vec<_>, Vec<_>) = diff.rows.iter().partition(|row| row.change.delta != 0);
    shown.sort_by_key(|row| {
        (
            std::cmp::Reverse(row.change.delta.unsigned_abs()),
            std::cmp::Reverse(row.change.before),
            &row.kind.resource,
        )
    });
    let mut table = Table::new(&[
        ("VERB", Align::Left),
        ("RESOURCE", Align::Left),
        ("BEFORE", Align::Right),
        ("AFTER", Align::Right),
        ("DELTA", Align::Right),
        ("PERCENT", Align::Right),
    ]);
    for row in shown {
        let mut cells = change_row(
            named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource).into(),
            &row.change,
        );
        cells.insert(0, row.kind.verb.as_str().into());
        table.row(cells);
    }
    if !table.is_empty() {
        text.blank();
        text.table(table);
    }
    if !hidden.is_empty() {
        let line = format!("... and {} rows that did not change; -o json shows them", hidden.len());
        text.line([Span::new(line, Tone::Faint)]);
    }
}

fn show_budget(text: &mut Text, budget: &Budget) {
    if budget.breaches.is_empty() {
        return;
    }
    text.blank();
    text.line([Span::new("Over budget", Tone::Bad)]);
    for breach in &budget.breaches {
        text.paragraph(2, [format!("{}: {}", breach.limit, breach.message)]);
    }
}

fn notes(text: &mut Text, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    text.blank();
    for warning in warnings {
        text.paragraph(0, [Span::new("Note:", Tone::Warn), warning.as_str().into()]);
    }
}

/// Resource names as short as they can be: the group is shown only where two groups share a resource's name.
struct Names(BTreeSet<String>);

impl Names {
    fn of<'a>(kinds: impl Iterator<Item = (&'a str, &'a str)>) -> Names {
        let mut groups = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (group, resource) in kinds {
            groups.entry(resource).or_default().insert(group);
        }
        Names(
            groups
                .into_iter()
                .filter(|(_, groups)| groups.len() > 1)
                .map(|(name, _)| name.to_owned())
                .collect(),
        )
    }

    fn name(&self, group: &str, resource: &str, subresource: &str) -> String {
        let mut name = resource.to_owned();
        if self.0.contains(resource) && !group.is_empty() {
            name = format!("{name}.{group}");
        }
        if subresource.is_empty() { name } else { format!("{name}/{subresource}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_shown_only_where_names_collide() {
        let kinds = [("", "events"), ("events.k8s.io", "events"), ("apps", "deployments")];
        let named = Names::of(kinds.into_iter());
        assert_eq!(named.name("events.k8s.io", "events", ""), "events.events.k8s.io");
        assert_eq!(named.name("", "events", ""), "events");
        assert_eq!(named.name("apps", "deployments", "status"), "deployments/status");
    }

    #[test]
    fn changes_are_signed() {
        let shown = |before, after| {
            let change = Change::between(before, after);
            format!("{} {}", signed(change.delta), percent(&change))
        };
        assert_eq!(shown(788, 463), "-325 -41.2%");
        assert_eq!(shown(0, 4), "+4 new");
        assert_eq!(shown(4, 4), "0 0%");
    }
}
