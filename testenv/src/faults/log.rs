//! What the proxy saw and did.

use std::{fmt, sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};

use super::call::Call;

/// How long a test waits for the proxy; far above what a healthy run needs.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// One thing that happened to a request.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Since the proxy was started.
    pub at: Duration,
    /// The request's number, from 1 on.
    pub request: u64,
    /// The request.
    pub call: Arc<Call>,
    /// What happened.
    pub step: Step,
}

/// What happened to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It arrived.
    Received,
    /// A fault was done to it or to one of its events (type, name and version; empty for the request itself). The
    /// name is the one of the method that made the rule.
    Fault(&'static str, String),
    /// The head of an answer with this HTTP code went to the client.
    Answered(u16),
    /// An event went to the client: its type, name and version.
    Event(String),
    /// The API server could not be reached, or failed while it answered; the client's connection was cut.
    Failed(String),
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { at, request, call, step } = self;
        write!(f, "{:>8.3} s  #{request} {call}: ", at.as_secs_f64())?;
        match step {
            Step::Received => f.write_str("received"),
            Step::Fault(name, event) if event.is_empty() => write!(f, "fault {name}"),
            Step::Fault(name, event) => write!(f, "fault {name} on {event}"),
            Step::Answered(code) => write!(f, "answered {code}"),
            Step::Event(event) => write!(f, "event {event}"),
            Step::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

/// Everything since the proxy was started, in order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    received: u64,
    connections: usize,
    resets: usize,
}

impl Log {
    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many requests with this verb about this resource arrived. `machines/status` is a subresource; `*` is any
    /// verb or resource.
    pub fn count(&self, verb: &str, resource: &str) -> usize {
        self.of(verb, resource).filter(|entry| entry.step == Step::Received).count()
    }

    /// How many requests that change something arrived.
    pub fn writes(&self) -> usize {
        self.entries.iter().filter(|entry| entry.call.is_write() && entry.step == Step::Received).count()
    }

    /// The events about this resource that went to the client, as type, name and version.
    pub fn events(&self, resource: &str) -> Vec<&str> {
        let mut events = Vec::new();
        for entry in self.of("watch", resource) {
            if let Step::Event(event) = &entry.step {
                events.push(event.as_str());
            }
        }
        events
    }

    /// How many connections were let in.
    pub fn connections(&self) -> usize {
        self.connections
    }

    /// How many connections came and were reset after [`reset_connections`](super::FaultProxy::reset_connections).
    pub fn resets(&self) -> usize {
        self.resets
    }

    fn of<'a, 'b>(&'a self, verb: &'b str, resource: &'b str) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(move |entry| (verb == "*" || entry.call.verb == verb) && entry.call.is_about(resource))
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        write!(f, "{} connections, {} reset", self.connections, self.resets)
    }
}

/// The log that is being written.
#[derive(Debug)]
pub(super) struct Book {
    started: Instant,
    log: watch::Sender<Log>,
}

impl Book {
    pub(super) fn new() -> Book {
        Book { started: Instant::now(), log: watch::Sender::default() }
    }

    /// Notes a request and gives it its number.
    pub(super) fn received(&self, call: &Arc<Call>) -> u64 {
        let mut number = 0;
        self.log.send_modify(|log| {
            log.received += 1;
            number = log.received;
            log.entries.push(self.entry(call, number, Step::Received));
        });
        number
    }

    pub(super) fn note(&self, call: &Arc<Call>, request: u64, step: Step) {
        let entry = self.entry(call, request, step);
        self.log.send_modify(|log| log.entries.push(entry));
    }

    pub(super) fn connected(&self) {
        self.log.send_modify(|log| log.connections += 1);
    }

    pub(super) fn reset(&self) {
        self.log.send_modify(|log| log.resets += 1);
    }

    fn entry(&self, call: &Arc<Call>, request: u64, step: Step) -> Entry {
        Entry { at: self.started.elapsed(), request, call: Arc::clone(call), step }
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn snapshot(&self) -> Log {
        self.log.borrow().clone()
    }

    /// Waits until a condition holds. Panics after 60 s with the log.
    #[expect(clippy::panic, reason = "a test that waited in vain has failed; the panic says for what")]
    pub(super) async fn wait_for(&self, what: &str, condition: impl FnMut(&Log) -> bool) -> Log {
        let mut log = self.log.subscribe();
        match tokio::time::timeout(LIMIT, log.wait_for(condition)).await {
            Ok(Ok(log)) => log.clone(),
            _ => panic!("waited {LIMIT:?} in vain for {what}; the proxy's log:\n{}", self.snapshot()),
        }
    }
}
