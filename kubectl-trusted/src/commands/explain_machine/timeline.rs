//! What happened to a machine, in order; pure.
//!
//! Owns which objects are of interest: the Machine, its keys and their rivals, and the cluster that serves them.

use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::{Resource, ResourceExt};
use trusted_crds::HasConditions;
use trusted_crds::health::{self, View};

use super::document::{Entry, Source};
use super::subject::Subject;

pub(super) fn of(view: &View<'_>, subject: &Subject<'_>, events: &[Event]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for machine in subject.machine.iter().chain(&subject.duplicates) {
        of_object(&mut entries, *machine);
    }
    for key in subject.key.iter().chain(&subject.rivals) {
        of_object(&mut entries, *key);
    }
    if let Some(cluster) = health::served(view) {
        of_object(&mut entries, cluster);
    }
    let known: Vec<(String, String)> =
        entries.iter().map(|entry| (entry.kind.clone(), entry.name.clone())).collect();
    let is_known =
        |entry: &Entry| known.iter().any(|(kind, name)| *kind == entry.kind && *name == entry.name);
    let told: Vec<_> = events.iter().filter_map(of_event).filter(is_known).collect();
    entries.extend(told);
    entries.sort_by_key(|entry| entry.at);
    entries
}

fn of_object<K: HasConditions + Resource<DynamicType = ()>>(entries: &mut Vec<Entry>, object: &K) {
    let entry = |at: Timestamp, source: Source, what: String, message: &str| Entry {
        at,
        source,
        kind: K::kind(&()).into_owned(),
        name: object.name_any(),
        what,
        message: message.to_owned(),
        count: None,
    };
    let created = object.meta().creation_timestamp.iter();
    entries.extend(created.map(|time| entry(time.0, Source::Object, "created".to_owned(), "")));
    let deleted = object.meta().deletion_timestamp.iter();
    entries.extend(deleted.map(|time| entry(time.0, Source::Object, "being deleted".to_owned(), "")));
    entries.extend(object.conditions().iter().map(|condition| {
        let what = format!("{}={}, {}", condition.type_, condition.status, condition.reason);
        entry(condition.last_transition_time.0, Source::Condition, what, &condition.message)
    }));
}

/// A repeated Event counts when it was last seen.
fn of_event(event: &Event) -> Option<Entry> {
    let regarding = event.regarding.as_ref()?;
    let series = event.series.as_ref();
    let last =
        series.map(|series| series.last_observed_time.0).or(event.event_time.as_ref().map(|time| time.0));
    Some(Entry {
        at: last?,
        source: Source::Event,
        kind: regarding.kind.clone()?,
        name: regarding.name.clone()?,
        what: event.reason.clone().unwrap_or_default(),
        message: event.note.clone().unwrap_or_default(),
        count: series.map(|series| series.count),
    })
}
