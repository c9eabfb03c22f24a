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

use serde::{Deserialize, Serialize};

use crate::bounded::Bounded;
use crate::event::{Event, Stage};
use crate::kind::{Key, OpenWatches};

/// Requests open at the same time that are remembered: above the number of watches of very large clusters.
const MOST_OPEN: usize = 1 << 18;

/// Answered requests remembered to recognise repeated lines.
const MOST_RECENT: usize = 1 << 16;

/// Users named when a filter matches nothing.
const MOST_USERS: usize = 512;

/// The time that the numbers cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl Window {
    pub fn length(&self) -> Option<jiff::SignedDuration> {
        Some(self.to?.duration_since(self.from?)).filter(|length| !length.is_negative())
    }

    /// For rates; none for less than a second, of which a rate would be no more than noise.
    pub fn minutes(&self) -> Option<f64> {
        self.length().map(|length| length.as_secs_f64() / 60.0).filter(|minutes| *minutes >= 1.0 / 60.0)
    }
}

/// What was asked for; absent parts were not restricted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The beginning of the user agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Namespaces of the objects; none for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

/// What is told of every request, once.
pub trait Sink {
    /// A request, at the event by which it counts.
    fn count(&mut self, event: &Event<'_>);

    /// A long-running request that was counted is open no more.
    fn ended(&mut self, _event: &Event<'_>) {}
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Event(Timestamp),
    Malformed,
    Blank,
}

/// Counts the requests of a log, line by line.
#[derive(Debug)]
pub struct Tally<S> {
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
    pub events: u64,
    pub malformed: u64,
    pub repeated: u64,
}

impl<S: Sink> Tally<S> {
    /// Counts the requests that this filter lets through, into this sink.
    pub fn new(filter: Filter, sink: S) -> Tally<S> {
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

    /// Takes in one line of the log, without its end.
    pub fn line(&mut self, line: &[u8]) -> Seen {
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
            self.sink.ended(event);
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
            self.sink.ended(event);
            self.recent.insert(id, false);
            return;
        }
        if let Some(was_a_start) = self.recent.get_mut(id) {
            self.repeated += u64::from(!std::mem::take(was_a_start));
            return;
        }
        let is_long_running = event.is_long_running();
        // One that was refused never started, so that no other log holds its start.
        let is_older = self.first.is_some_and(|first| event.request_received_timestamp < first);
        if is_long_running && is_older && event.code() < 400 {
            self.headless.insert(id, event.key());
            return;
        }
        self.count(event);
        if is_long_running {
            self.sink.ended(event);
        }
        self.recent.insert(id, false);
    }

    /// The part of the log that was looked at.
    pub fn window(&self) -> Window {
        let (since, until) = (self.filter.since, self.filter.until);
        Window {
            from: self.first.map(|first| since.map_or(first, |since| since.max(first))),
            to: self.last.map(|last| until.map_or(last, |until| until.min(last))),
        }
    }

    /// The first event of all, whatever the filter.
    pub fn first(&self) -> Option<Timestamp> {
        self.first
    }

    /// Long-running requests that ended and whose start is in a log before.
    pub fn headless(&self) -> usize {
        self.headless.len()
    }

    /// Long-running requests that had to be forgotten while open; each may count a second time at its end.
    pub fn forgotten(&self) -> u64 {
        self.open.evicted()
    }

    /// The users that did send requests in the window, busiest first.
    pub fn other_users(&self) -> Vec<&str> {
        let mut users: Vec<_> = self.users.iter().collect();
        users.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        users.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Watches that had started and not ended when the log ended.
    pub fn open_watches(&self) -> Vec<OpenWatches> {
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

    /// Requests counted so far.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// Requests of which the log holds no answer: they were under way, or the policy leaves the answers out.
    pub fn unanswered(&self) -> usize {
        self.waiting.len()
    }

    /// Whose requests are counted.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// What was counted so far.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// What was counted.
    pub fn into_sink(self) -> S {
        self.sink
    }
}

#[cfg(test)]
mod tests;
