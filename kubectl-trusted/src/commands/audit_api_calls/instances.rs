//! Several processes behind one address, each with counters of its own, and what of them continues from one reading to
//! the next.
//!
//! Owns what makes two pages those of one process, and what is said of the others. Numbers of two processes are never
//! subtracted from each other.

use jiff::Timestamp;

use super::count::Counts;
use super::document::{Instance, Notes, Snapshot, Source};

/// The counters of one process. Of APIRequestCounts, whose numbers begin anew each hour, of one hour.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) instance: Instance,
    pub(crate) counts: Counts,
}

impl Instance {
    /// Two that cannot be told apart are one: not all pages bear a start, and a name may come to a page later.
    pub(crate) fn is(&self, other: &Instance) -> bool {
        let named_alike = match (&self.id, &other.id) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let same_place = self.process_start.is_some() || self.url == other.url;
        named_alike && same_place && self.process_start == other.process_start
    }

    fn started_since(&self, at: Option<Timestamp>) -> bool {
        self.process_start.zip(at).is_some_and(|(start, at)| start >= at)
    }
}

/// The parts of two readings that go together.
#[derive(Debug)]
pub(crate) struct Continued<'a> {
    /// Those that can be compared; before is none for one that began in between, all of which was added.
    pub(crate) pairs: Vec<(Option<&'a Part>, &'a Part)>,
    /// Seen before and not after.
    lost: Vec<&'a Part>,
    /// Seen after and not before, though they were there.
    unknown: Vec<&'a Part>,
}

/// The time of a reading by the clocks of those that were read, since these tell when they were started. Ours may be another.
pub(crate) fn clock(parts: &[Part], ours: Option<Timestamp>) -> Option<Timestamp> {
    parts.iter().filter_map(|part| part.instance.clock).max().or(ours)
}

/// `since` is the [`clock`] from which on all that a new process counts was added.
pub(crate) fn continued<'a>(
    before: &'a [Part],
    since: Option<Timestamp>,
    after: &'a [Part],
) -> Continued<'a> {
    let mut continued = Continued { pairs: Vec::new(), lost: Vec::new(), unknown: Vec::new() };
    for part in after {
        match before.iter().find(|earlier| earlier.instance.is(&part.instance)) {
            Some(earlier) => continued.pairs.push((Some(earlier), part)),
            None if part.instance.started_since(since) => continued.pairs.push((None, part)),
            None => continued.unknown.push(part),
        }
    }
    let is_seen = |earlier: &&Part| after.iter().any(|part| earlier.instance.is(&part.instance));
    continued.lost = before.iter().filter(|earlier| !is_seen(earlier) && !earlier.instance.closed).collect();
    continued
}

impl Continued<'_> {
    /// The sum over all that continue, before and after.
    pub(crate) fn sums(&self) -> (Counts, Counts) {
        let (mut before, mut after) = (Counts::default(), Counts::default());
        for (earlier, part) in &self.pairs {
            earlier.iter().for_each(|earlier| before.extend(&earlier.counts));
            after.extend(&part.counts);
        }
        (before, after)
    }

    /// What each of them added, and how many counters fell.
    pub(crate) fn added(&self) -> (Counts, usize) {
        let (mut added, mut fallen) = (Counts::default(), 0);
        for (earlier, part) in &self.pairs {
            let none = Counts::default();
            let (more, fell) = part.counts.added_since(earlier.map_or(&none, |earlier| &earlier.counts));
            added.extend(&more);
            fallen += fell;
        }
        (added, fallen)
    }

    /// What happened since the reading before, where readings follow each other: an instance that does not answer now may
    /// do so later.
    pub(crate) fn news(&self, source: Source) -> Vec<String> {
        let mut news = Vec::new();
        if source == Source::ApiRequestCount {
            // Hours begin.
            return news;
        }
        for (_, part) in self.pairs.iter().filter(|(earlier, _)| earlier.is_none()) {
            let start =
                part.instance.process_start.map(|start| format!(" at {start:.0}")).unwrap_or_default();
            news.push(format!(
                "an instance was started{start}: its counters began at 0; what one before it counted last is missing"
            ));
        }
        if !self.unknown.is_empty() {
            news.push(format!(
                "another instance behind the address answered: it counts from now on; see all of them with --instances {}",
                self.unknown.len() + self.pairs.len() + self.lost.len()
            ));
        }
        news
    }

    /// What a reader must know of the others.
    pub(crate) fn judge(&self, source: Source, notes: &mut Notes) {
        let began = self.pairs.iter().filter(|(earlier, _)| earlier.is_none()).count();
        let goes_on = self.pairs.len() > began;
        let (what, begins) = (source.instance_word(), source != Source::ApiRequestCount);
        if !goes_on && began == 0 {
            notes.invalidate(format!(
                "the {what} was restarted, or another instance behind the same address answered: the counters do not \
                 continue each other; with several instances, see all of them with --instances N"
            ));
            return;
        }
        if began > 0 && begins {
            notes.note(format!(
                "instances of the {what} that were started in the window: {began}; all they counted is in it"
            ));
        }
        if !self.lost.is_empty() {
            let text = format!(
                "instances of the {what} that were seen before and not after: {}; what they counted in the window is \
                 missing, so that the numbers are too low",
                self.lost.len()
            );
            if goes_on { notes.doubt(text) } else { notes.invalidate(text) }
        }
        if !self.unknown.is_empty() {
            notes.doubt(format!(
                "instances of the {what} that were not seen before: {}; what they counted in the window is not known and \
                 not among the numbers (--instances N sees N of them)",
                self.unknown.len()
            ));
        }
    }
}

/// The parts of a document; a single one is not written out twice.
pub(crate) fn parts(snapshot: &Snapshot) -> Vec<Part> {
    let alone = snapshot.instances.len() == 1;
    let part = |instance: &Instance| {
        let rows = if alone { &snapshot.rows } else { &instance.rows };
        Part { instance: instance.bare(), counts: rows.iter().collect() }
    };
    snapshot.instances.iter().map(part).collect()
}

/// How a document names them.
pub(crate) fn named(parts: &[Part]) -> Vec<Instance> {
    let alone = parts.len() == 1;
    let named = |part: &Part| Instance {
        rows: if alone { Vec::new() } else { part.counts.clone().rows() },
        ..part.instance.clone()
    };
    parts.iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::audit_api_calls::count::Key;
    use crate::commands::audit_api_calls::document::Kind;

    fn at(minute: u8) -> Option<Timestamp> {
        format!("2026-11-30T17:{minute:02}:00Z").parse().ok()
    }

    fn part(start: Option<Timestamp>, count: u64) -> Part {
        let mut counts = Counts::default();
        let kind = Kind { verb: "list".into(), resource: "pods".into(), ..Kind::default() };
        counts.add(Key { kind, code: 200 }, count);
        Part { instance: Instance { process_start: start, ..Instance::default() }, counts }
    }

    fn judged(continued: &Continued<'_>) -> Notes {
        let mut notes = Notes::default();
        continued.judge(Source::ApiserverMetrics, &mut notes);
        notes
    }

    #[test]
    fn each_instance_goes_on_by_itself() {
        let before = [part(at(1), 100), part(at(2), 7)];
        let after = [part(at(2), 9), part(at(1), 103)];
        let both = continued(&before, at(10), &after);
        assert_eq!((both.added().0.total(), both.added().1), (5, 0));
        assert_eq!(judged(&both), Notes::default());
        // A third one that had been there: its 50 are of no known time.
        let after = [part(at(1), 103), part(at(3), 50)];
        let some = continued(&before, at(10), &after);
        assert_eq!(some.added().0.total(), 3);
        let notes = judged(&some);
        assert!(notes.doubtful && !notes.invalid, "{notes:?}");
        assert_eq!(notes.warnings.len(), 2, "{notes:?}");
    }

    #[test]
    fn all_that_a_new_process_counted_was_added_and_what_the_old_one_lost_is_told() {
        let (before, after) = ([part(at(1), 100)], [part(at(11), 8)]);
        let restart = continued(&before, at(10), &after);
        assert_eq!(restart.added().0.total(), 8);
        let notes = judged(&restart);
        assert!(notes.invalid && notes.warnings.concat().contains("too low"), "{notes:?}");
    }

    #[test]
    fn starts_are_compared_with_the_clock_that_told_them() {
        let read_at = |minute| {
            let part = part(at(1), 100);
            [Part { instance: Instance { clock: at(minute), ..part.instance }, ..part }]
        };
        // Our clock is late: what was started at 11 was there at 12, which is when it was for them.
        let (before, after) = (read_at(12), [part(at(11), 800)]);
        assert_eq!(continued(&before, clock(&before, at(10)), &after).added().0.total(), 0);
        let before = read_at(10);
        assert_eq!(continued(&before, clock(&before, at(50)), &after).added().0.total(), 800);
        assert_eq!(clock(&[part(at(1), 1)], at(50)), at(50));
    }

    #[test]
    fn another_instance_is_not_subtracted() {
        let (before, after) = ([part(at(1), 100)], [part(at(2), 800)]);
        let other = continued(&before, at(10), &after);
        assert_eq!(other.added().0.total(), 0);
        assert!(judged(&other).invalid);
        // Pages without a start cannot be told apart; a counter that fell shows it.
        let (before, after) = ([part(None, 100)], [part(None, 8)]);
        assert_eq!(continued(&before, at(10), &after).added().1, 1);
    }

    #[test]
    fn a_name_that_comes_later_changes_nothing() {
        let one = Instance { process_start: at(1), ..Instance::default() };
        let named = |id: &str| Instance { id: Some(id.into()), ..one.clone() };
        assert!(one.is(&named("a")) && named("a").is(&one) && !named("a").is(&named("b")));
    }
}
