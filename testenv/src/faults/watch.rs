//! The events of one watch, on their way to the client.

use std::{collections::VecDeque, future, sync::Arc};

use bytes::Bytes;
use futures::stream;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};

use super::{
    action::{CallAction, EventAction, OnAnswer, OnRequest},
    body::{self, AnswerBody, BoxError, Cut},
    event::{Event, Lines},
    exchange::Exchange,
    log::Step,
    rule::{CallRule, Core, EventRule, RuleSet},
};

/// A watch that is open.
pub(super) struct WatchStream {
    exchange: Exchange,
    upstream: Lines,
    /// False once it has ended or its end is decided. It stays open, as for the client.
    reading: bool,
    queue: VecDeque<Queued>,
    /// All events of this stream as the API server sent them.
    history: Vec<Event>,
    batch: Option<Batch>,
    /// The newest rule about requests that has been considered.
    considered: u64,
    changes: Receiver<RuleSet>,
}

/// Something to be sent when it is due, when nobody holds it, and after all that was queued before it.
struct Queued {
    output: Output,
    due: Instant,
    held_by: Vec<Arc<Core>>,
}

enum Output {
    Event(Event),
    Half(Event),
    End,
    Cut,
    Silence,
}

/// Events that wait to be shuffled.
struct Batch {
    core: Arc<Core>,
    events: Vec<Event>,
}

impl Queued {
    fn now(output: Output) -> Queued {
        Queued { output, due: Instant::now(), held_by: Vec::new() }
    }

    fn is_held(&self) -> bool {
        self.held_by.iter().any(|core| !core.is_lifted())
    }
}

impl WatchStream {
    pub(super) fn new(exchange: Exchange, upstream: Lines, considered: u64) -> WatchStream {
        let changes = exchange.shared.rules.changes();
        WatchStream {
            exchange,
            upstream,
            reading: true,
            queue: VecDeque::new(),
            history: Vec::new(),
            batch: None,
            considered,
            changes,
        }
    }

    pub(super) fn into_body(self) -> AnswerBody {
        body::from_stream(stream::unfold(self, |mut watch| async {
            let sent = watch.next().await?;
            Some((sent, watch))
        }))
    }

    /// What is sent next; None is the end.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            self.obey_new_rules();
            let front = self.queue.front().filter(|front| !front.is_held()).map(|front| front.due);
            if front.is_some_and(|due| due <= Instant::now()) {
                let output = self.queue.pop_front()?.output;
                return self.send(output).await;
            }
            tokio::select! {
                line = self.upstream.next(), if self.reading => self.received(line),
                _ = self.changes.changed() => {}
                () = sleep_until(front.unwrap_or_else(Instant::now)), if front.is_some() => {}
            }
        }
    }

    async fn send(&mut self, output: Output) -> Option<Result<Bytes, BoxError>> {
        match output {
            Output::Event(event) => {
                self.exchange.note(Step::Event(event.to_string()));
                Some(Ok(event.line))
            }
            Output::Half(event) => {
                self.queue.push_front(Queued::now(Output::Cut));
                Some(Ok(event.line.slice(..event.line.len() / 2)))
            }
            Output::End => None,
            Output::Cut => Some(Err(Cut::after_flush().await.into())),
            Output::Silence => future::pending().await,
        }
    }

    /// Rules about whole watches that were made after this one was opened.
    fn obey_new_rules(&mut self) {
        if self.batch.as_ref().is_some_and(|batch| batch.core.is_lifted()) {
            self.send_batch();
        }
        let (rules, newest) = self.exchange.shared.rules.newer(&self.exchange.call, self.considered);
        self.considered = newest;
        for rule in rules {
            self.obey(&rule);
        }
    }

    fn obey(&mut self, rule: &CallRule) {
        let (name, outputs) = match &rule.action {
            CallAction::Request(action) => (
                action.name(),
                match action {
                    OnRequest::ErrorEvent(refusal) => vec![Output::Event(refusal.event()), Output::End],
                    OnRequest::EndAtOnce => vec![Output::End],
                    OnRequest::Cut => vec![Output::Cut],
                    OnRequest::Hang | OnRequest::Answer(_) => return,
                },
            ),
            CallAction::Answer(OnAnswer::Silence) => (OnAnswer::Silence.name(), vec![Output::Silence]),
            CallAction::Answer(_) => return,
        };
        if rule.core.fires() {
            self.exchange.fault(name, None);
            self.reading = false;
            self.queue = outputs.into_iter().map(Queued::now).collect();
        }
    }

    fn received(&mut self, line: Option<Result<Bytes, kube::Error>>) {
        match line {
            Some(Ok(line)) => self.arrived(Event::parse(line)),
            Some(Err(error)) => {
                self.exchange.note(Step::Failed(error.to_string()));
                self.finish(Output::Cut);
            }
            None => self.finish(Output::End),
        }
    }

    /// Nothing more is read; what is queued goes out first.
    fn finish(&mut self, output: Output) {
        self.reading = false;
        self.send_batch();
        self.queue.push_back(Queued::now(output));
    }

    fn arrived(&mut self, event: Event) {
        let mut arrival = Arrival::new(event.clone());
        let rules = self.exchange.shared.rules.about_event(&self.exchange.call, &event);
        for rule in rules {
            if rule.core.fires() {
                self.exchange.fault(rule.action.name(), Some(&event));
                arrival.apply(&rule, &self.history);
            }
        }
        self.history.push(event);
        self.enqueue(arrival);
    }

    fn enqueue(&mut self, arrival: Arrival) {
        let Arrival { event, after, last, due, held_by, shuffled } = arrival;
        let queued = |output| Queued { output, due, held_by: held_by.clone() };
        match (event, shuffled) {
            (Some(event), Some((core, count))) => {
                let batch = self.batch.get_or_insert_with(|| Batch { core, events: Vec::new() });
                batch.events.push(event);
                if batch.events.len() >= count {
                    self.send_batch();
                }
            }
            (Some(event), None) => self.queue.push_back(queued(Output::Event(event))),
            (None, _) => {}
        }
        self.queue.extend(after.into_iter().map(|event| queued(Output::Event(event))));
        if !last.is_empty() {
            self.reading = false;
            self.queue.extend(last.into_iter().map(queued));
        }
    }

    fn send_batch(&mut self) {
        if let Some(Batch { core, mut events }) = self.batch.take() {
            core.shuffle(&mut events);
            self.queue.extend(events.into_iter().map(|event| Queued::now(Output::Event(event))));
        }
    }
}

/// An event that has just come, and what the rules make of it.
struct Arrival {
    event: Option<Event>,
    /// Events that come after it.
    after: Vec<Event>,
    /// What ends the stream after it.
    last: Vec<Output>,
    due: Instant,
    held_by: Vec<Arc<Core>>,
    shuffled: Option<(Arc<Core>, usize)>,
}

impl Arrival {
    fn new(event: Event) -> Arrival {
        Arrival {
            event: Some(event),
            after: Vec::new(),
            last: Vec::new(),
            due: Instant::now(),
            held_by: Vec::new(),
            shuffled: None,
        }
    }

    fn apply(&mut self, rule: &EventRule, history: &[Event]) {
        match &rule.action {
            EventAction::Lose => self.event = None,
            EventAction::Delay(delay) => self.due += *delay,
            EventAction::Freeze => self.held_by.push(Arc::clone(&rule.core)),
            EventAction::Rewrite(change) => {
                self.event = self.event.take().map(|event| event.rewritten(&*change.0));
            }
            EventAction::Replay(count) => {
                self.after.extend_from_slice(&history[history.len().saturating_sub(*count)..]);
            }
            EventAction::Inject(events) => self.after.extend_from_slice(events),
            EventAction::Shuffle(count) => self.shuffled = Some((Arc::clone(&rule.core), *count)),
            EventAction::ErrorEvent(refusal) => {
                self.end(vec![Output::Event(refusal.event()), Output::End]);
            }
            EventAction::CutClean => self.end(vec![Output::End]),
            EventAction::CutMidEvent => {
                let half = self.event.take().map(Output::Half);
                self.end(half.into_iter().chain([Output::Cut]).collect());
            }
            EventAction::Silence => self.end(vec![Output::Silence]),
        }
    }

    /// In place of the event and of all that follows.
    fn end(&mut self, last: Vec<Output>) {
        self.event = None;
        self.last = last;
    }
}
