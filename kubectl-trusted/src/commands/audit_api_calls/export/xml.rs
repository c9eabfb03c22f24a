//! Text in XML.
//!
//! Owns what has to be escaped there.

use crate::output::neutral;

/// For text and attributes alike. Control characters, which XML cannot hold, are shown as on a terminal.
pub(crate) fn escaped(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(neutral::for_terminal).collect();
    let mut escaped = String::with_capacity(text.len());
    for c in lines.join("\n").chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.extend(c.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}
