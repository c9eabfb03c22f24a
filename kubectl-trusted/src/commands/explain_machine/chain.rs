//! The links of the chain, from what was seen and what the health rules say of it; pure.
//!
//! Owns which object and which finding belongs to which link. Whether something is healthy the health rules decide; a link
//! without a finding is what its condition says.

use kube::ResourceExt;
use trusted_crds::condition::{APPROVED, ATTESTATION_KEY_BOUND, INSTALLED, KEY_READY, has_status};
use trusted_crds::health::{self, Finding, Level, View};
use trusted_crds::{
    Condition, HasConditions, KeyState, Machine, Status, TrustedExecutionCluster, names, reason,
};

use super::document::{Kind, Link, State, reason};
use super::subject::Subject;

pub(super) fn of(view: &View<'_>, subject: &Subject<'_>, findings: &[Finding]) -> Vec<Link> {
    let links = [
        cluster(view),
        machine(view, subject),
        disk_key(view, subject),
        attestation_key(view, subject),
        binding(view, subject),
        delivery(view, subject),
        images(view),
    ];
    let about =
        |kind: Kind| findings.iter().find(move |finding| link_of(view, subject, finding) == Some(kind));
    links.into_iter().map(|link| judged(about(link.link), link)).collect()
}

/// The link that a finding is about; none for what concerns other machines.
fn link_of(view: &View<'_>, subject: &Subject<'_>, finding: &Finding) -> Option<Kind> {
    const TRUSTEE: [&str; 4] =
        ["TrusteeMissing", reason::UNAVAILABLE, reason::TLS_NOT_READY, reason::ROLLING_OUT];
    let is = |name: Option<String>| name.as_deref() == Some(finding.object.name.as_str());
    let told = finding.reason.as_str();
    match finding.object.kind.as_str() {
        "TrustedExecutionCluster" if is(health::served(view).map(ResourceExt::name_any)) => {
            Some(if TRUSTEE.contains(&told) { Kind::Delivery } else { Kind::Cluster })
        }
        "Namespace" => Some(if told == "NoCluster" { Kind::Cluster } else { Kind::Images }),
        "ApprovedImage" => Some(Kind::Images),
        "Machine" if is(subject.machine.map(ResourceExt::name_any)) => Some(match told {
            "NotReconciled" => Kind::Machine,
            "NotDelivered" => Kind::Delivery,
            _ if subject.machine.is_some_and(lacks_disk_key) => Kind::DiskKey,
            _ => Kind::Binding,
        }),
        "AttestationKey" if is(subject.key.map(ResourceExt::name_any)) => {
            Some(if told == "NotDelivered" { Kind::Delivery } else { Kind::AttestationKey })
        }
        _ => None,
    }
}

fn lacks_disk_key(machine: &Machine) -> bool {
    machine.condition(KEY_READY).is_some_and(|ready| has_status(ready, Status::False))
}

fn judged(finding: Option<&Finding>, link: Link) -> Link {
    let Some(finding) = finding else { return link };
    // What holds is not broken by a warning about something beside it, such as an address for new machines.
    let state = match (finding.level, link.state) {
        (_, State::NotVisible) => State::NotVisible,
        (Level::Critical, _) => State::Broken,
        (_, State::Ok) => State::Noted,
        (Level::Warning, _) => State::Broken,
        (Level::Info, state) => state,
    };
    link.told(finding, state)
}

fn link(kind: Kind, object: impl Into<String>, state: State) -> Link {
    Link {
        link: kind,
        state,
        object: object.into(),
        reason: String::new(),
        message: String::new(),
        since: None,
        next: None,
    }
}

/// A link that is what a condition says.
fn by_condition(kind: Kind, object: impl Into<String>, condition: Option<&Condition>) -> Link {
    let state = match condition {
        Some(condition) if has_status(condition, Status::True) => State::Ok,
        _ => State::Waiting,
    };
    Link {
        reason: reason(condition),
        message: condition.map(|condition| condition.message.clone()).unwrap_or_default(),
        since: condition.map(|condition| condition.last_transition_time.0),
        ..link(kind, object, state)
    }
}

fn absent(kind: Kind, reason: &str, message: &str) -> Link {
    Link { reason: reason.to_owned(), message: message.to_owned(), ..link(kind, "", State::Waiting) }
}

fn cluster(view: &View<'_>) -> Link {
    if view.clusters.is_none() {
        return link(Kind::Cluster, "", State::NotVisible);
    }
    match health::served(view) {
        None => absent(Kind::Cluster, "NoCluster", "no TrustedExecutionCluster is served here"),
        Some(cluster) => installed(cluster),
    }
}

fn installed(cluster: &TrustedExecutionCluster) -> Link {
    by_condition(Kind::Cluster, cluster.name_any(), cluster.condition(INSTALLED))
}

fn machine(view: &View<'_>, subject: &Subject<'_>) -> Link {
    match subject.machine {
        None if view.machines.is_none() => link(Kind::Machine, "", State::NotVisible),
        None => {
            let next = format!("kubectl get machines.trusted-execution-clusters.io -n {}", view.namespace);
            let message =
                "no Machine has this id; it is made when the machine asks for its first configuration";
            Link { next: Some(next), ..absent(Kind::Machine, "NoMachine", message) }
        }
        Some(machine) => {
            let is_known = !machine.conditions().is_empty();
            let state = if is_known { State::Ok } else { State::Waiting };
            let reason = if is_known { "Registered" } else { "NotReconciled" };
            Link {
                reason: reason.to_owned(),
                since: machine.metadata.creation_timestamp.as_ref().map(|time| time.0),
                ..link(Kind::Machine, machine.name_any(), state)
            }
        }
    }
}

fn disk_key(view: &View<'_>, subject: &Subject<'_>) -> Link {
    let secret = names::disk_key_secret(&subject.id);
    match subject.machine {
        None if view.machines.is_none() => link(Kind::DiskKey, secret, State::NotVisible),
        machine => {
            by_condition(Kind::DiskKey, secret, machine.and_then(|machine| machine.condition(KEY_READY)))
        }
    }
}

fn attestation_key(view: &View<'_>, subject: &Subject<'_>) -> Link {
    let Some(key) = subject.key else {
        return match view.attestation_keys {
            None => link(Kind::AttestationKey, "", State::NotVisible),
            Some(_) => absent(Kind::AttestationKey, reason::NO_KEY, "no AttestationKey names this machine"),
        };
    };
    let link = by_condition(Kind::AttestationKey, key.name_any(), key.condition(APPROVED));
    let name = key.name_any();
    match KeyState::of(key) {
        KeyState::Refused => {
            let next = format!("kubectl trusted approve-ak {name} -n {} --dry-run=client", view.namespace);
            Link { state: State::Broken, next: Some(next), ..link }
        }
        KeyState::Trusted | KeyState::Pending => link,
    }
}

fn binding(view: &View<'_>, subject: &Subject<'_>) -> Link {
    let secret = names::binding_secret(&subject.id);
    match subject.machine {
        None if view.machines.is_none() => link(Kind::Binding, secret, State::NotVisible),
        machine => by_condition(
            Kind::Binding,
            secret,
            machine.and_then(|machine| machine.condition(ATTESTATION_KEY_BOUND)),
        ),
    }
}

/// What Trustee has been given of this machine, in a rollout that is complete.
fn delivery(view: &View<'_>, subject: &Subject<'_>) -> Link {
    let Some(delivered) = health::delivered(view) else {
        return link(Kind::Delivery, names::TRUSTEE_DEPLOYMENT, State::NotVisible);
    };
    let Some(machine) = subject.machine else {
        return match view.machines {
            None => link(Kind::Delivery, names::TRUSTEE_DEPLOYMENT, State::NotVisible),
            Some(_) => {
                absent(Kind::Delivery, "NotDelivered", "there is no Machine whose keys could be delivered")
            }
        };
    };
    if health::is_machine_delivered(&delivered, machine) {
        let link = link(Kind::Delivery, names::TRUSTEE_DEPLOYMENT, State::Ok);
        return Link { reason: "Delivered".to_owned(), ..link };
    }
    let bound = machine.status.as_ref().and_then(|status| status.attestation_key.as_ref());
    let has_key =
        bound.and_then(|bound| bound.fingerprint.parse().ok()).is_some_and(|key| delivered.has_key(&key));
    let word = |is: bool| if is { "yes" } else { "no" };
    let message = format!(
        "Trustee mounts the disk key: {}; the attestation key: {}; its rollout is complete: {}",
        word(delivered.has_disk_key(&machine.spec.id)),
        if bound.is_none() { "none is bound" } else { word(has_key) },
        word(delivered.rolled_out)
    );
    let link = link(Kind::Delivery, names::TRUSTEE_DEPLOYMENT, State::Waiting);
    Link { reason: "NotDelivered".to_owned(), message, ..link }
}

/// Which image the machine runs is not known here, so that images never break the chain.
fn images(view: &View<'_>) -> Link {
    let Some(images) = &view.approved_images else { return link(Kind::Images, "", State::NotVisible) };
    let counts = health::committed_images(view);
    let reason = if counts > 0 { "ImageCommitted" } else { "NoneCommitted" };
    let message = format!("{counts} of {} approved images are in force", images.len());
    Link { reason: reason.to_owned(), message, ..link(Kind::Images, "", State::Ok) }
}
