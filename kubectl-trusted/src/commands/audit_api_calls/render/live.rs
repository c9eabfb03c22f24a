//! The screen of `live`, and its lines where there is no screen.

use std::time::Duration;

use super::super::live::{Course, Line};
use super::{Names, each_minute};
use crate::output::text::{Align, Span, Table, Text, Tone};
use crate::output::time;

/// Rows of the table. The terminal cuts off what it has no room for.
const MOST_ROWS: usize = 30;

const NUMBERS: [(&str, Align); 4] = [
    ("LAST", Align::Right),
    ("LAST/MIN", Align::Right),
    ("TOTAL", Align::Right),
    ("TOTAL/MIN", Align::Right),
];

pub(crate) fn live(course: &Course, duration: Option<Duration>) -> Text {
    let mut text = Text::default();
    let length = course.whole.length().map(time::duration).unwrap_or_default();
    let of = duration.and_then(|whole| jiff::SignedDuration::try_from(whole).ok()).map(time::duration);
    let of = of.map(|whole| format!(" of {whole}")).unwrap_or_default();
    text.line([
        Span::new(format!("{} requests", course.sum().total), Tone::Strong),
        format!(" in {length}{of}").into(),
    ]);
    text.facts(vec![("source", course.origin.as_str().into())]);
    // Above what a short terminal cuts off.
    for told in course.told() {
        text.paragraph(0, [Span::new("Note:", Tone::Warn), told.as_str().into()]);
    }
    text.blank();
    let mut groups = table(&[("GROUP", Align::Left)]);
    for line in course.groups() {
        groups.row(cells([line.what.word().into()], &line));
    }
    groups.row(cells([Span::new("total", Tone::Strong)], &course.sum()));
    text.table(groups);
    let kinds = course.kinds();
    let named = Names::of(kinds.iter().map(|line| (line.what.group.as_str(), line.what.resource.as_str())));
    let mut rows = table(&[("VERB", Align::Left), ("RESOURCE", Align::Left)]);
    for line in kinds.iter().take(MOST_ROWS) {
        let kind = &line.what;
        let resource = named.name(&kind.group, &kind.resource, &kind.subresource);
        rows.row(cells([kind.verb.as_str().into(), resource.into()], line));
    }
    if !rows.is_empty() {
        text.blank();
        text.table(rows);
    }
    text
}

fn table(first: &[(&'static str, Align)]) -> Table {
    Table::new(&[first, &NUMBERS].concat())
}

fn cells<const N: usize, T>(titles: [Span; N], line: &Line<T>) -> Vec<Span> {
    let tone = if line.last > 0 { Tone::Good } else { Tone::Faint };
    let numbers = [
        Span::new(line.last.to_string(), tone),
        each_minute(line.last_per_minute),
        line.total.into(),
        each_minute(line.per_minute),
    ];
    titles.into_iter().chain(numbers).collect()
}

/// What changed in the last interval: time, how many more, of what, how many in all.
pub(crate) fn live_lines(course: &Course) -> Vec<String> {
    let at = course.at().map(super::instant).unwrap_or_default();
    let kinds = course.kinds();
    let named = Names::of(kinds.iter().map(|line| (line.what.group.as_str(), line.what.resource.as_str())));
    let changed = kinds.iter().filter(|line| line.last > 0);
    changed
        .map(|Line { what: kind, last, total, .. }| {
            let resource = named.name(&kind.group, &kind.resource, &kind.subresource);
            format!("{at} +{last} {} {resource} ({total} in all)", kind.verb)
        })
        .collect()
}
