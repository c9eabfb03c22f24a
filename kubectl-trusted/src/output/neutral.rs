//! Foreign text made harmless: object fields may hold terminal escapes, control characters and marks that
//! reorder or hide text. They are shown as visible escapes instead.
//!
//! Owns the list of characters; applied by the drawing code to every piece of text, so no caller can forget it.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character may change how a terminal shows the rest, or is not visible at all.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether a whole document may be sent to a terminal as it is.
pub(crate) fn is_harmless(document: &str) -> bool {
    !document.chars().any(|c| c != '\n' && is_harmful(c))
}

/// The text for a terminal: every harmful character as `\u{..}`.
pub(crate) fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmful(c) { safe.extend(c.escape_unicode()) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

/// A JSON document whose strings may hold such characters: the same document with them as `\uXXXX`.
/// Line breaks of the layout stay; JSON strings never hold a raw one.
pub(crate) fn for_json(document: &str) -> Cow<'_, str> {
    if is_harmless(document) {
        return Cow::Borrowed(document);
    }
    let mut safe = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if c == '\n' || !is_harmful(c) {
            safe.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_visible() {
        assert_eq!(for_terminal("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb\\u{d}\\u{a}");
        assert_eq!(for_terminal("c1 \u{9b}2J"), "c1 \\u{9b}2J");
        assert_eq!(for_terminal("bidi \u{202e}gpj.exe"), "bidi \\u{202e}gpj.exe");
    }

    #[test]
    fn ordinary_text_is_untouched() {
        assert!(matches!(for_terminal("größe 日本語 é"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_the_same_document() {
        let value = serde_json::json!({"name": "x\u{9b}2J\u{202e}\u{1b}[0m\u{e0001}"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = for_json(&text);
        assert!(safe.chars().all(|c| c == '\n' || !is_harmful(c)), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
