//! Whether the machines of a namespace are served, and if not, why and what to do: the one definition of healthy.
//!
//! A pure function of the observed objects and the time, for the plugin. It judges what the operator wrote into the
//! objects and compares that with what Trustee really mounts; how keys are counted and what the Trustee Deployment
//! says of itself both programs take from this crate.
//!
//! Owns verdict, levels and the wording of findings. Must not read anything by itself.

mod cluster;
mod image;
mod key;
mod machine;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ApprovedImage, AttestationKey, Condition, Delivered, KeyCounts, Machine, TrustedExecutionCluster,
};

/// The word for a whole namespace, or for all that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    /// Every machine is served, nobody has to do anything.
    Healthy,
    /// Machines are served, but something waits for a person or is not as it should be.
    Degraded,
    /// Machines cannot get their keys.
    Unhealthy,
    /// Not everything could be seen, or there is nothing to judge.
    Unknown,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Healthy => "Healthy",
            Verdict::Degraded => "Degraded",
            Verdict::Unhealthy => "Unhealthy",
            Verdict::Unknown => "Unknown",
        }
    }
}

/// How much a finding matters; the most severe comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Level {
    /// Machines cannot get their keys.
    Critical,
    /// A person has to look at it.
    Warning,
    /// Worth knowing, or passes by itself.
    Info,
}

impl Level {
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Critical => "Critical",
            Level::Warning => "Warning",
            Level::Info => "Info",
        }
    }
}

/// The object a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub level: Level,
    pub object: Subject,
    /// A condition's reason, or a word of the same kind.
    pub reason: String,
    /// What it means.
    pub message: String,
    pub since: Option<Timestamp>,
    /// The command to run next.
    pub next: String,
    /// Where a person has to decide: the commands that end the matter, one of which to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// A command that does what its words say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// What it is for, as the beginning of a line: `To refuse it`.
    pub purpose: String,
    pub command: String,
}

impl Finding {
    /// A finding that has no time of its own; the message becomes a sentence.
    pub fn new(
        level: Level,
        object: Subject,
        reason: &str,
        message: impl AsRef<str>,
        next: impl Into<String>,
    ) -> Finding {
        let message = sentence(message.as_ref());
        Finding {
            level,
            object,
            reason: reason.to_owned(),
            message,
            since: None,
            next: next.into(),
            choices: vec![],
        }
    }

    /// The same finding with the time since when it is so.
    #[must_use]
    pub fn since(self, since: Option<Timestamp>) -> Finding {
        Finding { since, ..self }
    }

    /// The same finding with one more way out.
    #[must_use]
    pub fn choice(mut self, purpose: &str, command: impl Into<String>) -> Finding {
        self.choices.push(Choice { purpose: purpose.to_owned(), command: command.into() });
        self
    }
}

/// What is in a namespace, as far as it may be seen: `None` stands for a kind that may not.
#[derive(Clone, Debug, Default)]
pub struct View<'a> {
    pub namespace: &'a str,
    pub clusters: Option<Vec<&'a TrustedExecutionCluster>>,
    pub machines: Option<Vec<&'a Machine>>,
    pub attestation_keys: Option<Vec<&'a AttestationKey>>,
    pub approved_images: Option<Vec<&'a ApprovedImage>>,
    pub trustee: Trustee<'a>,
}

/// The Trustee Deployment of the namespace.
#[derive(Clone, Copy, Debug, Default)]
pub enum Trustee<'a> {
    #[default]
    NotVisible,
    Absent,
    Present(&'a Deployment),
}

/// What there is, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub clusters: usize,
    pub machines: usize,
    /// Machines with a disk key and a trusted attestation key, both delivered to Trustee.
    pub machines_served: usize,
    /// Machines whose keys are in a rollout of Trustee that is under way; those it had before are served meanwhile.
    pub machines_rolling_out: usize,
    pub attestation_keys: KeyCounts,
    pub approved_images: usize,
    pub approved_images_committed: usize,
}

/// The judgement on a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub verdict: Verdict,
    /// Most severe first, then by kind and name.
    pub findings: Vec<Finding>,
    pub counts: Counts,
}

/// Nobody has to worry about an object that the operator has not answered for this long.
const SETTLING: SignedDuration = SignedDuration::from_secs(60);
/// How long a rollout or an installation may take.
const ROLLOUT: SignedDuration = SignedDuration::from_mins(5);
/// How long a machine may need from its first sign of life to its key, firmware and network included.
const FIRST_BOOT: SignedDuration = SignedDuration::from_mins(10);

/// Finds operators wherever they run: each serves one namespace, and that need not be its own.
pub const FIND_OPERATORS: &str = "kubectl get deployments -A -l app.kubernetes.io/name=trusted-operator";

/// Judges a namespace.
pub fn assess(view: &View<'_>, now: Timestamp) -> Assessment {
    let mut context = Context::new(view, now);
    cluster::judge(&mut context);
    key::judge(&mut context);
    machine::judge(&mut context);
    image::judge(&mut context);
    let counts = context.counts();
    let verdict = context.verdict();
    let mut findings = context.findings;
    findings.sort_by(|one, other| (one.level, &one.object).cmp(&(other.level, &other.object)));
    Assessment { verdict, findings, counts }
}

/// The cluster of a namespace that is served: the one Trustee belongs to, else the oldest that is not told otherwise.
pub fn served<'a>(view: &View<'a>) -> Option<&'a TrustedExecutionCluster> {
    cluster::served(view)
}

/// Whether Trustee has been given the disk key and the attestation key of a machine, in a rollout that is complete.
pub fn is_machine_delivered(delivered: &Delivered, machine: &Machine) -> bool {
    delivered.rolled_out && machine::is_mounted(delivered, machine)
}

/// Number of images whose reference values are in force.
pub fn committed_images(view: &View<'_>) -> usize {
    view.approved_images.iter().flatten().filter(|image| image::is_committed(image)).count()
}

/// What Trustee has been given; `None` where that cannot be seen.
pub fn delivered(view: &View<'_>) -> Option<Delivered> {
    match view.trustee {
        Trustee::NotVisible => None,
        Trustee::Absent => Some(Delivered::default()),
        Trustee::Present(deployment) => Some(Delivered::read(deployment)),
    }
}

/// What the rules share while they run.
struct Context<'v, 'a> {
    view: &'v View<'a>,
    now: Timestamp,
    delivered: Option<Delivered>,
    findings: Vec<Finding>,
    /// Said once for the namespace, and not again for each object.
    has_no_cluster: bool,
    is_unanswered: bool,
    lacks_trustee: bool,
    /// Machine ids of keys with a finding, which stands for the machine too.
    told_by_keys: BTreeSet<&'a str>,
}

impl<'v, 'a> Context<'v, 'a> {
    fn new(view: &'v View<'a>, now: Timestamp) -> Self {
        Context {
            view,
            now,
            delivered: delivered(view),
            findings: Vec::new(),
            has_no_cluster: false,
            is_unanswered: false,
            lacks_trustee: false,
            told_by_keys: BTreeSet::new(),
        }
    }

    /// Whether something has lasted longer than it may. What has no time has just begun.
    fn is_overdue(&self, since: Option<Timestamp>, limit: SignedDuration) -> bool {
        since.is_some_and(|since| self.now.duration_since(since) > limit)
    }

    /// A warning once something lasts longer than it may, before that a remark.
    fn level_after(&self, since: Option<Timestamp>, limit: SignedDuration) -> Level {
        if self.is_overdue(since, limit) { Level::Warning } else { Level::Info }
    }

    fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn namespace(&self) -> &'a str {
        self.view.namespace
    }

    fn is_empty(&self) -> bool {
        self.view.machines.as_ref().is_none_or(Vec::is_empty)
            && self.view.attestation_keys.as_ref().is_none_or(Vec::is_empty)
            && self.view.approved_images.as_ref().is_none_or(Vec::is_empty)
    }

    fn verdict(&self) -> Verdict {
        let view = self.view;
        let sees_all = view.clusters.is_some()
            && view.machines.is_some()
            && view.attestation_keys.is_some()
            && view.approved_images.is_some()
            && !matches!(view.trustee, Trustee::NotVisible);
        let has_cluster = view.clusters.as_ref().is_some_and(|clusters| !clusters.is_empty());
        match self.findings.iter().map(|finding| finding.level).min() {
            _ if !sees_all || (!has_cluster && self.is_empty()) => Verdict::Unknown,
            Some(Level::Critical) => Verdict::Unhealthy,
            Some(Level::Warning) => Verdict::Degraded,
            Some(Level::Info) | None => Verdict::Healthy,
        }
    }

    fn counts(&self) -> Counts {
        let machines = || self.view.machines.iter().flatten();
        let given = self.delivered.as_ref();
        let mounted = |machine: &&&Machine| {
            machine::is_ready(machine) && given.is_some_and(|given| machine::is_mounted(given, machine))
        };
        let mounted = machines().filter(mounted).count();
        let (machines_served, machines_rolling_out) = match given {
            Some(Delivered { rolled_out: false, .. }) => (0, mounted),
            _ => (mounted, 0),
        };
        let images = || self.view.approved_images.iter().flatten();
        Counts {
            clusters: self.view.clusters.as_ref().map_or(0, Vec::len),
            machines: machines().count(),
            machines_served,
            machines_rolling_out,
            attestation_keys: KeyCounts::of(self.view.attestation_keys.iter().flatten().copied()),
            approved_images: images().count(),
            approved_images_committed: committed_images(self.view),
        }
    }
}

/// What it means, then what the operator found, which names the objects involved. Both as sentences.
fn explained(meaning: &str, condition: &Condition) -> String {
    match condition.message.trim() {
        "" => sentence(meaning),
        message => format!("{} {}", sentence(meaning), sentence(message)),
    }
}

/// The text with a capital and a full stop, unless it begins with the name of a field or an object, or is a question.
fn sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let end = if text.ends_with(['?', '!']) { "" } else { "." };
    let word = text.split([' ', ',', ':', ';']).next().unwrap_or_default();
    if !word.chars().all(|c| c.is_lowercase() || c == '\'') {
        return format!("{text}{end}");
    }
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}{end}", first.unwrap_or_default(), characters.as_str())
}

/// What the operator found, which says it all; the meaning where it found no words.
fn told(meaning: &str, condition: &Condition) -> String {
    if condition.message.trim().is_empty() { meaning.to_owned() } else { condition.message.clone() }
}

fn since(condition: &Condition) -> Option<Timestamp> {
    Some(condition.last_transition_time.0)
}

fn created(metadata: &ObjectMeta) -> Option<Timestamp> {
    metadata.creation_timestamp.as_ref().map(|time| time.0)
}

fn subject<K: kube::Resource<DynamicType = ()>>(object: &K) -> Subject {
    Subject {
        kind: K::kind(&()).into_owned(),
        namespace: object.meta().namespace.clone().unwrap_or_default(),
        name: object.meta().name.clone().unwrap_or_default(),
    }
}

/// What the operator says about it; it usually runs in the namespace it serves.
fn operator_log(namespace: &str) -> String {
    format!("kubectl logs deployment/trusted-operator -n {namespace} --tail=50")
}

/// Nobody has answered for this object since it was made.
fn unanswered(level: Level, object: Subject, since: Option<Timestamp>) -> Finding {
    let message = format!(
        "no operator has looked at this {} yet: perhaps none serves this namespace (each serves one), or it does not run",
        object.kind
    );
    Finding::new(level, object, "NotReconciled", message, FIND_OPERATORS).since(since)
}
