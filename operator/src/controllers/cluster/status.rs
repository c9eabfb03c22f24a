//! The status of a TrustedExecutionCluster, from what was observed. Pure.

use k8s_openapi::jiff::Timestamp;
use trusted_crds::condition::{self, APPROVAL_PROTECTED, INSTALLED, KNOWN_TRUSTEE_ADDRESS, TRUSTEE_READY};
use trusted_crds::{
    HasConditions, NewCondition, Status, TrustedExecutionCluster, TrustedExecutionClusterStatus, reason,
};

use super::observe::{Broker, Counts, Standing, Surroundings};
use super::tls::TlsState;
use crate::child::Obstacle;
use crate::facts::Protection;

/// The conditions this controller writes.
const OURS: [&str; 4] = [INSTALLED, KNOWN_TRUSTEE_ADDRESS, TRUSTEE_READY, APPROVAL_PROTECTED];

/// Everything the status of the served cluster is made from.
#[derive(Debug)]
pub struct Report {
    /// What keeps children from being as they shall be.
    pub obstacles: Vec<Obstacle>,
    /// Whether every child is in place.
    pub installed: bool,
    /// What this controller does not make itself.
    pub surroundings: Surroundings,
    /// TLS of Trustee.
    pub trustee_tls: TlsState,
    /// Whether an installation or a rollout has been under way for long enough to be worth a word. A short one is
    /// passed over, so that conditions do not flap with every change of keys.
    pub worth_a_word: WorthAWord,
    /// Numbers.
    pub counts: Counts,
}

/// Which transitions have lasted long enough to be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorthAWord {
    /// Children not in place.
    pub installation: bool,
    /// Trustee not available as wanted.
    pub rollout: bool,
}

impl Report {
    /// Whether Trustee is not available as wanted.
    pub fn rolling_out(&self) -> bool {
        self.surroundings.broker != Broker::Available
    }
}

/// The status of a cluster.
pub fn of(
    cluster: &TrustedExecutionCluster,
    standing: &Standing,
    report: &Report,
    now: Timestamp,
) -> TrustedExecutionClusterStatus {
    match standing {
        Standing::NotServed { by } => of_conditions(cluster, &[non_unique(by), known_address(cluster)], now),
        Standing::Served | Standing::Leaving => of_served(cluster, standing, report, now),
    }
}

fn of_served(
    cluster: &TrustedExecutionCluster,
    standing: &Standing,
    report: &Report,
    now: Timestamp,
) -> TrustedExecutionClusterStatus {
    let current = cluster.conditions();
    let installed = match standing {
        Standing::Leaving => Some(uninstalling()),
        Standing::Served | Standing::NotServed { .. } => {
            installed(report).or_else(|| condition::kept(current, INSTALLED))
        }
    };
    let wanted = [
        installed,
        Some(known_address(cluster)),
        trustee_ready(report).or_else(|| condition::kept(current, TRUSTEE_READY)),
        protected(report.surroundings.protection)
            .or_else(|| condition::kept(current, APPROVAL_PROTECTED))
            .or_else(|| Some(not_checked())),
    ];
    let wanted: Vec<NewCondition> = wanted.into_iter().flatten().collect();
    TrustedExecutionClusterStatus {
        machines: Some(report.counts.machines),
        attestation_keys: Some(report.counts.attestation_keys),
        approved_images: Some(report.counts.approved_images),
        ..of_conditions(cluster, &wanted, now)
    }
}

/// Whether `status` says something else than the cluster's present one.
pub fn differs(cluster: &TrustedExecutionCluster, status: &TrustedExecutionClusterStatus) -> bool {
    let Some(current) = &cluster.status else { return true };
    let numbers = |status: &TrustedExecutionClusterStatus| {
        (status.machines, status.attestation_keys, status.approved_images, status.observed_generation)
    };
    !condition::same_among(&OURS, &current.conditions, &status.conditions)
        || numbers(current) != numbers(status)
}

fn of_conditions(
    cluster: &TrustedExecutionCluster,
    wanted: &[NewCondition],
    now: Timestamp,
) -> TrustedExecutionClusterStatus {
    let generation = cluster.metadata.generation.unwrap_or_default();
    TrustedExecutionClusterStatus {
        conditions: condition::merge(cluster.conditions(), wanted, generation, now),
        observed_generation: Some(generation),
        ..Default::default()
    }
}

fn non_unique(by: &str) -> NewCondition {
    condition::new(
        INSTALLED,
        false,
        reason::NON_UNIQUE,
        format!("one TrustedExecutionCluster per namespace is served, here {by}; delete one of them"),
    )
}

fn uninstalling() -> NewCondition {
    condition::new(
        INSTALLED,
        false,
        reason::UNINSTALLING,
        "being deleted; nothing is made or repaired any more",
    )
}

/// `None` while an installation is too young to be spoken of.
fn installed(report: &Report) -> Option<NewCondition> {
    if report.installed {
        return Some(condition::new(
            INSTALLED,
            true,
            reason::INSTALLATION_COMPLETED,
            "everything is in place",
        ));
    }
    let installing = |message: String| condition::new(INSTALLED, false, reason::INSTALLING, message);
    if !report.obstacles.is_empty() {
        let texts: Vec<String> = report.obstacles.iter().map(ToString::to_string).collect();
        return Some(installing(texts.join("; ")));
    }
    report.worth_a_word.installation.then(|| installing("children are being made".into()))
}

fn known_address(cluster: &TrustedExecutionCluster) -> NewCondition {
    match &cluster.spec.public_trustee_addr {
        Some(address) => condition::new(
            KNOWN_TRUSTEE_ADDRESS,
            true,
            reason::ADDRESS_FOUND,
            format!("machines are sent to {address}"),
        ),
        None => condition::new(
            KNOWN_TRUSTEE_ADDRESS,
            false,
            reason::NO_ADDRESS_FOUND,
            "machines cannot be told where Trustee is; set spec.publicTrusteeAddr to the address they reach it at",
        ),
    }
}

/// `None` while a rollout is too young to be spoken of.
fn trustee_ready(report: &Report) -> Option<NewCondition> {
    let not_ready = |reason, message: &str| Some(condition::new(TRUSTEE_READY, false, reason, message));
    if let Some(obstacle) = report.trustee_tls.obstacle() {
        return not_ready(reason::TLS_NOT_READY, &obstacle.to_string());
    }
    let obstacles = &report.surroundings.trustee_obstacles;
    match report.surroundings.broker {
        Broker::Available => Some(condition::new(
            TRUSTEE_READY,
            true,
            reason::AVAILABLE,
            "Trustee serves everything that is to be delivered",
        )),
        Broker::Absent if !obstacles.is_empty() => {
            let texts: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
            not_ready(reason::UNAVAILABLE, &texts.join("; "))
        }
        _ if !report.worth_a_word.rollout => None,
        Broker::Absent => not_ready(reason::UNAVAILABLE, "Trustee has not been installed yet"),
        Broker::RollingOut => not_ready(
            reason::ROLLING_OUT,
            "Trustee is being restarted; until the new pod is ready, the former one serves what it was given",
        ),
        Broker::Unavailable => not_ready(
            reason::UNAVAILABLE,
            "no Trustee pod is available; kubectl describe deployment trustee-deployment tells why",
        ),
    }
}

/// `None` while this process has not checked; what an earlier one found then still holds.
fn protected(protection: Protection) -> Option<NewCondition> {
    let (status, reason, message) = match protection {
        Protection::Enforced => {
            (true, reason::ENFORCED, "the API server refuses approvals by people without the verb approve")
        }
        Protection::PolicyMissing => (
            false,
            reason::POLICY_MISSING,
            "approvals by hand wait, because the API server would let anyone forge them; apply the admission \
             policies and label the namespace trusted-execution-clusters.io/managed=true",
        ),
        Protection::NotChecked => return None,
    };
    Some(condition::new(APPROVAL_PROTECTED, status, reason, message))
}

fn not_checked() -> NewCondition {
    condition::new(
        APPROVAL_PROTECTED,
        Status::Unknown,
        reason::NOT_CHECKED,
        "checked when the first approval by hand has to be acted on",
    )
}

#[cfg(test)]
mod tests;
