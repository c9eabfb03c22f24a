//! The screen of a comparison.

use super::super::change::{Change, Rates};
use super::super::document::{Diff, DiffRow, Side};
use super::super::export;
use super::{Names, describe, each_minute, instant, notes, rate, show_budget};
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::text::{Align, Bar, Span, Table, Text, Tone};

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
    groups(&mut text, diff);
    if diff.claimed.is_some() {
        text.paragraph(0, ["\"As claimed\" is the sum for our own API group of all clients: it leaves out all other groups."]);
    }
    kinds(&mut text, diff, whole);
    show_budget(&mut text, &diff.budget);
    notes(&mut text, &diff.notes);
    text
}

fn groups(text: &mut Text, diff: &Diff) {
    let mut table = Changes::new(diff, &[("GROUP", Align::Left)]);
    for group in &diff.groups {
        table.row(
            [group.name.word().into()],
            &group.change,
            group.per_object.as_ref().unwrap_or(&group.per_minute),
        );
    }
    table.row(
        [Span::new("total", Tone::Strong)],
        &diff.total,
        diff.per_object.as_ref().unwrap_or(&diff.per_minute),
    );
    if diff.failed != Change::between(0, 0) {
        table.row(["failed (4xx, 5xx)".into()], &diff.failed, &Rates::default());
    }
    if let Some(claimed) = &diff.claimed {
        table.row(["as claimed".into()], claimed, &Rates::default());
    }
    text.blank();
    text.table(table.table);
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

/// A table of changes. Counters that go on have one rate and one length, those of what was added.
struct Changes {
    readings: bool,
    table: Table,
}

impl Changes {
    fn new(diff: &Diff, first: &[(&'static str, Align)]) -> Changes {
        let counts = ["BEFORE", "AFTER", "DELTA", "PERCENT"];
        let rates: &[&str] = match (diff.readings, diff.objects) {
            (true, None) => &["ADDED/MIN"],
            (false, None) => &["BEFORE/MIN", "AFTER/MIN"],
            (true, Some(_)) => &["ADDED/OBJECT"],
            (false, Some(_)) => &["BEFORE/OBJECT", "AFTER/OBJECT"],
        };
        let numbers = counts.iter().chain(rates).map(|title| (*title, Align::Right));
        let columns: Vec<_> = first.iter().copied().chain(numbers).collect();
        Changes { readings: diff.readings, table: Table::new(&columns) }
    }

    fn row<const N: usize>(&mut self, titles: [Span; N], change: &Change, rates: &Rates) {
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
        self.table.row(titles.into_iter().chain(counts).chain(rates).collect());
        self.table.bars.push(match self.readings {
            true => Bar::of(change.added()),
            false => Bar::between(change.before, change.after),
        });
    }
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
    let mut table = Changes::new(diff, &[("VERB", Align::Left), ("RESOURCE", Align::Left)]);
    for row in shown {
        let resource = named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource);
        let titles = [row.kind.verb.as_str().into(), resource.into()];
        table.row(titles, &row.change, row.per_object.as_ref().unwrap_or(&row.per_minute));
    }
    if !table.table.is_empty() {
        text.blank();
        text.table(table.table);
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
