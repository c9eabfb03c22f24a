//! The Prometheus text format: what a line holds, and whether a page is whole.
//!
//! Owns the format. Sources: the Prometheus documentation, "Exposition formats"; the OpenMetrics specification, whose
//! pages end with `# EOF`.

use std::collections::BTreeMap;

use jiff::Timestamp;

pub(super) type Labels = BTreeMap<String, String>;

/// What the lines of a page were, for the question whether it is one and whether all of it came.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    samples: u64,
    foreign: u64,
    ended: bool,
    open: bool,
}

impl Lines {
    /// The name that this line begins with. It may still bear its line break, by which its end is known.
    pub(super) fn name<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        self.open = !line.ends_with('\n');
        let text = line.trim();
        self.ended |= text == "# EOF";
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        let end =
            text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let value = rest.rsplit([' ', '\t']).next().unwrap_or_default();
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        let is_sample = is_name && rest.starts_with(['{', ' ', '\t']) && value.parse::<f64>().is_ok();
        self.samples += u64::from(is_sample);
        self.foreign += u64::from(!is_sample);
        is_name.then_some(name)
    }

    /// Whether anything on it was a sample.
    pub(crate) fn is_page(&self) -> bool {
        self.samples > 0
    }

    /// Lines that are neither samples nor comments.
    pub(crate) fn foreign(&self) -> u64 {
        self.foreign
    }

    /// What shows that the end is missing.
    pub(crate) fn cut(&self, is_open_metrics: bool) -> Option<&'static str> {
        if self.open {
            return Some("its last line has no end");
        }
        (is_open_metrics && !self.ended).then_some("it does not end with \"# EOF\"")
    }
}

/// Labels and value of a series, from behind its name.
pub(super) fn sample(rest: &str) -> Option<(Labels, f64)> {
    let (labels, value) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let value: f64 = value.split_whitespace().next()?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some((labels, value))
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut text: &str) -> Option<(Labels, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let (value, rest) = quoted(rest)?;
        labels.insert(name.to_owned(), value);
        text = rest;
    }
}

/// A label's value up to its closing quote, without its escapes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

/// Counters are floats in this format; requests are whole and far below 2^52.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "finite and not negative, see sample"
)]
pub(super) fn count(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 fit")]
pub(super) fn timestamp(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()
}
