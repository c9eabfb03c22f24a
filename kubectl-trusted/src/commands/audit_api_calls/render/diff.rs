//! The screen of a comparison.

use super::super::change::{Change, Rates};
use super::super::document::{Diff, DiffRow, Side};
use super::super::export;
use super::{Names, describe, each_minute, instant, notes, rate, show_budget};
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::text::{Align, Span, Table, Text, Tone};

impl Document for Diff {
    const KIND: &'static str = "ApiCallDiff";

    fn text(&self) -> Text {
        draw(self, false)
    }

    fn wide(&self) -> Text {
        draw(self, true)
    }

    fn export(&self, export: Export) -> Option<String> {
        Some(export::diff(self, export))
    }
}

fn draw(diff: &Diff, whole: bool) -> Text {
    let mut text = Text::default();
    let total = &diff.total;
    text.line([
        Span::new(format!("{} requests before, {} after", total.before, total.after), Tone::Strong),
        format!("  ({}, {})", signed(total.delta), percent(total)).into(),
    ]);
    sides(&mut text, diff);
    let mut table = changes(diff.readings, &[("GROUP", Align::Left)]);
    for group in &diff.groups {
        table.row(change_row([group.name.word().into()], &group.change, &group.per_minute));
    }
    table.row(change_row([Span::new("total", Tone::Strong)], total, &diff.per_minute));
    if diff.failed != Change::between(0, 0) {
        table.row(change_row(["failed (4xx, 5xx)".into()], &diff.failed, &Rates::default()));
    }
    if let Some(claimed) = &diff.claimed {
        table.row(change_row(["as claimed".into()], claimed, &Rates::default()));
    }
    text.blank();
    text.table(table);
    if diff.claimed.is_some() {
        text.paragraph(0, ["\"As claimed\" is the sum for our own API group of all clients: it leaves out all other groups."]);
    }
    kinds(&mut text, diff, whole);
    show_budget(&mut text, &diff.budget);
    notes(&mut text, &diff.notes);
    text
}

fn sides(text: &mut Text, diff: &Diff) {
    let mut table = Table::left(&["", "BEFORE", "AFTER"]);
    let mut row = |title: &str, cell: &dyn Fn(&Side) -> String| {
        table.row(vec![Span::new(title, Tone::Faint), cell(&diff.before).into(), cell(&diff.after).into()]);
    };
    row("file", &|side| side.file.clone());
    row("source", &|side| describe(side.source, diff.readings, &side.filter));
    row("from", &|side| side.window.from.map_or_else(|| "unknown".to_owned(), instant));
    row("to", &|side| side.window.to.map_or_else(|| "unknown".to_owned(), instant));
    row("requests", &|side| {
        let minutes = side.window.minutes().filter(|_| !diff.readings);
        format!("{}{}", side.total, rate(super::super::change::per_minute(side.total, minutes)))
    });
    row("open watches", &|side| side.open_watches.to_string());
    text.blank();
    text.table(table);
}

/// Counters that go on have one rate, that of what was added.
fn changes(readings: bool, first: &[(&'static str, Align)]) -> Table {
    let counts = ["BEFORE", "AFTER", "DELTA", "PERCENT"];
    let rates: &[&str] = if readings { &["ADDED/MIN"] } else { &["BEFORE/MIN", "AFTER/MIN"] };
    let numbers = counts.iter().chain(rates).map(|title| (*title, Align::Right));
    Table::new(&first.iter().copied().chain(numbers).collect::<Vec<_>>())
}

fn change_row<const N: usize>(titles: [Span; N], change: &Change, rates: &Rates) -> Vec<Span> {
    let tone = match change.delta {
        0 => Tone::Plain,
        ..0 => Tone::Good,
        1.. => Tone::Warn,
    };
    let counts = [
        change.before.into(),
        change.after.into(),
        Span::new(signed(change.delta), tone),
        Span::new(percent(change), tone),
    ];
    let rates = match rates.added {
        Some(_) => vec![each_minute(rates.added)],
        None => vec![each_minute(rates.before), each_minute(rates.after)],
    };
    titles.into_iter().chain(counts).chain(rates).collect()
}

fn signed(delta: i64) -> String {
    if delta == 0 { "0".to_owned() } else { format!("{delta:+}") }
}

fn percent(change: &Change) -> String {
    match change.percent {
        None if change.before > 0 => "reset".to_owned(),
        None => "new".to_owned(),
        Some(0.0) => "0%".to_owned(),
        Some(percent) => format!("{percent:+.1}%"),
    }
}

/// The kinds of request, the largest change first; those that did not change only where all is wanted.
fn kinds(text: &mut Text, diff: &Diff, whole: bool) {
    let named = Names::of(diff.rows.iter().map(|row| (row.kind.group.as_str(), row.kind.resource.as_str())));
    let (mut shown, hidden): (Vec<&DiffRow>, Vec<_>) =
        diff.rows.iter().partition(|row| whole || row.change.delta != 0);
    shown.sort_by_key(|row| {
        (
            std::cmp::Reverse(row.change.delta.unsigned_abs()),
            std::cmp::Reverse(row.change.before),
            &row.kind.resource,
        )
    });
    let mut table = changes(diff.readings, &[("VERB", Align::Left), ("RESOURCE", Align::Left)]);
    for row in shown {
        let resource = named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource);
        let titles = [row.kind.verb.as_str().into(), resource.into()];
        table.row(change_row(titles, &row.change, &row.per_minute));
    }
    if !table.is_empty() {
        text.blank();
        text.table(table);
    }
    if !hidden.is_empty() {
        let line = format!("... and {} rows that did not change; -o wide shows them", hidden.len());
        text.line([Span::new(line, Tone::Faint)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_signed() {
        let shown = |before, after| {
            let change = Change::between(before, after);
            format!("{} {}", signed(change.delta), percent(&change))
        };
        assert_eq!(percent(&Change::of_counter(9, 2)), "reset");
        assert_eq!(shown(788, 463), "-325 -41.2%");
        assert_eq!(shown(0, 4), "+4 new");
        assert_eq!(shown(4, 4), "0 0%");
    }
}
