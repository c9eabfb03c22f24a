//! The documents of `audit-api-calls`: what a snapshot holds, what a comparison holds.
//!
//! Owns the field names, which are a contract. A snapshot is read back by `diff`, so both directions live here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where the numbers come from; they mean different things, so a comparison names both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// Requests of a window, by client.
    AuditLog,
    /// Counters since the API server started, of all clients together.
    ApiserverMetrics,
}

impl Source {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Source::AuditLog => "audit-log",
            Source::ApiserverMetrics => "apiserver-metrics",
        }
    }
}

/// The time that the numbers cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
}

impl Window {
    pub(crate) fn length(&self) -> Option<jiff::SignedDuration> {
        Some(self.to?.duration_since(self.from?)).filter(|length| !length.is_negative())
    }
}

/// What was asked for; absent parts were not restricted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api_group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
}

impl Filter {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

/// What a request was for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Kind {
    pub(crate) verb: String,
    #[serde(default)]
    pub(crate) group: String,
    /// The resource; for a request to no resource the first part of its path, such as `/readyz`.
    #[serde(default)]
    pub(crate) resource: String,
    #[serde(default)]
    pub(crate) subresource: String,
}

/// Requests of one kind with one answer, and their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// The HTTP status; 0 where none was recorded.
    #[serde(default)]
    pub(crate) code: u16,
    pub(crate) count: u64,
}

/// Watches that were open when the numbers were taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OpenWatches {
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) count: u64,
}

/// Which API server the counters are from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instance {
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process_start: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    pub(crate) source: Source,
    pub(crate) window: Window,
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub(crate) filter: Filter,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) instance: Option<Instance>,
    pub(crate) total: u64,
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    pub(crate) open_watches: Vec<OpenWatches>,
    /// Lines of the log that are no audit events.
    #[serde(default)]
    pub(crate) malformed_lines: u64,
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
    /// The numbers do not hold what they seem to say; the exit code says so too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) invalid: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
}

/// One side of a comparison, without its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    pub(crate) file: String,
    pub(crate) source: Source,
    pub(crate) window: Window,
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub(crate) filter: Filter,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instance: Option<Instance>,
    pub(crate) total: u64,
    /// Requests answered with a status of 400 or above.
    pub(crate) failed: u64,
    pub(crate) open_watches: u64,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) delta: i64,
    /// Absent (null) where there was nothing before, so that no number would be right.
    pub(crate) percent: Option<f64>,
}

impl Change {
    pub(crate) fn between(before: u64, after: u64) -> Change {
        let delta = i64::try_from(i128::from(after) - i128::from(before)).unwrap_or(i64::MAX);
        Change { before, after, delta, percent: percent(before, after) }
    }
}

/// Rounded to a tenth of a percent, which is all that such counts can carry.
#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
fn percent(before: u64, after: u64) -> Option<f64> {
    match (before, after) {
        (0, 0) => Some(0.0),
        (0, _) => None,
        _ => Some(((after as f64 - before as f64) / before as f64 * 1000.0).round() / 10.0),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DiffRow {
    #[serde(flatten)]
    pub(crate) kind: Kind,
    #[serde(flatten)]
    pub(crate) change: Change,
    pub(crate) source: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Diff {
    pub(crate) before: Side,
    pub(crate) after: Side,
    pub(crate) total: Change,
    pub(crate) failed: Change,
    pub(crate) rows: Vec<DiffRow>,
    pub(crate) warnings: Vec<String>,
    /// The comparison does not hold, whatever its numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) invalid: bool,
    pub(crate) budget: Budget,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    pub(crate) ok: bool,
    pub(crate) breaches: Vec<Breach>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Breach {
    /// The limit as it was given, such as `--max list=0`.
    pub(crate) limit: String,
    /// What was counted against it.
    pub(crate) counted: String,
    pub(crate) message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_honest_about_nothing() {
        assert_eq!(Change::between(788, 463).percent, Some(-41.2));
        assert_eq!(Change::between(0, 3).percent, None);
        assert_eq!(Change::between(0, 0).percent, Some(0.0));
        assert_eq!(Change::between(3, 0), Change { before: 3, after: 0, delta: -3, percent: Some(-100.0) });
    }
}
