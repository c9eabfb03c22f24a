//! Which of what clients do is a costly habit, and how to do with fewer requests.
//!
//! Owns the thresholds and the words, as a pure function of the counts.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::Serialize;

use super::super::document::Kind;
use super::habits::{Act, Habits};

/// Below this a habit is no habit.
const FEW: u64 = 10;

/// An object read as often as this is polled; two reads may be one before a write and one after.
const POLLED: u64 = 3;

/// kube-rs ends a watch after 290 s, client-go later: more than this a stream opens for another reason.
/// Source: kube-core/src/params.rs of kube-rs/kube.
const RENEWAL: i64 = 290;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Habit {
    PollingGets,
    RepeatedLists,
    ManyWatches,
    Conflicts,
    CreatesOfExisting,
    RefusedAgain,
    WritesWithoutChange,
}

impl Habit {
    pub(super) fn title(self) -> &'static str {
        match self {
            Habit::PollingGets => "Polling GETs",
            Habit::RepeatedLists => "Repeated LISTs",
            Habit::ManyWatches => "Many watches of one kind",
            Habit::Conflicts => "Conflicts",
            Habit::CreatesOfExisting => "Creates of what is there",
            Habit::RefusedAgain => "Refused again and again",
            Habit::WritesWithoutChange => "Writes that change nothing",
        }
    }

    pub(super) fn why(self) -> &'static str {
        match self {
            Habit::PollingGets => {
                "Each pass reads the object from the API server, whether it changed or not."
            }
            Habit::RepeatedLists => "A LIST carries all objects each time; its cost grows with their number.",
            Habit::ManyWatches => {
                "Several parts of the program watch the same kind, or a watch ends early and is opened anew."
            }
            Habit::Conflicts => {
                "Writes carry a version that is no longer the current one, and are tried again."
            }
            Habit::CreatesOfExisting => "The object is created without a look whether it exists.",
            Habit::RefusedAgain => "The same request is sent again, though the answer will be the same.",
            Habit::WritesWithoutChange => "The write is sent without a look at what is there already.",
        }
    }

    pub(super) fn remedy(self) -> &'static str {
        match self {
            Habit::PollingGets => "Keep the kind in a store that is filled by one watch, and read that.",
            Habit::RepeatedLists => {
                "List once, then watch from the version of the list; with many objects use pages."
            }
            Habit::ManyWatches => {
                "Share one store between all that read the kind; let a watch live for minutes."
            }
            Habit::Conflicts => {
                "Let one writer own each field (server-side apply), patch instead of update, or wait for the store to \
                 show the own write."
            }
            Habit::CreatesOfExisting => {
                "Look into the store first, and remember the own creation until the store shows it."
            }
            Habit::RefusedAgain => {
                "Stop at an answer that time does not change; wait longer after each failure."
            }
            Habit::WritesWithoutChange => {
                "Compare with the object in the store, and write only the difference."
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    pub(super) habit: Habit,
    pub(super) user: String,
    #[serde(flatten)]
    pub(super) kind: Kind,
    pub(super) count: u64,
    /// How many of them need not be, as far as can be told.
    pub(super) avoidable: u64,
    pub(super) what: String,
}

pub(super) fn of(habits: &Habits, window: Option<SignedDuration>) -> Vec<Finding> {
    let mut findings = polling(habits, window);
    findings.extend(lists(habits, window));
    findings.extend(watches(habits, window));
    findings.extend(refused(habits));
    findings.extend(unchanged(habits));
    findings.sort_by(|one, other| {
        let rank = |finding: &Finding| (std::cmp::Reverse(finding.avoidable), finding.habit);
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.what.cmp(&other.what))
            .then_with(|| one.user.cmp(&other.user))
    });
    findings
}

fn finding(habit: Habit, act: &Act, count: u64, avoidable: u64, what: String) -> Finding {
    Finding { habit, user: act.user.clone(), kind: act.kind.clone(), count, avoidable, what }
}

fn name(kind: &Kind) -> String {
    let subresource =
        if kind.subresource.is_empty() { String::new() } else { format!("/{}", kind.subresource) };
    format!("{}{subresource}", kind.resource)
}

/// Counts of the same act, summed, with the number of different things they were about.
fn summed<'a>(counts: impl Iterator<Item = (&'a Act, u64)>) -> BTreeMap<&'a Act, (u64, u64)> {
    let mut sums = BTreeMap::<&Act, (u64, u64)>::new();
    for (act, count) in counts {
        let sum = sums.entry(act).or_default();
        *sum = (sum.0 + count, sum.1 + 1);
    }
    sums
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
fn every(window: Option<SignedDuration>, count: u64) -> String {
    window.filter(|_| count > 0).map_or_else(String::new, |window| {
        format!(", one every {:.1} s", window.as_secs_f64() / count as f64)
    })
}

fn within(places: u64) -> String {
    if places > 1 { format!(" in {places} namespaces") } else { String::new() }
}

fn polling(habits: &Habits, window: Option<SignedDuration>) -> Vec<Finding> {
    let polled = habits.gets.iter().filter(|(_, count)| **count >= POLLED);
    let sums = summed(polled.map(|((act, _, _), count)| (act, *count)));
    let wanted = sums.into_iter().filter(|(_, (count, _))| *count >= FEW);
    let tell = |(act, (count, objects)): (&Act, (u64, u64))| {
        let what = format!("{count} GETs of {objects} {}{}", name(&act.kind), every(window, count));
        finding(Habit::PollingGets, act, count, count - objects, what)
    };
    wanted.map(tell).collect()
}

fn lists(habits: &Habits, window: Option<SignedDuration>) -> Vec<Finding> {
    let sums = summed(habits.lists.iter().map(|((act, _), count)| (act, *count)));
    let wanted = sums.into_iter().filter(|(_, (count, places))| *count >= FEW && *count >= POLLED * places);
    let tell = |(act, (count, places)): (&Act, (u64, u64))| {
        let what = format!("{count} LISTs of {}{}{}", name(&act.kind), within(places), every(window, count));
        finding(Habit::RepeatedLists, act, count, count - places, what)
    };
    wanted.map(tell).collect()
}

/// One stream in each place, with its renewals, is what a client needs.
fn watches(habits: &Habits, window: Option<SignedDuration>) -> Vec<Finding> {
    let Some(window) = window else { return Vec::new() };
    let one = u64::try_from(window.as_secs() / RENEWAL + 1).unwrap_or(1);
    let sums = summed(habits.watches.iter().map(|((act, _), count)| (act, *count)));
    let wanted = sums.into_iter().filter(|(_, (count, places))| *count > one * places);
    let tell = |(act, (count, places)): (&Act, (u64, u64))| {
        let needed = one * places;
        let what = format!("{count} watches of {} opened where {needed} would do", name(&act.kind));
        finding(Habit::ManyWatches, act, count, count - needed, what)
    };
    wanted.map(tell).collect()
}

fn refused(habits: &Habits) -> Vec<Finding> {
    // A GET answered with 404 is a question with an answer.
    let is_answer = |act: &Act, code: u16| code == 404 && act.kind.verb == "get";
    let wanted =
        habits.refused.iter().filter(|((act, code), count)| **count >= FEW && !is_answer(act, *code));
    let tell = |((act, code), count): (&(Act, u16), &u64)| {
        let all = habits.all.get(act).copied().unwrap_or(*count);
        let what =
            format!("{count} of {all} {} {} were answered with {code}", act.kind.verb, name(&act.kind));
        let habit = match code {
            409 if act.kind.verb == "create" => Habit::CreatesOfExisting,
            409 => Habit::Conflicts,
            _ => Habit::RefusedAgain,
        };
        finding(habit, act, *count, *count, what)
    };
    wanted.map(tell).collect()
}

fn unchanged(habits: &Habits) -> Vec<Finding> {
    let tell = |(act, count): (&Act, &u64)| {
        let all = habits.all.get(act).copied().unwrap_or(*count);
        let what =
            format!("{count} of {all} {} {} left the object as it was", act.kind.verb, name(&act.kind));
        finding(Habit::WritesWithoutChange, act, *count, *count, what)
    };
    habits.unchanged.iter().map(tell).collect()
}

#[cfg(test)]
mod tests;
