//! Draws a `Text` for a stream of a given width, with or without colour.
//!
//! Owns widths, wrapping and table layout. All foreign text passes `neutral` here.

mod bars;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use unicode_width::UnicodeWidthStr;

pub(crate) use self::bars::Strokes;
use super::neutral;
use super::paint::painted;
use super::text::{Align, Block, Span, Table, Text, Tone};

/// Below this a table is not squeezed any more: it could no longer be read.
const NARROWEST: u16 = 40;

/// Blanks between columns.
const GAP: u16 = 2;

/// The indent of a line whose word does not fit behind the deeper one.
const SHALLOW: usize = 4;

/// How wide prose may become on very wide terminals, where long lines are hard to read.
const WIDEST_PROSE: usize = 110;

/// What the stream is like. Without a width nothing is wrapped, so that pipes get one line per thing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Canvas {
    pub(crate) colored: bool,
    pub(crate) width: Option<u16>,
    /// What bars are drawn with; without it there are none.
    pub(crate) strokes: Option<Strokes>,
}

pub(crate) fn draw(text: &Text, canvas: Canvas) -> String {
    let mut drawn = String::new();
    for block in &text.blocks {
        match block {
            Block::Blank => {}
            Block::Line(spans) => drawn.push_str(joined(spans, canvas.colored).trim_end()),
            Block::Paragraph { indent, spans } => drawn.push_str(&paragraph(*indent, spans, canvas)),
            Block::Fact { label, column, spans } => {
                drawn.push_str(&format!("  {}", painted(label, Tone::Faint, canvas.colored)));
                let value = paragraph(*column, spans, canvas);
                let label_end = value.len().min(label.width() + 2);
                // The value brings the margin of its first line with it, in place of which the label stands.
                drawn.push_str(value.get(label_end..).filter(|_| !value.starts_with('\n')).unwrap_or(&value));
            }
            Block::Verbatim { indent, label, text } => {
                drawn.push_str(&" ".repeat(*indent));
                drawn.push_str(&painted(label, Tone::Faint, canvas.colored));
                drawn.push_str(&neutral::for_terminal(text));
            }
            Block::Table(table) => drawn.push_str(&draw_table(table, canvas)),
        }
        drawn.push('\n');
    }
    drawn
}

fn joined(spans: &[Span], colored: bool) -> String {
    spans.iter().map(|span| painted(&neutral::for_terminal(&span.text), span.tone, colored)).collect()
}

/// Greedy wrapping at spaces. A word longer than the line stays whole, since it is a name, a fingerprint or a
/// command; where it fits with less of an indent, it gets a line of its own.
fn paragraph(indent: usize, spans: &[Span], canvas: Canvas) -> String {
    let margin = " ".repeat(indent);
    let limit = canvas.width.map_or(usize::MAX, |width| usize::from(width.max(NARROWEST)).min(WIDEST_PROSE));
    let mut drawn = margin.clone();
    let mut column = indent;
    for span in spans {
        let safe = neutral::for_terminal(&span.text);
        for word in safe.split(' ').filter(|word| !word.is_empty()) {
            let width = word.width();
            let own_line = indent > SHALLOW && indent + width > limit && SHALLOW + width <= limit;
            if own_line {
                drawn.truncate(drawn.trim_end().len());
                drawn.push('\n');
                drawn.push_str(&" ".repeat(SHALLOW));
                column = SHALLOW;
            } else if column > indent && column + 1 + width > limit {
                drawn.push('\n');
                drawn.push_str(&margin);
                column = indent;
            } else if column > indent {
                drawn.push(' ');
                column += 1;
            }
            drawn.push_str(&painted(word, span.tone, canvas.colored));
            column += width;
        }
    }
    drawn
}

fn draw_table(table: &Table, canvas: Canvas) -> String {
    let width = canvas.width.filter(|_| !table.is_whole);
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(presets::NOTHING);
    if table.columns.iter().any(|(title, _)| !title.is_empty()) {
        drawn.set_header(header(table, canvas.colored));
    }
    if canvas.colored {
        drawn.enforce_styling();
    } else {
        drawn.force_no_tty();
    }
    match width {
        Some(width) => {
            drawn.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(NARROWEST));
        }
        None => {
            drawn.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    for row in &table.rows {
        drawn.add_row(row.iter().enumerate().map(|(index, span)| cell(table, index, span, canvas.colored)));
    }
    let narrowest = narrowest(table, width);
    let last = table.columns.len().saturating_sub(1);
    for (index, (column, narrowest)) in drawn.column_iter_mut().zip(narrowest).enumerate() {
        column.set_padding((0, if index == last { 0 } else { GAP }));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(narrowest)));
    }
    let lines = drawn.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    bars::beside(lines, table, canvas).join("\n")
}

fn header(table: &Table, colored: bool) -> Vec<Cell> {
    let title = |(index, (title, _)): (usize, &(&str, Align))| {
        let cell = Cell::new(title).set_alignment(alignment(table, index));
        if colored { cell.add_attribute(comfy_table::Attribute::Bold) } else { cell }
    };
    table.columns.iter().enumerate().map(title).collect()
}

/// The least width of each column, its gap included. Short columns keep their width, so that squeezing wraps the
/// long ones and words stay whole; the narrower the screen, the less counts as short.
fn narrowest(table: &Table, width: Option<u16>) -> Vec<u16> {
    const SHORT: [usize; 6] = [16, 13, 11, 9, 7, 4];
    let screen = usize::from(width.unwrap_or(u16::MAX).max(NARROWEST));
    let widest: Vec<usize> = (0..table.columns.len()).map(|index| widest(table, index)).collect();
    let last = widest.len().saturating_sub(1);
    let gap = |index: usize| if index == last { 0 } else { usize::from(GAP) };
    let least = |short: usize| {
        widest.iter().enumerate().map(move |(index, widest)| (*widest).min(short) + gap(index))
    };
    let short = SHORT.into_iter().find(|short| least(*short).sum::<usize>() <= screen).unwrap_or(SHORT[5]);
    least(short).map(|least| u16::try_from(least).unwrap_or(u16::MAX)).collect()
}

fn widest(table: &Table, index: usize) -> usize {
    let title = table.columns.get(index).map_or(0, |(title, _)| title.width());
    let cells = table.rows.iter().filter_map(|row| row.get(index)).map(|span| span.text.width());
    cells.max().unwrap_or(0).max(title)
}

fn cell(table: &Table, index: usize, span: &Span, colored: bool) -> Cell {
    let cell = Cell::new(neutral::for_terminal(&span.text)).set_alignment(alignment(table, index));
    if !colored {
        return cell;
    }
    match span.tone {
        Tone::Plain => cell,
        Tone::Good => cell.fg(comfy_table::Color::DarkGreen),
        Tone::Warn => cell.fg(comfy_table::Color::DarkYellow),
        Tone::Bad => cell.fg(comfy_table::Color::DarkRed).add_attribute(comfy_table::Attribute::Bold),
        Tone::Faint => cell.add_attribute(comfy_table::Attribute::Dim),
        Tone::Strong => cell.add_attribute(comfy_table::Attribute::Bold),
    }
}

fn alignment(table: &Table, index: usize) -> CellAlignment {
    match table.columns.get(index) {
        Some((_, Align::Right)) => CellAlignment::Right,
        _ => CellAlignment::Left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Text {
        let mut text = Text::default();
        text.line(["Healthy"]);
        let mut table = Table::new(&[("NAME", Align::Left), ("COUNT", Align::Right)]);
        table.row(vec!["日本".into(), 7_u64.into()]);
        table.row(vec!["a\u{1b}[2Jb".into(), 1234_u64.into()]);
        text.table(table);
        text
    }

    #[test]
    fn tables_align_wide_characters_and_show_escapes() {
        let drawn = draw(&sample(), Canvas::default());
        assert_eq!(drawn, "Healthy\nNAME         COUNT\n日本             7\na\\u{1b}[2Jb   1234\n");
    }

    #[test]
    fn a_narrow_terminal_wraps_the_long_column_only() {
        let mut table = Table::left(&["VERB", "MESSAGE", "CODE"]);
        table.row(vec!["list".into(), "a long message made of several short words".into(), "200".into()]);
        let mut text = Text::default();
        text.table(table);
        let drawn = draw(&text, Canvas { colored: false, width: Some(40), strokes: None });
        assert!(drawn.lines().all(|line| line.width() <= 40), "{drawn}");
        assert!(drawn.lines().nth(1).unwrap().starts_with("list  a long message"), "{drawn}");
    }

    #[test]
    fn a_table_of_many_columns_fits_the_screen() {
        let titles = ["NAME", "UUID", "APPROVED", "REASON", "DELIVERED", "FINGERPRINT", "AGE"];
        let mut table = Table::left(&titles);
        let uuid = "2fb831dc-ccb4-4de9-a567-75c3ca09079a";
        let name = format!("ak-{uuid}");
        table.row(
            [name.as_str(), uuid, "yes", "ManuallyApproved", "yes", "cc53d682c3c8...", "32m"]
                .map(Span::from)
                .to_vec(),
        );
        let mut text = Text::default();
        text.table(table);
        for width in [120, 100, 80, 60] {
            let drawn = draw(&text, Canvas { colored: false, width: Some(width), strokes: None });
            assert!(drawn.lines().all(|line| line.width() <= usize::from(width)), "{width}:\n{drawn}");
        }
    }

    #[test]
    fn prose_wraps_with_its_indent_and_commands_do_not() {
        let mut text = Text::default();
        text.paragraph(4, ["The key waits for a person to decide about it, and nobody has so far."]);
        text.verbatim(4, "Next: ", "kubectl trusted approve-ak a-rather-long-name -n a-namespace");
        let drawn = draw(&text, Canvas { colored: false, width: Some(40), strokes: None });
        let lines: Vec<_> = drawn.lines().collect();
        assert_eq!(lines[0], "    The key waits for a person to decide");
        assert_eq!(lines[1], "    about it, and nobody has so far.");
        assert_eq!(lines[2], "    Next: kubectl trusted approve-ak a-rather-long-name -n a-namespace");
    }

    #[test]
    fn a_fingerprint_stays_whole_on_80_columns() {
        let fingerprint = format!("sha256:{}", "0".repeat(64));
        let mut text = Text::default();
        text.facts(vec![
            ("fingerprint", fingerprint.as_str().into()),
            ("other key", format!("b, {fingerprint} now").into()),
        ]);
        let drawn = draw(&text, Canvas { colored: false, width: Some(80), strokes: None });
        let expected =
            format!("  fingerprint\n    {fingerprint}\n  other key    b,\n    {fingerprint} now\n");
        assert_eq!(drawn, expected);
        let wide = draw(&text, Canvas { colored: false, width: Some(100), strokes: None });
        assert!(wide.starts_with(&format!("  fingerprint  {fingerprint}\n")), "{wide}");
    }

    #[test]
    fn colour_never_changes_the_words() {
        let mut text = Text::default();
        text.line([Span::new("Unhealthy", Tone::Bad), " now".into()]);
        let plain = draw(&text, Canvas::default());
        let colored = draw(&text, Canvas { colored: true, width: None, strokes: None });
        assert_eq!(plain, "Unhealthy now\n");
        assert_eq!(colored, "\u{1b}[1;31mUnhealthy\u{1b}[0m now\n");
    }
}
