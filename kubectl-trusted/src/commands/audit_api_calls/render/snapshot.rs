//! The screen of one measurement.

use std::collections::BTreeMap;

use super::super::claim::Claimed;
use super::super::document::{GroupCount, OpenWatches, Row, Snapshot, Source};
use super::super::{export, group::Group};
use super::{Names, describe, each_minute, interval, notes, rate, show_budget};
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::text::{Align, Bar, Span, Table, Text, Tone};

/// Rows shown of a snapshot; the document and the wide table hold all of them.
const MOST_ROWS: usize = 40;

/// Kinds named of the open watches.
const MOST_WATCHES: usize = 12;

impl Document for Snapshot {
    const KIND: &'static str = "ApiCallSnapshot";

    fn text(&self) -> Text {
        draw(self, MOST_ROWS)
    }

    fn wide(&self) -> Text {
        draw(self, usize::MAX)
    }

    fn export(&self, export: Export) -> Option<String> {
        Some(export::snapshot(self, export))
    }
}

fn draw(snapshot: &Snapshot, most_rows: usize) -> Text {
    let mut text = Text::default();
    text.line([
        Span::new(format!("{} requests", snapshot.total), Tone::Strong),
        rate(snapshot.per_minute).into(),
    ]);
    let origin = describe(snapshot.source, snapshot.is_cumulative(), &snapshot.filter);
    let mut facts = vec![("source", origin.into()), ("window", interval(&snapshot.window).into())];
    let word = if snapshot.source == Source::ClientMetrics { "client" } else { "server" };
    if let Some(instance) = snapshot.instances.first() {
        facts.push((word, instance.url.as_str().into()));
    }
    let several = snapshot.instances.iter().filter(|instance| !instance.closed).count();
    if several > 1 {
        facts.push(("instances", several.to_string().into()));
    }
    text.facts(facts);
    if let Some(claimed) = &snapshot.claimed {
        show_claim(&mut text, snapshot.total, claimed);
    }
    groups(&mut text, &snapshot.groups);
    verbs(&mut text, &snapshot.rows);
    busiest(&mut text, &snapshot.rows, most_rows);
    open(&mut text, &snapshot.open_watches);
    if let Some(budget) = &snapshot.budget {
        show_budget(&mut text, budget);
    }
    notes(&mut text, &snapshot.notes);
    text
}

fn show_claim(text: &mut Text, total: u64, claimed: &Claimed) {
    text.blank();
    let said = format!("{} as claimed (group {}, all clients)", claimed.total, claimed.group);
    text.paragraph(0, [Span::new(said, Tone::Strong), format!("leaves out {}.", claimed.leaves_out).into()]);
    text.paragraph(0, [format!("The {total} counted here leave out {}.", claimed.total_leaves_out)]);
}

fn groups(text: &mut Text, groups: &[GroupCount]) {
    if groups.is_empty() {
        return;
    }
    let columns = [("GROUP", Align::Left), ("REQUESTS", Align::Right), ("PER MINUTE", Align::Right)];
    let mut table = Table::new(&columns);
    for GroupCount { name, count, per_minute } in groups {
        table.row(vec![Group::word(*name).into(), (*count).into(), each_minute(*per_minute)]);
        table.bars.push(Bar::of(*count));
    }
    text.blank();
    text.table(table);
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
        table.bars.push(Bar::of(count));
    }
    text.blank();
    text.table(table);
}

fn busiest(text: &mut Text, rows: &[Row], most: usize) {
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
    for row in rows.iter().take(most) {
        let code = Span::new(row.code.to_string(), if row.code >= 400 { Tone::Warn } else { Tone::Plain });
        let resource = named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource);
        table.row(vec![row.kind.verb.as_str().into(), resource.into(), code, row.count.into()]);
        table.bars.push(Bar::of(row.count));
    }
    text.blank();
    text.table(table);
    if let Some(rest) = rows.get(most..).filter(|rest| !rest.is_empty()) {
        let count: u64 = rest.iter().map(|row| row.count).sum();
        let line = format!("... and {} more rows with {count} requests; -o wide shows them", rest.len());
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
