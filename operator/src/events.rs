//! Kubernetes Events: what a person should learn of and did not do himself. None is sent for what goes well.
//!
//! An Event accompanies a condition, which is what counts. It is sent after the condition, in the background and one
//! after the other; nobody waits for it, and where more come than can be sent the rest is dropped and counted.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::mpsc;
use trusted_crds::condition::{self, APPROVAL_PROTECTED, APPROVED, INSTALLED, KEY_READY};
use trusted_crds::{names, reason};

use crate::child::Obstacle;
use crate::lease::pod_name;

/// Events that wait to be sent. Of a thousand keys in conflict at once the conditions tell.
const WAITING: usize = 256;

/// The longest note the API server takes, in bytes.
const LONGEST_NOTE: usize = 1024;

const TRUST_KEY: &str = "TrustKey";
const KEEP_DISK_KEY: &str = "KeepDiskKey";
const INSTALL: &str = "Install";

/// Conditions and reasons worth an Event, and what was being done.
const TELLING: [(&str, &str, &str); 8] = [
    (APPROVED, reason::CONFLICT, TRUST_KEY),
    (APPROVED, reason::INVALID_KEY, TRUST_KEY),
    (APPROVED, reason::APPROVAL_MISMATCH, TRUST_KEY),
    (APPROVED, reason::FOREIGN_SECRET, TRUST_KEY),
    (KEY_READY, reason::FOREIGN_SECRET, KEEP_DISK_KEY),
    (KEY_READY, reason::DUPLICATE_ID, KEEP_DISK_KEY),
    (INSTALLED, reason::NON_UNIQUE, INSTALL),
    (APPROVAL_PROTECTED, reason::POLICY_MISSING, TRUST_KEY),
];

/// An Event on its way, and the object it is about.
type Told = (Event, ObjectReference);

/// Takes Events to be sent. Clones share the queue.
#[derive(Clone)]
pub struct Events {
    queue: mpsc::Sender<Told>,
    dropped: Counter,
}

impl Events {
    /// Starts to send, with `client`, until all clones are gone.
    pub fn start(client: Client) -> Self {
        let (queue, told) = mpsc::channel(WAITING);
        tokio::spawn(send(client, told));
        Events { queue, dropped: Counter::default() }
    }

    /// Counts the Events that were not sent.
    pub fn dropped(&self) -> Counter {
        self.dropped.clone()
    }

    /// Tells of what an object's conditions say now and did not before.
    pub fn of_conditions<K>(&self, object: &K, before: &[Condition], now: &[Condition])
    where
        K: Resource<DynamicType = ()>,
    {
        for (condition, action) in news(before, now) {
            self.tell(object, &condition.reason, action, &condition.message);
        }
    }

    /// Tells of what keeps `object` from being installed, as far as `told` does not say so yet.
    pub fn of_obstacles<K>(&self, object: &K, obstacles: &[Obstacle], told: &str)
    where
        K: Resource<DynamicType = ()>,
    {
        for (obstacle, text) in obstacles.iter().map(|obstacle| (obstacle, obstacle.to_string())) {
            let reason = match obstacle {
                Obstacle::Foreign { .. } => "ForeignObject",
                Obstacle::Refused(_) => "WriteRefused",
                Obstacle::Tls(_) => reason::TLS_NOT_READY,
                // Ends by itself.
                Obstacle::Leaving { .. } => continue,
            };
            if !told.contains(&text) {
                self.tell(object, reason, INSTALL, &text);
            }
        }
    }

    fn tell<K: Resource<DynamicType = ()>>(&self, object: &K, reason: &str, action: &str, note: &str) {
        let event = Event {
            type_: EventType::Warning,
            reason: reason.to_owned(),
            note: Some(note[..note.floor_char_boundary(LONGEST_NOTE)].to_owned()),
            action: action.to_owned(),
            secondary: None,
        };
        if self.queue.try_send((event, object.object_ref(&()))).is_err() {
            self.dropped.inc();
        }
    }
}

/// Those of the conditions that are worth an Event and had another reason before, each with what was being done.
fn news<'a>(
    before: &'a [Condition],
    now: &'a [Condition],
) -> impl Iterator<Item = (&'a Condition, &'static str)> {
    now.iter().filter_map(|condition| {
        let telling = TELLING
            .iter()
            .find(|(type_, reason, _)| condition.type_ == *type_ && condition.reason == *reason)?;
        let known = condition::find(before, &condition.type_).is_some_and(|b| b.reason == condition.reason);
        (!known).then_some((condition, telling.2))
    })
}

/// The recorder counts up an Event that it sent within the last minutes instead of making another one.
async fn send(client: Client, mut told: mpsc::Receiver<Told>) {
    let reporter = Reporter { controller: names::FIELD_MANAGER.to_owned(), instance: pod_name() };
    let recorder = Recorder::new(client, reporter);
    while let Some((event, object)) = told.recv().await {
        if let Err(error) = recorder.publish(&event, &object).await {
            let name = object.name.as_deref().unwrap_or_default();
            tracing::warn!(name, reason = event.reason, %error, "an Event was not sent; the condition tells the same");
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn conditions(all: &[(&str, &str)]) -> Vec<Condition> {
        let wanted: Vec<_> =
            all.iter().map(|(type_, reason)| condition::new(type_, false, reason, "")).collect();
        condition::merge(&[], &wanted, 1, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_condition_is_news_once() {
        let waiting = conditions(&[(APPROVED, reason::AWAITING_MACHINE)]);
        let conflict = conditions(&[(APPROVED, reason::CONFLICT)]);
        let told = |before: &[Condition], now: &[Condition]| -> Vec<String> {
            news(before, now).map(|(condition, _)| condition.reason.clone()).collect()
        };
        assert_eq!(told(&[], &conflict), [reason::CONFLICT]);
        assert_eq!(told(&waiting, &conflict), [reason::CONFLICT]);
        assert!(told(&conflict, &conflict).is_empty());
        assert!(told(&[], &waiting).is_empty());
        let approved = conditions(&[(APPROVED, reason::MACHINE_CREATED)]);
        assert!(told(&conflict, &approved).is_empty(), "none for what goes well");
    }
}
