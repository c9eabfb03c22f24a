//! The document of `explain-machine`.
//!
//! Owns its field names, which are a contract, and how links make one verdict.

use jiff::Timestamp;
use kube::ResourceExt;
use serde::Serialize;
use trusted_crds::health::{self, Finding, View};
use trusted_crds::{AttestationKey, HasConditions, KeyState, condition};

use super::chain;
use super::subject::Subject;
use crate::error::Incomplete;
use crate::next;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    pub(crate) namespace: String,
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// The first link that does not hold; absent (null) where all do.
    pub(crate) first_broken: Option<Link>,
    /// In the order in which they have to hold.
    pub(crate) chain: Vec<Link>,
    pub(crate) rivals: Vec<Rival>,
    /// Oldest first.
    pub(crate) timeline: Vec<Entry>,
    pub(crate) incomplete: Vec<Incomplete>,
    /// When it was looked.
    pub(crate) at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Verdict {
    Served,
    NotServed,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Cluster,
    Machine,
    DiskKey,
    AttestationKey,
    Binding,
    Delivery,
    Images,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum State {
    Ok,
    /// It holds, and something about it is worth knowing.
    Noted,
    /// It does not hold yet: that passes by itself, or a person has to decide.
    Waiting,
    Broken,
    NotVisible,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    pub(crate) link: Kind,
    pub(crate) state: State,
    /// Name of the object the link is, such as `luks-node-1`; empty where there is none.
    pub(crate) object: String,
    /// A condition's reason, or a word of the same kind.
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Another object that wants the same place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rival {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) relation: Relation,
    pub(crate) fingerprint: Option<String>,
    pub(crate) trusted: bool,
    pub(crate) reason: String,
    /// What a person decided, if anybody did.
    pub(crate) decision: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Relation {
    /// Another key that names this machine.
    OtherKey,
    /// The same key for another machine or for none.
    SameKey,
    /// Another Machine with this id.
    SameId,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) source: Source,
    pub(crate) kind: String,
    pub(crate) name: String,
    /// A condition with its status, or an Event's reason.
    pub(crate) what: String,
    pub(crate) message: String,
    /// How often, for an Event that was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Source {
    Object,
    Condition,
    Event,
}

impl Explanation {
    pub(super) fn new(
        view: &View<'_>,
        subject: &Subject<'_>,
        incomplete: &[Incomplete],
        now: Timestamp,
    ) -> Explanation {
        let findings = health::assess(view, now).findings;
        let chain = chain::of(view, subject, &findings);
        let first = |states: &[State]| chain.iter().find(|link| states.contains(&link.state)).cloned();
        let first_broken = first(&[State::Broken]).or_else(|| first(&[State::Waiting]));
        let verdict = match &first_broken {
            Some(_) => Verdict::NotServed,
            None if chain.iter().any(|link| link.state == State::NotVisible) => Verdict::Unknown,
            None => Verdict::Served,
        };
        Explanation {
            namespace: view.namespace.to_owned(),
            id: subject.id.clone(),
            verdict,
            first_broken,
            chain,
            rivals: rivals(subject),
            timeline: Vec::new(),
            incomplete: incomplete.to_vec(),
            at: now,
        }
    }

    /// Suggested commands reach the same cluster as this one did, as the same person.
    pub(super) fn repeat(&mut self, flags: &str) {
        let links = self.chain.iter_mut().chain(self.first_broken.as_mut());
        links.filter_map(|link| link.next.as_mut()).for_each(|next| next::repeat(next, flags));
        self.incomplete.iter_mut().for_each(|incomplete| next::repeat(&mut incomplete.check, flags));
    }
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::Cluster => "cluster",
            Kind::Machine => "machine",
            Kind::DiskKey => "disk key",
            Kind::AttestationKey => "attestation key",
            Kind::Binding => "binding",
            Kind::Delivery => "delivery",
            Kind::Images => "images",
        }
    }
}

impl Link {
    /// What a finding says of it goes before what the object says.
    pub(super) fn told(mut self, finding: &Finding, state: State) -> Link {
        self.state = state;
        self.reason.clone_from(&finding.reason);
        self.message.clone_from(&finding.message);
        self.since = finding.since.or(self.since);
        self.next = Some(finding.next.clone());
        self
    }
}

fn rivals(subject: &Subject<'_>) -> Vec<Rival> {
    let keys = subject.rivals.iter().map(|key| rival(key, &subject.id));
    let machines = subject.duplicates.iter().map(|machine| Rival {
        kind: "Machine",
        name: machine.name_any(),
        relation: Relation::SameId,
        fingerprint: None,
        trusted: false,
        reason: reason(machine.condition(condition::KEY_READY)),
        decision: None,
    });
    keys.chain(machines).collect()
}

fn rival(key: &AttestationKey, id: &str) -> Rival {
    let is_naming = key.spec.uuid.as_deref() == Some(id);
    Rival {
        kind: "AttestationKey",
        name: key.name_any(),
        relation: if is_naming { Relation::OtherKey } else { Relation::SameKey },
        fingerprint: key.public_key().ok().map(|key| key.fingerprint().to_string()),
        trusted: KeyState::of(key) == KeyState::Trusted,
        reason: reason(key.condition(condition::APPROVED)),
        decision: key.spec.approval.as_ref().map(|approval| format!("{:?}", approval.decision)),
    }
}

/// Empty where the operator has not said anything yet.
pub(super) fn reason(condition: Option<&trusted_crds::Condition>) -> String {
    condition.map(|condition| condition.reason.clone()).unwrap_or_default()
}
