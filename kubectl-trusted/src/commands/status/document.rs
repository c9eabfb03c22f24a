//! The document of `status`, made from what was seen; a pure function.
//!
//! Owns its field names, which are a contract, and how namespaces are put together into one verdict.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kube::ResourceExt;
use schemars::JsonSchema;
use serde::Serialize;
use trusted_crds::health::{self, Assessment, Counts, Finding, Level, Subject, Trustee, Verdict, View};
use trusted_crds::names::TRUSTEE_DEPLOYMENT;

use super::collect::Seen;
use super::rows::{self, ClusterRow, ImageRow, KeyRow, Lookup, MachineRow};
use crate::error::Incomplete;
use crate::next;

/// The result of `kubectl trusted status`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    /// One word for all that was looked at; the worst of the namespaces.
    pub(crate) verdict: Verdict,
    /// The namespace looked at; absent (null) for several or all.
    pub(crate) namespace: Option<String>,
    /// The namespaces looked at; empty for all.
    pub(crate) namespaces: Vec<String>,
    /// Most severe first.
    pub(crate) reasons: Vec<Finding>,
    pub(crate) counts: Counts,
    pub(crate) clusters: Vec<ClusterRow>,
    pub(crate) machines: Vec<MachineRow>,
    pub(crate) attestation_keys: Vec<KeyRow>,
    pub(crate) approved_images: Vec<ImageRow>,
    /// What could not be seen; where anything is here the verdict is Unknown.
    pub(crate) incomplete: Vec<Incomplete>,
    #[serde(skip)]
    pub(crate) hidden: Hidden,
    /// When it was looked.
    pub(crate) at: Timestamp,
}

/// Kinds that could not be seen, so that their tables say so instead of being empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) clusters: bool,
    pub(crate) machines: bool,
    pub(crate) attestation_keys: bool,
    pub(crate) approved_images: bool,
}

/// What was seen of each of the namespaces, or of all of them. `flags` are repeated in the suggested commands, so that
/// they reach the same cluster.
pub(crate) fn of(seens: &[Seen], namespaces: &[String], flags: &str, now: Timestamp) -> Status {
    let hidden = |is: fn(&Seen) -> bool| seens.iter().any(is);
    let mut status = Status {
        verdict: Verdict::Healthy,
        namespace: if let [one] = namespaces { Some(one.clone()) } else { None },
        namespaces: namespaces.to_vec(),
        reasons: Vec::new(),
        counts: Counts::default(),
        clusters: Vec::new(),
        machines: Vec::new(),
        attestation_keys: Vec::new(),
        approved_images: Vec::new(),
        incomplete: seens.iter().flat_map(|seen| seen.incomplete.clone()).collect(),
        hidden: Hidden {
            clusters: hidden(|seen| seen.clusters.is_none()),
            machines: hidden(|seen| seen.machines.is_none()),
            attestation_keys: hidden(|seen| seen.attestation_keys.is_none()),
            approved_images: hidden(|seen| seen.approved_images.is_none()),
        },
        at: now,
    };
    let named = namespaces.iter().zip(seens).map(|(namespace, seen)| (namespace.clone(), seen));
    let mut judged: Vec<(String, &Seen)> = named.collect();
    if let ([], [seen]) = (namespaces, seens) {
        judged.extend(occupied(seen).into_iter().map(|namespace| (namespace, seen)));
    }
    for (namespace, seen) in &judged {
        let view = view(seen, namespace);
        status.add(&view, health::assess(&view, now));
    }
    if judged.is_empty() {
        status.nothing_anywhere();
    }
    seens.iter().for_each(|seen| status.add_unreadable(seen));
    status.reasons.sort_by(|one, other| (one.level, &one.object).cmp(&(other.level, &other.object)));
    status.repeat(flags);
    status
}

/// All namespaces that hold something of ours.
fn occupied(seen: &Seen) -> BTreeSet<String> {
    let clusters = seen.clusters.iter().flatten().map(|object| object.namespace());
    let machines = seen.machines.iter().flatten().map(|object| object.namespace());
    let keys = seen.attestation_keys.iter().flatten().map(|object| object.namespace());
    let images = seen.approved_images.iter().flatten().map(|object| object.namespace());
    clusters.chain(machines).chain(keys).chain(images).flatten().collect()
}

/// What was seen of a namespace, for the health rules.
pub(crate) fn view<'a>(seen: &'a Seen, namespace: &'a str) -> View<'a> {
    View {
        namespace,
        clusters: within(seen.clusters.as_deref(), namespace),
        machines: within(seen.machines.as_deref(), namespace),
        attestation_keys: within(seen.attestation_keys.as_deref(), namespace),
        approved_images: within(seen.approved_images.as_deref(), namespace),
        trustee: match within(seen.deployments.as_deref(), namespace) {
            None => Trustee::NotVisible,
            Some(deployments) => deployments
                .into_iter()
                .find(|deployment| deployment.name_any() == TRUSTEE_DEPLOYMENT)
                .map_or(Trustee::Absent, Trustee::Present),
        },
    }
}

fn within<'a, K: kube::Resource>(objects: Option<&'a [Arc<K>]>, namespace: &str) -> Option<Vec<&'a K>> {
    let is_within = |object: &&K| object.meta().namespace.as_deref() == Some(namespace);
    objects.map(|objects| objects.iter().map(Arc::as_ref).filter(is_within).collect())
}

impl Status {
    fn add(&mut self, view: &View<'_>, assessment: Assessment) {
        self.verdict = self.verdict.max(assessment.verdict);
        self.reasons.extend(assessment.findings);
        add_counts(&mut self.counts, assessment.counts);
        let clusters = view.clusters.iter().flatten();
        self.clusters.extend(clusters.map(|cluster| rows::cluster(view, cluster)));
        let lookup = Lookup::of(view);
        let machines = view.machines.iter().flatten();
        self.machines.extend(machines.map(|machine| rows::machine(lookup.delivered.as_ref(), machine)));
        let keys = view.attestation_keys.iter().flatten();
        self.attestation_keys.extend(keys.map(|key| rows::key(&lookup, key)));
        let images = view.approved_images.iter().flatten();
        self.approved_images.extend(images.map(|image| rows::image(image)));
    }

    /// Suggested commands reach the same cluster as this one did, as the same person.
    fn repeat(&mut self, flags: &str) {
        for reason in &mut self.reasons {
            next::repeat(&mut reason.next, flags);
            reason.choices.iter_mut().for_each(|choice| next::repeat(&mut choice.command, flags));
        }
        self.incomplete.iter_mut().for_each(|incomplete| next::repeat(&mut incomplete.check, flags));
    }

    fn nothing_anywhere(&mut self) {
        self.verdict = Verdict::Unknown;
        if !self.hidden.clusters {
            let object = Subject {
                kind: "Cluster".to_owned(),
                namespace: String::new(),
                name: "all namespaces".to_owned(),
            };
            let message =
                "there is no TrustedExecutionCluster in any namespace, so there is nothing to judge";
            let next = "kubectl explain trustedexecutioncluster.spec";
            self.reasons.push(Finding::new(Level::Info, object, "NoCluster", message, next));
        }
    }

    /// An object that cannot be read may be the one that matters, so the verdict is not better than Degraded.
    fn add_unreadable(&mut self, seen: &Seen) {
        for unreadable in &seen.unreadable {
            let object = Subject {
                kind: unreadable.kind.clone(),
                namespace: unreadable.key.namespace.clone(),
                name: unreadable.key.name.clone(),
            };
            self.verdict = self.verdict.max(Verdict::Degraded);
            let message = format!("the object is not of the form this version knows: {}", unreadable.problem);
            let next = format!("kubectl trusted version -n {}", object.namespace);
            self.reasons.push(Finding::new(Level::Warning, object, "Unreadable", message, next));
        }
    }
}

fn add_counts(sum: &mut Counts, more: Counts) {
    sum.clusters += more.clusters;
    sum.machines += more.machines;
    sum.machines_served += more.machines_served;
    sum.machines_rolling_out += more.machines_rolling_out;
    sum.attestation_keys.trusted += more.attestation_keys.trusted;
    sum.attestation_keys.pending += more.attestation_keys.pending;
    sum.attestation_keys.refused += more.attestation_keys.refused;
    sum.approved_images += more.approved_images;
    sum.approved_images_committed += more.approved_images_committed;
}
