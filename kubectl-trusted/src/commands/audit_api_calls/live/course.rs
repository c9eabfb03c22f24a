//! What was counted from the beginning up to now, and in the last interval; pure.
//!
//! Owns the arithmetic. Where the numbers are from, `feed` knows.

use jiff::Timestamp;

use crate::commands::audit_api_calls::change::per_minute;
use crate::commands::audit_api_calls::count::Counts;
use crate::commands::audit_api_calls::document::{GroupCount, Kind, Notes, Window};
use crate::commands::audit_api_calls::group::{self, Group};

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line<T> {
    pub(crate) what: T,
    /// In the last interval.
    pub(crate) last: u64,
    pub(crate) last_per_minute: Option<f64>,
    /// Since the beginning.
    pub(crate) total: u64,
    pub(crate) per_minute: Option<f64>,
}

#[derive(Debug)]
pub(crate) struct Course {
    /// Where the numbers are from, in words.
    pub(crate) origin: String,
    pub(crate) whole: Window,
    interval: Window,
    total: Counts,
    step: Counts,
    told: Vec<String>,
    pub(crate) notes: Notes,
    pub(crate) fallen: usize,
}

impl Course {
    pub(crate) fn begin(origin: String, at: Timestamp) -> Course {
        let now = Window { from: Some(at), to: Some(at) };
        Course {
            origin,
            whole: now,
            interval: now,
            total: Counts::default(),
            step: Counts::default(),
            told: Vec::new(),
            notes: Notes::default(),
            fallen: 0,
        }
    }

    /// Takes in what was added up to a time.
    pub(crate) fn step(&mut self, at: Timestamp, added: Counts) {
        self.interval = Window { from: self.interval.to, to: Some(at) };
        self.whole.to = Some(at);
        self.total.extend(&added);
        self.step = added;
        self.told.clear();
    }

    /// Something happened in this interval that a reader of the numbers must know.
    pub(crate) fn tell(&mut self, text: String) {
        self.told.push(text);
    }

    /// There is no news.
    pub(crate) fn miss(&mut self, why: String) {
        self.step = Counts::default();
        self.told = vec![why];
    }

    /// What happened in the last interval.
    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }

    pub(crate) fn at(&self) -> Option<Timestamp> {
        self.whole.to
    }

    pub(crate) fn into_counts(self) -> (Window, Counts, Notes, usize) {
        (self.whole, self.total, self.notes, self.fallen)
    }

    pub(crate) fn sum(&self) -> Line<()> {
        self.line((), self.step.total(), self.total.total())
    }

    /// By group.
    pub(crate) fn groups(&self) -> Vec<Line<Group>> {
        let last = group::counts(&self.step.clone().rows(), None);
        let in_last =
            |name: Group| last.iter().find(|group| group.name == name).map_or(0, |group| group.count);
        let all = group::counts(&self.total.clone().rows(), None);
        let line = |GroupCount { name, count, .. }| self.line(name, in_last(name), count);
        all.into_iter().map(line).collect()
    }

    /// By verb and resource, whatever the answers; the most frequent first.
    pub(crate) fn kinds(&self) -> Vec<Line<Kind>> {
        let last = self.step.by_kind();
        let all = self.total.by_kind();
        let line = |(kind, count): (&Kind, u64)| {
            self.line(kind.clone(), last.get(kind).copied().unwrap_or_default(), count)
        };
        let mut lines: Vec<_> = all.into_iter().map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.total));
        lines
    }

    fn line<T>(&self, what: T, last: u64, total: u64) -> Line<T> {
        let (interval, whole) = (self.interval.minutes(), self.whole.minutes());
        Line {
            what,
            last,
            last_per_minute: per_minute(last, interval),
            total,
            per_minute: per_minute(total, whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::audit_api_calls::count::Key;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn counts(rows: &[(&str, u16, u64)]) -> Counts {
        let mut counts = Counts::default();
        for (verb, code, count) in rows {
            let kind = Kind { verb: (*verb).into(), resource: "pods".into(), ..Kind::default() };
            counts.add(Key { kind, code: *code }, *count);
        }
        counts
    }

    #[test]
    fn rates_are_of_the_interval_and_of_the_whole() {
        let mut course = Course::begin("x".into(), at(0));
        course.step(at(30), counts(&[("list", 200, 6), ("list", 410, 1)]));
        course.step(at(60), counts(&[("list", 200, 2), ("patch", 200, 1)]));
        let lines = course.kinds();
        assert_eq!((lines[0].last, lines[0].total), (2, 9));
        assert_eq!((lines[0].last_per_minute, lines[0].per_minute), (Some(4.0), Some(9.0)));
        assert_eq!((lines[1].what.verb.as_str(), lines[1].last, lines[1].total), ("patch", 1, 1));
        let groups: Vec<_> =
            course.groups().iter().map(|line| (line.what.word(), line.last, line.total)).collect();
        assert_eq!(groups, [("reads", 2, 9), ("writes", 1, 1)]);
        assert_eq!((course.sum().last, course.sum().total), (3, 10));
    }

    #[test]
    fn an_interval_that_was_missed_is_part_of_the_next() {
        let mut course = Course::begin("x".into(), at(0));
        course.step(at(30), counts(&[("list", 200, 6)]));
        course.miss("no answer".into());
        assert_eq!((course.sum().last, course.sum().total, course.told().len()), (0, 6, 1));
        course.step(at(90), counts(&[("list", 200, 3)]));
        assert_eq!((course.sum().last_per_minute, course.told().len()), (Some(3.0), 0));
    }
}
