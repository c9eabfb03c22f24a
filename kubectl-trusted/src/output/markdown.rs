//! A `Text` as GitHub-flavoured Markdown, for tickets and pull requests.
//!
//! Owns what has to be escaped there, so that foreign text stays text.

use super::neutral;
use super::text::{Align, Block, Span, Table, Text, Tone};

pub(crate) fn draw(text: &Text) -> String {
    let mut drawn = String::new();
    for block in &text.blocks {
        match block {
            Block::Blank => continue,
            Block::Line(spans) if is_heading(spans) => {
                drawn.push_str(&format!("### {}\n\n", plain(spans)));
            }
            Block::Line(spans) | Block::Paragraph { spans, .. } => {
                drawn.push_str(&format!("{}\n\n", marked(spans)));
            }
            Block::Fact { label, spans, .. } => {
                drawn.push_str(&format!("- {}: {}\n", escaped(label), marked(spans)));
            }
            Block::Verbatim { label, text, .. } => {
                drawn.push_str(&format!("{}{}\n\n", escaped(label), code(text)));
            }
            Block::Table(table) => drawn.push_str(&draw_table(table)),
        }
    }
    drawn.truncate(drawn.trim_end().len());
    drawn + "\n"
}

fn is_heading(spans: &[Span]) -> bool {
    matches!(spans, [one] if one.tone == Tone::Strong)
}

fn plain(spans: &[Span]) -> String {
    spans.iter().map(|span| escaped(&span.text)).collect::<Vec<_>>().concat()
}

/// What is in colour on a terminal is bold here, since the words carry the meaning in both.
fn marked(spans: &[Span]) -> String {
    let words = spans.iter().filter(|span| !span.text.trim().is_empty()).map(|span| {
        let text = escaped(span.text.trim());
        match span.tone {
            Tone::Good | Tone::Warn | Tone::Bad | Tone::Strong => format!("**{text}**"),
            Tone::Plain | Tone::Faint => text,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn draw_table(table: &Table) -> String {
    let mut drawn = String::new();
    let cells = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    drawn.push_str(&cells(table.columns.iter().map(|(title, _)| escaped(title)).collect()));
    let rule = |align: Align| if align == Align::Right { "---:" } else { "---" };
    drawn.push_str(&cells(table.columns.iter().map(|(_, align)| rule(*align).to_owned()).collect()));
    for row in &table.rows {
        drawn.push_str(&cells(row.iter().map(|span| escaped(&span.text)).collect()));
    }
    drawn + "\n"
}

fn escaped(text: &str) -> String {
    let safe = neutral::for_terminal(text);
    let mut escaped = String::with_capacity(safe.len());
    for c in safe.chars() {
        if "\\`*_[]<>|#~&".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A code span, fenced with more backticks than it holds.
fn code(text: &str) -> String {
    let safe = neutral::for_terminal(text);
    let longest = safe.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{safe}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_headings_and_commands_are_markdown() {
        let mut text = Text::default();
        text.line([Span::new("Degraded", Tone::Warn), "  namespace a".into()]);
        text.verbatim(4, "Next: ", "kubectl x `y`");
        text.heading("Machines");
        let mut table = Table::new(&[("NAME", Align::Left), ("KEYS", Align::Right)]);
        table.row(vec!["a|b".into(), 2.into()]);
        text.table(table);
        assert_eq!(
            draw(&text),
            "**Degraded** namespace a\n\nNext: `` kubectl x `y` ``\n\n### Machines\n\n| NAME | KEYS |\n| --- | ---: |\n\
             | a\\|b | 2 |\n"
        );
    }

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escaped("<b>[x](y)\u{1b}[0m"), "\\<b\\>\\[x\\](y)\\\\u{1b}\\[0m");
    }
}
