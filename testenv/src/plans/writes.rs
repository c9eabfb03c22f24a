//! What the operator sent, and what must hold for it in every run.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde_json::Value;

use crate::{
    audit::Requests,
    faults::{Call, Log, Step},
};

/// One write of the operator, as the proxy saw it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sent {
    /// When it arrived, since the proxy was started.
    pub(super) at: Duration,
    pub(super) verb: String,
    /// With the subresource, as in `machines/status`.
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) body: Value,
    /// The answer that reached the operator, if one did.
    pub(super) code: Option<u16>,
}

impl Sent {
    /// Whether it is known to have had its effect.
    pub(super) fn succeeded(&self) -> bool {
        self.code.is_some_and(|code| code < 300)
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.verb, self.resource, self.name)
    }
}

/// Whether a request changes something the operator is there for: no lease, event, review of rights or dry run.
pub(super) fn is_work(call: &Call) -> bool {
    let query = call.uri.query().unwrap_or_default();
    call.is_write()
        && !query.split('&').any(|pair| pair == "dryRun=All")
        && !matches!(
            call.group.as_str(),
            "authorization.k8s.io" | "authentication.k8s.io" | "coordination.k8s.io" | "events.k8s.io"
        )
        && call.resource != "events"
}

/// All work that was sent, in order.
pub(super) fn sent(log: &Log) -> Vec<Sent> {
    let mut writes: BTreeMap<u64, Sent> = BTreeMap::new();
    for entry in log.entries().iter().filter(|entry| is_work(&entry.call)) {
        let call = &entry.call;
        let write = writes.entry(entry.request).or_insert_with(|| Sent {
            at: entry.at,
            verb: call.verb.clone(),
            resource: match call.subresource.as_str() {
                "" => call.resource.clone(),
                subresource => format!("{}/{subresource}", call.resource),
            },
            name: call.name.clone(),
            body: call.json(),
            code: None,
        });
        if let Step::Answered(code) = entry.step {
            write.code = Some(code);
        }
    }
    writes.into_values().collect()
}

/// When the last work arrived at the proxy.
pub(super) fn last(log: &Log) -> Option<Duration> {
    log.entries()
        .iter()
        .rev()
        .find(|entry| entry.step == Step::Received && is_work(&entry.call))
        .map(|e| e.at)
}

/// A delete that does not name the one object it means.
pub(super) fn unguarded_delete(sent: &[Sent]) -> Option<String> {
    let guarded =
        |write: &Sent| write.body["preconditions"]["uid"].as_str().is_some_and(|uid| !uid.is_empty());
    let found = sent.iter().find(|write| write.verb.starts_with("delete") && !guarded(write));
    found.map(|write| format!("{write} has no uid precondition"))
}

/// A patch that is the same as the write to that object before it, which was answered with success.
pub(super) fn repeated_patch(sent: &[Sent]) -> Option<String> {
    let mut before: BTreeMap<(&str, &str), &Sent> = BTreeMap::new();
    for write in sent {
        let earlier = before.insert((&write.resource, &write.name), write);
        let Some(earlier) = earlier.filter(|earlier| earlier.verb == "patch") else { continue };
        if write.verb == "patch" && earlier.succeeded() && earlier.body == write.body {
            return Some(format!("{write} repeats the one before"));
        }
    }
    None
}

/// Creates and deletes that had an effect, by resource.
pub(super) type Tally = BTreeMap<String, usize>;

/// Counts them in what the API server's audit log has of the operator.
pub(super) fn tally(requests: &Requests) -> Tally {
    let mut tally = Tally::new();
    for request in requests.work().iter() {
        let effective = request.code < 300;
        if effective && matches!(request.verb.as_str(), "create" | "delete" | "deletecollection") {
            *tally.entry(format!("{} {}", request.verb, request.resource)).or_default() += 1;
        }
    }
    tally
}

/// Creates and deletes to which the operator got no answer, by resource. The API server may have carried them out and
/// not say so in its audit log, since nobody was there any more.
pub(super) fn unanswered(sent: &[Sent]) -> Tally {
    let mut tally = Tally::new();
    for write in sent.iter().filter(|write| write.code.is_none() && write.verb != "patch") {
        *tally.entry(format!("{} {}", write.verb, write.resource)).or_default() += 1;
    }
    tally
}

/// The first count that is another one than in the run without faults, as far as that can be known.
pub(super) fn miscount(clean: &Tally, found: &Tally, unanswered: &Tally) -> Option<String> {
    let count = |tally: &Tally, what: &String| tally.get(what).copied().unwrap_or_default();
    let agree = |what: &String| {
        let (clean, found) = (count(clean, what), count(found, what));
        (clean.saturating_sub(count(unanswered, what))..=clean).contains(&found)
    };
    let what = clean.keys().chain(found.keys()).find(|what| !agree(what))?;
    let (clean, found) = (count(clean, what), count(found, what));
    Some(format!("{found} effective requests to {what}, {clean} in the run without faults"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(verb: &str, name: &str, body: Value, code: u16) -> Sent {
        Sent {
            at: Duration::ZERO,
            verb: verb.to_owned(),
            resource: "secrets".to_owned(),
            name: name.to_owned(),
            body,
            code: Some(code),
        }
    }

    #[test]
    fn every_delete_has_to_name_a_uid() {
        let good = write("delete", "s", json!({"preconditions": {"uid": "u"}}), 200);
        let bad = write("delete", "s", json!({"preconditions": {}}), 200);
        assert_eq!(unguarded_delete(std::slice::from_ref(&good)), None);
        assert_eq!(unguarded_delete(&[good, bad]).unwrap(), "delete secrets s has no uid precondition");
    }

    #[test]
    fn a_patch_is_repeated_only_where_nothing_came_between() {
        let patch = |value: u8, code| write("patch", "s", json!({"v": value}), code);
        let create = write("create", "s", json!({}), 201);
        let other = write("patch", "t", json!({"v": 1}), 200);
        assert!(repeated_patch(&[patch(1, 200), other.clone(), patch(1, 200)]).is_some());
        for fine in [
            vec![patch(1, 200), patch(2, 200), patch(1, 200)],
            vec![patch(1, 500), patch(1, 200)],
            vec![patch(1, 200), create, patch(1, 200)],
            vec![patch(1, 200), other],
        ] {
            assert_eq!(repeated_patch(&fine), None, "{fine:?}");
        }
    }

    #[test]
    fn counts_have_to_agree_in_both_directions() {
        let (none, tally) = (Tally::new(), |count| Tally::from([("create secrets".to_owned(), count)]));
        assert_eq!(miscount(&tally(2), &tally(2), &none), None);
        let more = miscount(&tally(2), &tally(3), &tally(1)).unwrap();
        assert!(more.starts_with("3 effective requests to create secrets, 2"), "{more}");
        assert!(miscount(&none, &tally(1), &none).is_some() && miscount(&tally(1), &none, &none).is_some());
        let lost = Sent { code: None, ..write("create", "s", json!({}), 0) };
        assert_eq!(miscount(&tally(2), &tally(1), &unanswered(&[lost])), None);
    }
}
