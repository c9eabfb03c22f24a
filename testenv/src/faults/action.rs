//! What a rule does, and the words in which a test says so.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use kube::api::WatchEvent;
use serde::Serialize;
use serde_json::Value;

use super::{
    Shared,
    event::Event,
    matching::{Events, Match},
    refusal::Refusal,
    rule::{Rule, Schedule},
};

/// Changes JSON in place.
#[derive(Clone)]
pub(super) struct Change(pub(super) Arc<dyn Fn(&mut Value) + Send + Sync>);

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a change")
    }
}

/// What is done to a request.
#[derive(Debug)]
pub(super) enum CallAction {
    Request(OnRequest),
    Answer(OnAnswer),
}

/// What is done before the API server sees the request. All but the first stand in for its answer.
#[derive(Debug)]
pub(super) enum OnRequest {
    Hang,
    Answer(Refusal),
    ErrorEvent(Refusal),
    EndAtOnce,
    Cut,
}

/// What is done to the API server's answer.
#[derive(Debug)]
pub(super) enum OnAnswer {
    LoseAnswer,
    Crash,
    OlderAnswer(HashMap<String, Bytes>),
    Rewrite(Change),
    Delay(Duration),
    Truncate(usize),
    CutAfter(usize),
    Slow(usize, Duration),
    Silence,
}

/// What is done to an event of a watch.
#[derive(Debug)]
pub(super) enum EventAction {
    Lose,
    Delay(Duration),
    Freeze,
    Rewrite(Change),
    Replay(usize),
    Inject(Vec<Event>),
    Shuffle(usize),
    ErrorEvent(Refusal),
    CutClean,
    CutMidEvent,
    Silence,
}

/// A rule in the making: when, and then what. Ends with the method that says what to do.
#[derive(Debug)]
#[must_use = "a rule begins with what it does"]
pub struct On<'a, M> {
    shared: &'a Arc<Shared>,
    what: M,
    schedule: Schedule,
}

impl<'a, M> On<'a, M> {
    pub(super) fn new(shared: &'a Arc<Shared>, what: M) -> On<'a, M> {
        On { shared, what, schedule: Schedule::default() }
    }

    /// Lets so many matching requests or events pass first.
    pub fn after(mut self, count: usize) -> Self {
        self.schedule.after = count;
        self
    }

    /// Acts on so many and then no more.
    pub fn times(mut self, count: usize) -> Self {
        self.schedule.times = count;
        self
    }

    /// Acts on exactly one, the first being 1.
    pub fn nth(self, number: usize) -> Self {
        self.after(number.saturating_sub(1)).times(1)
    }

    /// Acts with this probability (0 to 1). The draws follow from the proxy's seed, from how many rules were made
    /// before this one, and from nothing else.
    pub fn chance(mut self, probability: f64) -> Self {
        self.schedule.chance = probability;
        self
    }
}

/// What can be done to requests. Rules act in the order in which they were made; the first that answers or cuts is
/// the last that a request meets before the API server.
impl On<'_, Match> {
    /// Answers in the API server's place, which never hears of the request.
    pub fn answer(self, refusal: impl Into<Refusal>) -> Rule {
        self.request(OnRequest::Answer(refusal.into()))
    }

    /// Does not answer until the rule is lifted; then the request goes on to the API server.
    pub fn hang(self) -> Rule {
        self.request(OnRequest::Hang)
    }

    /// Closes the connection in place of an answer; the API server never hears of the request. A watch that is open
    /// is cut at once.
    pub fn cut(self) -> Rule {
        self.request(OnRequest::Cut)
    }

    /// Answers 200 and nothing more, in the API server's place. A watch that is open ends at once.
    pub fn end_at_once(self) -> Rule {
        self.request(OnRequest::EndAtOnce)
    }

    /// For watches: 200, one ERROR event and the end, in the API server's place. A watch that is open gets it at
    /// once.
    pub fn error_event(self, refusal: impl Into<Refusal>) -> Rule {
        self.request(OnRequest::ErrorEvent(refusal.into()))
    }

    /// Closes the connection in place of the API server's answer: the request has had its effect, and the client
    /// cannot know.
    pub fn lose_answer(self) -> Rule {
        self.received(OnAnswer::LoseAnswer)
    }

    /// The moment in which a process dies: once the API server has answered, the answer is withheld and no request
    /// reaches the API server any more. [`Rule::hit`] returns then, and the test kills the process. When the rule is
    /// lifted, what was withheld is cut and new requests pass.
    pub fn crash_point(self) -> Rule {
        self.received(OnAnswer::Crash)
    }

    /// For get and list: answers with the last body that the API server gave to the same question (path and query,
    /// without the version) before this rule was made. Where there was none, the answer is the real one.
    pub fn older_answer(self) -> Rule {
        let recorded = self.shared.recorded();
        self.received(OnAnswer::OlderAnswer(recorded))
    }

    /// Changes the JSON of the answer, for a list the whole list. Not for watches, whose events are rewritten one by
    /// one, and not for what is not JSON.
    pub fn rewrite(self, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Rule {
        self.received(OnAnswer::Rewrite(Change(Arc::new(change))))
    }

    /// Holds the answer back for this long; the request has its effect at once.
    pub fn delay(self, delay: Duration) -> Rule {
        self.received(OnAnswer::Delay(delay))
    }

    /// Ends the body after so many bytes as if that had been all.
    pub fn truncate(self, bytes: usize) -> Rule {
        self.received(OnAnswer::Truncate(bytes))
    }

    /// Cuts the connection after so many bytes of the body.
    pub fn cut_after(self, bytes: usize) -> Rule {
        self.received(OnAnswer::CutAfter(bytes))
    }

    /// Sends the body in pieces of so many bytes, with a pause before each.
    pub fn slow_body(self, bytes: usize, pause: Duration) -> Rule {
        self.received(OnAnswer::Slow(bytes, pause))
    }

    /// Sends the head of the answer and then nothing, for ever, on a connection that stays open; also when the rule
    /// is lifted, which helps new requests only. A watch that is open is silent from now on.
    pub fn silence(self) -> Rule {
        self.received(OnAnswer::Silence)
    }

    fn request(self, action: OnRequest) -> Rule {
        self.shared.rules.add_call(self.schedule, self.what, CallAction::Request(action))
    }

    fn received(self, action: OnAnswer) -> Rule {
        self.shared.rules.add_call(self.schedule, self.what, CallAction::Answer(action))
    }
}

/// What can be done to events. The order of a stream is kept: what comes after a held event waits for it. Only
/// [`On::shuffle`] and what is added change it.
impl On<'_, Events> {
    /// The event never arrives.
    pub fn lose(self) -> Rule {
        self.act(EventAction::Lose)
    }

    /// The event arrives this much later.
    pub fn delay(self, delay: Duration) -> Rule {
        self.act(EventAction::Delay(delay))
    }

    /// The event, and so all behind it, arrives when the rule is lifted.
    pub fn freeze(self) -> Rule {
        self.act(EventAction::Freeze)
    }

    /// Changes the event's object.
    pub fn rewrite(self, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Rule {
        self.act(EventAction::Rewrite(Change(Arc::new(change))))
    }

    /// After the event, up to so many events before it in the same stream come once more, the oldest first.
    pub fn replay(self, count: usize) -> Rule {
        self.act(EventAction::Replay(count))
    }

    /// After the event come these, for instance older states of objects. What cannot be serialised is left out.
    pub fn inject<K: Serialize>(self, events: impl IntoIterator<Item = WatchEvent<K>>) -> Rule {
        let line = |event| {
            let mut line = serde_json::to_vec(&event).ok()?;
            line.push(b'\n');
            Some(Event::parse(line.into()))
        };
        self.act(EventAction::Inject(events.into_iter().filter_map(line).collect()))
    }

    /// Collects so many events of a stream and sends them in an order drawn from the seed; what is left when the
    /// rule is lifted or the stream ends is sent then.
    pub fn shuffle(self, count: usize) -> Rule {
        self.act(EventAction::Shuffle(count))
    }

    /// In place of the event come an ERROR event and the end of the stream.
    pub fn error_event(self, refusal: impl Into<Refusal>) -> Rule {
        self.act(EventAction::ErrorEvent(refusal.into()))
    }

    /// In place of the event, the stream ends as if its time were up.
    pub fn cut_clean(self) -> Rule {
        self.act(EventAction::CutClean)
    }

    /// The connection is cut when half of the event has been sent.
    pub fn cut_mid_event(self) -> Rule {
        self.act(EventAction::CutMidEvent)
    }

    /// In place of the event and from then on, nothing comes, on a connection that stays open.
    pub fn silence(self) -> Rule {
        self.act(EventAction::Silence)
    }

    fn act(self, action: EventAction) -> Rule {
        self.shared.rules.add_event(self.schedule, self.what, action)
    }
}

impl OnRequest {
    /// As tests call it, for the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            OnRequest::Hang => "hang",
            OnRequest::Answer(_) => "answer",
            OnRequest::ErrorEvent(_) => "error_event",
            OnRequest::EndAtOnce => "end_at_once",
            OnRequest::Cut => "cut",
        }
    }
}

impl OnAnswer {
    pub(super) fn name(&self) -> &'static str {
        match self {
            OnAnswer::LoseAnswer => "lose_answer",
            OnAnswer::Crash => "crash_point",
            OnAnswer::OlderAnswer(_) => "older_answer",
            OnAnswer::Rewrite(_) => "rewrite",
            OnAnswer::Delay(_) => "delay",
            OnAnswer::Truncate(_) => "truncate",
            OnAnswer::CutAfter(_) => "cut_after",
            OnAnswer::Slow(..) => "slow_body",
            OnAnswer::Silence => "silence",
        }
    }

    /// Whether it makes sense for an answer that the API server did not give.
    pub(super) fn is_for_any_answer(&self) -> bool {
        matches!(
            self,
            OnAnswer::Delay(_) | OnAnswer::Truncate(_) | OnAnswer::CutAfter(_) | OnAnswer::Slow(..)
        )
    }

    /// Whether it needs a body that ends.
    pub(super) fn is_for_whole_bodies(&self) -> bool {
        matches!(self, OnAnswer::OlderAnswer(_) | OnAnswer::Rewrite(_))
    }
}

impl EventAction {
    pub(super) fn name(&self) -> &'static str {
        match self {
            EventAction::Lose => "lose",
            EventAction::Delay(_) => "delay",
            EventAction::Freeze => "freeze",
            EventAction::Rewrite(_) => "rewrite",
            EventAction::Replay(_) => "replay",
            EventAction::Inject(_) => "inject",
            EventAction::Shuffle(_) => "shuffle",
            EventAction::ErrorEvent(_) => "error_event",
            EventAction::CutClean => "cut_clean",
            EventAction::CutMidEvent => "cut_mid_event",
            EventAction::Silence => "silence",
        }
    }
}
