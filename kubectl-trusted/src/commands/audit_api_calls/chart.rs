//! A comparison as a picture: bars before and after, in SVG, for a README or a pull request.
//!
//! Owns the layout. Text stays text, so that it can be searched, read aloud and scaled; colours follow the reader's light
//! or dark setting; the numbers stand beside the bars, so that nothing rests on colour.

use std::path::Path;

use super::document::{Diff, DiffRow};
use super::export::xml;
use super::render::Names;

/// Kinds of request that have bars of their own; the rest is one row.
const MOST_ROWS: usize = 16;

const WIDTH: u64 = 800;
/// Where bars begin, right of their titles.
const LEFT: u64 = 290;
/// The longest bar, which leaves room for its number.
const LONGEST: u64 = 430;
const BAR: u64 = 11;
const STEP: u64 = 13;
const GAP: u64 = 9;

const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.group{font-weight:600}\
.s0{fill:#8c959f}.s1{fill:#0969da}.s2{fill:#bf8700}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s0{fill:#7d8590}.s1{fill:#4493f8}.s2{fill:#d29922}}";

/// What has bars: a title, whether it is a sum of others, and a number of each series.
struct Row {
    title: String,
    is_sum: bool,
    numbers: Vec<u64>,
}

pub(crate) fn svg(diff: &Diff) -> String {
    let series = series(diff);
    let rows = rows(diff);
    let longest = rows.iter().flat_map(|row| &row.numbers).copied().max().unwrap_or_default().max(1);
    let mut body = String::new();
    let mut y = 34;
    for (at, name) in series.iter().enumerate() {
        body.push_str(&format!("<rect class=\"s{at}\" x=\"16\" y=\"{y}\" width=\"11\" height=\"11\"/>"));
        body.push_str(&format!("<text x=\"33\" y=\"{}\">{}</text>\n", y + 10, xml::escaped(name)));
        y += 18;
    }
    for row in &rows {
        y += GAP;
        body.push_str(&bars(row, y, longest));
        y += STEP * row.numbers.len() as u64;
    }
    let title = xml::escaped(&title(diff));
    let height = y + 14;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <text class=\"title\" x=\"16\" y=\"22\">{title}</text>\n{body}</svg>\n"
    )
}

fn title(diff: &Diff) -> String {
    let total = &diff.total;
    match total.percent {
        _ if diff.readings => format!("{} API requests added", total.added()),
        Some(percent) => {
            format!("{} API requests before, {} after ({percent:+.1}%)", total.before, total.after)
        }
        None => format!("{} API requests before, {} after", total.before, total.after),
    }
}

/// The names of the sides. Of counters that go on, what was added is the only number that means something.
fn series(diff: &Diff) -> Vec<String> {
    if diff.readings {
        return vec!["added between the two readings".to_owned()];
    }
    [("before", &diff.before), ("after", &diff.after)]
        .map(|(word, side)| {
            format!("{word}: {}", Path::new(&side.file).file_stem().unwrap_or_default().display())
        })
        .to_vec()
}

/// The total, its groups, and the kinds of request with the largest numbers.
fn rows(diff: &Diff) -> Vec<Row> {
    let numbers = |change: &super::change::Change| match diff.readings {
        true => vec![change.added()],
        false => vec![change.before, change.after],
    };
    let sum = |title: &str, numbers| Row { title: title.to_owned(), is_sum: true, numbers };
    let mut rows = vec![sum("all requests", numbers(&diff.total))];
    rows.extend(diff.groups.iter().map(|group| sum(group.name.word(), numbers(&group.change))));
    let mut kinds: Vec<&DiffRow> = diff.rows.iter().collect();
    kinds.sort_by_key(|row| (std::cmp::Reverse(numbers(&row.change).into_iter().max()), &row.kind));
    let named = Names::of(diff.rows.iter().map(|row| (row.kind.group.as_str(), row.kind.resource.as_str())));
    let rest = kinds.split_off(kinds.len().min(MOST_ROWS));
    rows.extend(kinds.into_iter().map(|row| {
        let resource = named.name(&row.kind.group, &row.kind.resource, &row.kind.subresource);
        Row { title: format!("{} {resource}", row.kind.verb), is_sum: false, numbers: numbers(&row.change) }
    }));
    if !rest.is_empty() {
        let mut sums = vec![0; rows[0].numbers.len()];
        for row in &rest {
            sums.iter_mut().zip(numbers(&row.change)).for_each(|(sum, number)| *sum += number);
        }
        rows.push(Row { title: format!("{} further kinds", rest.len()), is_sum: false, numbers: sums });
    }
    rows
}

fn bars(row: &Row, top: u64, longest: u64) -> String {
    let middle = top + STEP * row.numbers.len() as u64 / 2 + 4;
    let class = if row.is_sum { " class=\"group\"" } else { "" };
    let title = xml::escaped(&shortened(&row.title));
    let mut drawn =
        format!("<text{class} x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{title}</text>", LEFT - 10);
    for (at, number) in row.numbers.iter().enumerate() {
        let y = top + STEP * at as u64;
        let length = u128::from(*number) * u128::from(LONGEST) / u128::from(longest);
        // What there is of something is seen.
        let length = length.max(u128::from(*number > 0));
        drawn.push_str(&format!(
            "<rect class=\"s{at}\" x=\"{LEFT}\" y=\"{y}\" width=\"{length}\" height=\"{BAR}\"/>\
             <text x=\"{}\" y=\"{}\">{number}</text>",
            u128::from(LEFT + 6) + length,
            y + 10
        ));
    }
    drawn + "\n"
}

/// Names of resources may have any length.
fn shortened(title: &str) -> String {
    const MOST: usize = 40;
    if title.chars().count() <= MOST {
        return title.to_owned();
    }
    title.chars().take(MOST - 1).chain(['…']).collect()
}
