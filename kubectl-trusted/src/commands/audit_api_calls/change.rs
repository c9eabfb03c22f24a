//! Numbers before and after, and numbers per minute.
//!
//! Owns the arithmetic of comparisons and its rounding.

use serde::Serialize;

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

    /// Of a counter, which starts anew and never falls: the part counted since the reset was added at least.
    pub(crate) fn of_counter(before: u64, after: u64) -> Change {
        if after >= before {
            return Change::between(before, after);
        }
        Change { before, after, delta: i64::try_from(after).unwrap_or(i64::MAX), percent: None }
    }

    /// What was added, which for counters is the measurement.
    pub(crate) fn added(&self) -> u64 {
        u64::try_from(self.delta).unwrap_or(0)
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

/// Rounded to a thousandth; none for a window of unknown or no length.
#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
pub(crate) fn per_minute(count: u64, minutes: Option<f64>) -> Option<f64> {
    minutes.map(|minutes| (count as f64 / minutes * 1000.0).round() / 1000.0)
}

/// Requests per minute on both sides, or of what was added between two readings of counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Rates {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_never_fall() {
        let reset = Change::of_counter(50, 7);
        assert_eq!((reset.delta, reset.percent, reset.added()), (7, None, 7));
        assert_eq!(Change::of_counter(5, 7).delta, 2);
    }

    #[test]
    fn percents_are_honest_about_nothing() {
        assert_eq!(Change::between(788, 463).percent, Some(-41.2));
        assert_eq!(Change::between(0, 3).percent, None);
        assert_eq!(Change::between(0, 0).percent, Some(0.0));
        assert_eq!(per_minute(1, None), None);
        assert_eq!(Change::between(3, 0), Change { before: 3, after: 0, delta: -3, percent: Some(-100.0) });
    }
}
