//! Counts every request of an audit log exactly once, in bounded memory.
//!
//! A log holds up to four events per request. A request counts at its first answer: a long-running one (a
//! watch, an exec) at ResponseStarted, everything else at ResponseComplete or Panic. Only requests that have
//! started and not completed are remembered one by one, plus a window of the latest ones, so that lines
//! delivered twice count once.
//!
//! Owns these rules. Must not read files.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::count::{Counts, Key};
use super::super::document::{Filter, OpenWatches, Window};
use super::bounded::Bounded;
use super::event::{Event, Stage};

/// Requests open at the same time that are remembered: above the number of watches of very large clusters.
const MOST_OPEN: usize = 1 << 18;

/// Answered requests remembered to recognise repeated lines.
const MOST_RECENT: usize = 1 << 16;

/// Users named when a filter matches nothing.
const MOST_USERS: usize = 512;

/// What is told of every request, once.
pub(crate) trait Sink {
    fn count(&mut self, event: &Event<'_>);
}

impl Sink for Counts {
    fn count(&mut self, event: &Event<'_>) {
        self.add(event.key(), 1);
    }
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Event(Timestamp),
    Malformed,
    Blank,
}

#[derive(Debug)]
pub(crate) struct Tally<S> {
    filter: Filter,
    sink: S,
    counted: u64,
    open: Bounded<Key>,
    /// Answered lately; true where the answer was a start, whose completion is no repetition.
    recent: Bounded<bool>,
    /// Completed, but begun before the log: another log holds their start.
    headless: Bounded<Key>,
    /// Received and not answered so far.
    waiting: Bounded<()>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    users: BTreeMap<String, u64>,
    pub(crate) events: u64,
    pub(crate) malformed: u64,
    pub(crate) repeated: u64,
}

impl<S: Sink> Tally<S> {
    pub(crate) fn new(filter: Filter, sink: S) -> Tally<S> {
        Tally {
            filter,
            sink,
            counted: 0,
            open: Bounded::new(MOST_OPEN),
            recent: Bounded::new(MOST_RECENT),
            headless: Bounded::new(MOST_OPEN),
            waiting: Bounded::new(MOST_OPEN),
            first: None,
            last: None,
            users: BTreeMap::new(),
            events: 0,
            malformed: 0,
            repeated: 0,
        }
    }

    pub(crate) fn line(&mut self, line: &[u8]) -> Seen {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Seen::Blank;
        }
        let Some(event) = Event::parse(line) else {
            self.malformed += 1;
            return Seen::Malformed;
        };
        self.event(&event);
        Seen::Event(event.stage_timestamp)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.first = Some(self.first.map_or(event.stage_timestamp, |first| first.min(event.stage_timestamp)));
        self.last = Some(self.last.map_or(event.stage_timestamp, |last| last.max(event.stage_timestamp)));
        if !self.is_in_window(event.request_received_timestamp) {
            return;
        }
        if self.filter.user.as_deref().is_some_and(|user| user != event.user()) {
            self.note_user(event.user());
            return;
        }
        if !self.is_wanted(event) {
            return;
        }
        match event.stage {
            Stage::RequestReceived => self.received(event),
            Stage::ResponseStarted => self.started(event),
            Stage::ResponseComplete | Stage::Panic => self.completed(event),
        }
    }

    fn is_wanted(&self, event: &Event<'_>) -> bool {
        let Filter { user_agent, namespaces, api_group, .. } = &self.filter;
        user_agent.as_deref().is_none_or(|agent| event.user_agent.starts_with(agent))
            && (namespaces.is_empty() || namespaces.iter().any(|namespace| namespace == event.namespace()))
            && api_group.as_deref().is_none_or(|group| group == event.group())
    }

    fn count(&mut self, event: &Event<'_>) {
        self.counted += 1;
        self.sink.count(event);
    }

    fn received(&mut self, event: &Event<'_>) {
        if let Some(id) = event.id().filter(|id| !self.recent.contains(*id) && !self.open.contains(*id)) {
            self.waiting.insert(id, ());
        }
    }

    /// All stages of a request carry the time it was received, so a request is inside or outside as a whole.
    fn is_in_window(&self, received: Timestamp) -> bool {
        self.filter.since.is_none_or(|since| received >= since)
            && self.filter.until.is_none_or(|until| received < until)
    }

    fn note_user(&mut self, user: &str) {
        if let Some(count) = self.users.get_mut(user) {
            *count += 1;
        } else if self.users.len() < MOST_USERS {
            self.users.insert(user.to_owned(), 1);
        }
    }

    fn started(&mut self, event: &Event<'_>) {
        let key = event.key();
        let Some(id) = event.id() else {
            // Without an id its completion cannot be told from another request's, and that one counts.
            return;
        };
        self.waiting.remove(id);
        if self.open.contains(id) || self.recent.contains(id) {
            self.repeated += 1;
            return;
        }
        self.count(event);
        // A refused request is over: some (failed authentication) log nothing but this stage.
        if self.headless.remove(id).is_some() || key.code >= 400 {
            self.recent.insert(id, true);
        } else {
            self.open.insert(id, key);
        }
    }

    fn completed(&mut self, event: &Event<'_>) {
        let Some(id) = event.id() else {
            self.count(event);
            return;
        };
        self.waiting.remove(id);
        if self.open.remove(id).is_some() {
            self.recent.insert(id, false);
            return;
        }
        if let Some(was_a_start) = self.recent.get_mut(id) {
            self.repeated += u64::from(!std::mem::take(was_a_start));
            return;
        }
        if event.is_long_running() && self.first.is_some_and(|first| event.request_received_timestamp < first)
        {
            self.headless.insert(id, event.key());
            return;
        }
        self.count(event);
        self.recent.insert(id, false);
    }

    /// The part of the log that was looked at.
    pub(crate) fn window(&self) -> Window {
        let (since, until) = (self.filter.since, self.filter.until);
        Window {
            from: self.first.map(|first| since.map_or(first, |since| since.max(first))),
            to: self.last.map(|last| until.map_or(last, |until| until.min(last))),
        }
    }

    /// The first event of all, whatever the filter.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.first
    }

    pub(crate) fn headless(&self) -> usize {
        self.headless.len()
    }

    /// Long-running requests that had to be forgotten while open; each may count a second time at its end.
    pub(crate) fn forgotten(&self) -> u64 {
        self.open.evicted()
    }

    /// The users that did send requests in the window, busiest first.
    pub(crate) fn other_users(&self) -> Vec<&str> {
        let mut users: Vec<_> = self.users.iter().collect();
        users.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        users.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Watches that had started and not ended when the log ended.
    pub(crate) fn open_watches(&self) -> Vec<OpenWatches> {
        let mut open = BTreeMap::<(&str, &str), u64>::new();
        for key in self.open.values().filter(|key| key.kind.verb == "watch") {
            *open.entry((&key.kind.group, &key.kind.resource)).or_default() += 1;
        }
        let watches = |((group, resource), count): ((&str, &str), u64)| OpenWatches {
            group: group.to_owned(),
            resource: resource.to_owned(),
            count,
        };
        open.into_iter().map(watches).collect()
    }

    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// Requests of which the log holds no answer: they were under way, or the policy leaves the answers out.
    pub(crate) fn unanswered(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(crate) fn into_sink(self) -> S {
        self.sink
    }
}

#[cfg(test)]
mod tests;
