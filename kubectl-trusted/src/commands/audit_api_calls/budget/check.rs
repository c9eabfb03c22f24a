//! Counts against limits.
//!
//! Owns the judgement and its words, as a pure function. Every limit leaves a line, kept or not, so that a report can
//! show what was looked at.

use super::super::change::Change;
use super::super::document::{Breach, Budget, Check, Counted, Kind};
use super::Max;

/// All limits that hold for one measurement, each with the words in which it was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) max: Vec<Max>,
    pub(crate) max_total: Vec<(String, u64)>,
    pub(crate) max_increase: Vec<(String, f64)>,
}

/// Rows named of a limit that is not kept; the document of the counts has all of them.
const MOST_ROWS: usize = 10;

impl Limits {
    pub(crate) fn is_empty(&self) -> bool {
        self.max.is_empty() && self.max_total.is_empty() && self.max_increase.is_empty()
    }

    /// Judges kinds of requests and how many there were of each; a kind may come several times.
    pub(crate) fn check<'a>(&self, counted: impl Iterator<Item = (&'a Kind, u64)>) -> Budget {
        let mut kinds = std::collections::BTreeMap::<&Kind, u64>::new();
        for (kind, count) in counted {
            *kinds.entry(kind).or_default() += count;
        }
        let mut budget = Budget { ok: true, ..Budget::default() };
        for (given, most) in &self.max_total {
            judge(&mut budget, given, *most, kinds.iter().collect());
        }
        for max in &self.max {
            judge(
                &mut budget,
                &max.given,
                max.most,
                kinds.iter().filter(|(kind, _)| max.covers(kind)).collect(),
            );
        }
        budget
    }

    /// How much the total may grow.
    pub(crate) fn check_increase(&self, total: &Change, budget: &mut Budget) {
        for (given, most) in &self.max_increase {
            let breach = increase(given, *most, total);
            let counted = breach.as_ref().map_or_else(|| grown(total).0, |breach| breach.counted.clone());
            settle(budget, given, counted, breach);
        }
    }
}

fn judge(budget: &mut Budget, given: &str, most: u64, mut covered: Vec<(&&Kind, &u64)>) {
    let counted: u64 = covered.iter().map(|(_, count)| **count).sum();
    let breach = (counted > most).then(|| {
        covered.retain(|(_, count)| **count > 0);
        covered.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let row = |(kind, count): &(&&Kind, &u64)| Counted { kind: (**kind).clone(), count: **count };
        Breach {
            limit: given.to_owned(),
            counted: counted.to_string(),
            message: format!("{counted} requests, {} more than the {most} allowed", counted - most),
            rows: covered.iter().take(MOST_ROWS).map(row).collect(),
        }
    });
    settle(budget, given, counted.to_string(), breach);
}

fn settle(budget: &mut Budget, given: &str, counted: String, breach: Option<Breach>) {
    budget.checks.push(Check { limit: given.to_owned(), counted, ok: breach.is_none() });
    budget.breaches.extend(breach);
    budget.ok = budget.breaches.is_empty();
}

/// Judged by the exact numbers, shown rounded.
#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
pub(super) fn increase(given: &str, most: f64, total: &Change) -> Option<Breach> {
    if total.delta as f64 * 100.0 <= most * total.before as f64 {
        return None;
    }
    let (counted, message) = grown(total);
    Some(Breach { limit: given.to_owned(), counted, message, rows: Vec::new() })
}

fn grown(total: &Change) -> (String, String) {
    match total.percent {
        Some(percent) => (
            format!("{percent}%"),
            format!("{} requests became {} ({percent:+}%)", total.before, total.after),
        ),
        None => ("unlimited".to_owned(), format!("no request became {}", total.after)),
    }
}
