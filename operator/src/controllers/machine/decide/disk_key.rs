//! The disk key of a machine. Losing it is losing the disk, so nothing here ever replaces or deletes one.

use trusted_crds::names::is_reserved;
use trusted_crds::{DiskKeyRetention, reason};

use super::Verdict;
use crate::controllers::machine::situation::{Cluster, DiskKeyOwner, DiskKeySecret, MachineFacts, Situation};

/// What is to be done about a disk key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DiskKeyStep {
    #[default]
    Nothing,
    /// Make a new one for the Machine of this uid.
    Create { machine_uid: String },
    /// Make the Machine of this uid the owner of the Secret, or nobody.
    Own { secret: String, machine_uid: Option<String> },
    /// Look whether the Secret of the existing operator holds a disk key; if so use it, else create one.
    Verify { secret: String, machine_uid: String },
}

pub(super) struct DiskKey {
    pub(super) step: DiskKeyStep,
    /// `None`: nothing can be said before something else has happened.
    pub(super) verdict: Option<Verdict>,
}

impl DiskKey {
    fn settled(step: DiskKeyStep, verdict: Verdict) -> Self {
        DiskKey { step, verdict: Some(verdict) }
    }

    fn unsettled() -> Self {
        DiskKey { step: DiskKeyStep::Nothing, verdict: None }
    }
}

pub(super) fn decide(situation: &Situation) -> DiskKey {
    let Some(machine) = situation.served_machine() else { return DiskKey::unsettled() };
    let former_key = situation.former_disk_key.as_ref().filter(|secret| secret.may_be_used_by(machine));
    let in_use = machine.key_ready_reason.as_deref() == Some(reason::KEY_ADOPTED);
    match (&situation.disk_key, former_key) {
        // Nothing that turns up under our name takes the place of a disk key that is in use.
        (Some(own), Some(secret)) if in_use || !own.managed => former(secret, machine, situation),
        (Some(own), _) => existing(own, machine, situation),
        (None, Some(secret)) => former(secret, machine, situation),
        (None, None) => missing(machine, situation),
    }
}

fn missing(machine: &MachineFacts, situation: &Situation) -> DiskKey {
    if situation.cluster.is_none() {
        return DiskKey::settled(DiskKeyStep::Nothing, awaiting_cluster());
    }
    let id = situation.machine_id.as_deref().unwrap_or_default();
    let create = DiskKeyStep::Create { machine_uid: machine.uid.clone() };
    DiskKey::settled(create, created(&trusted_crds::names::disk_key_secret(id)))
}

fn existing(secret: &DiskKeySecret, machine: &MachineFacts, situation: &Situation) -> DiskKey {
    if secret.deleting {
        return DiskKey::unsettled();
    }
    let foreign = || {
        let message = format!(
            "Secret {} exists but is not managed by trusted-operator; it is left untouched and not delivered. \
             Rename or delete it, then a disk key is created",
            secret.secret
        );
        DiskKey::settled(DiskKeyStep::Nothing, Verdict::no(reason::FOREIGN_SECRET, message))
    };
    if !secret.managed {
        return foreign();
    }
    if secret.owner == DiskKeyOwner::Other {
        return foreign();
    }
    // The Machine it belonged to is gone; garbage collection takes the Secret with it.
    if matches!(&secret.owner, DiskKeyOwner::Machine(uid) if *uid != machine.uid) {
        return DiskKey::unsettled();
    }
    DiskKey::settled(retain_or_own(secret, machine, situation), created(&secret.secret))
}

/// Who shall own a disk key: its Machine, or nobody where it is to outlive it.
fn retain_or_own(secret: &DiskKeySecret, machine: &MachineFacts, situation: &Situation) -> DiskKeyStep {
    let retention = situation.cluster.map(|Cluster { retention, .. }| retention);
    let own = |machine_uid: Option<String>| DiskKeyStep::Own { secret: secret.secret.clone(), machine_uid };
    match (&secret.owner, retention) {
        (DiskKeyOwner::Machine(_), Some(DiskKeyRetention::Retain)) => own(None),
        (DiskKeyOwner::Nobody, Some(DiskKeyRetention::Delete)) => own(Some(machine.uid.clone())),
        // Marked as ours, so that it is guarded as such, and known again when it comes out of a backup without owner.
        (DiskKeyOwner::Machine(_), Some(DiskKeyRetention::Delete)) if !secret.managed => {
            own(Some(machine.uid.clone()))
        }
        _ => DiskKeyStep::Nothing,
    }
}

fn former(secret: &DiskKeySecret, machine: &MachineFacts, situation: &Situation) -> DiskKey {
    if secret.deleting {
        return DiskKey::unsettled();
    }
    let step = if machine.key_ready_reason.as_deref() == Some(reason::KEY_ADOPTED) {
        retain_or_own(secret, machine, situation)
    } else {
        DiskKeyStep::Verify { secret: secret.secret.clone(), machine_uid: machine.uid.clone() }
    };
    DiskKey::settled(
        step,
        Verdict::yes(
            reason::KEY_ADOPTED,
            format!(
                "the disk key in Secret {}, made by an earlier operator, is used as it is",
                secret.secret
            ),
        ),
    )
}

impl DiskKeySecret {
    /// Whether a Secret named like the machine may be its disk key: the Machine owns it, or it was retained.
    fn may_be_used_by(&self, machine: &MachineFacts) -> bool {
        match &self.owner {
            DiskKeyOwner::Machine(uid) => *uid == machine.uid,
            DiskKeyOwner::Nobody => self.managed && !is_reserved(&self.secret),
            DiskKeyOwner::Other => false,
        }
    }
}

/// What a Machine with a disk key of ours is told.
pub fn created(secret: &str) -> Verdict {
    Verdict::yes(reason::KEY_CREATED, format!("the disk key is in Secret {secret}"))
}

fn awaiting_cluster() -> Verdict {
    Verdict::no(
        reason::AWAITING_CLUSTER,
        "no TrustedExecutionCluster is served in this namespace; create one, then a disk key is made",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(retention: DiskKeyRetention) -> Situation {
        let machine = MachineFacts { name: "m".into(), uid: "u1".into(), ..Default::default() };
        Situation {
            cluster: Some(Cluster { retention, ..Default::default() }),
            machine_id: Some("m".into()),
            machines: vec![machine],
            ..Default::default()
        }
    }

    fn secret(name: &str, managed: bool, owner: DiskKeyOwner) -> DiskKeySecret {
        DiskKeySecret { secret: name.into(), managed, deleting: false, owner }
    }

    fn outcome(situation: &Situation) -> (DiskKeyStep, Option<&'static str>) {
        let decided = decide(situation);
        (decided.step, decided.verdict.map(|verdict| verdict.reason))
    }

    #[test]
    fn a_missing_key_is_made_once_there_is_a_cluster() {
        let mut situation = situation(DiskKeyRetention::Delete);
        let create = DiskKeyStep::Create { machine_uid: "u1".into() };
        assert_eq!(outcome(&situation), (create, Some(reason::KEY_CREATED)));
        situation.cluster = None;
        assert_eq!(outcome(&situation), (DiskKeyStep::Nothing, Some(reason::AWAITING_CLUSTER)));
    }

    #[test]
    fn an_existing_key_is_kept_whatever_its_owner() {
        let mine = || DiskKeyOwner::Machine("u1".into());
        let own = |uid: Option<&str>| DiskKeyStep::Own {
            secret: "luks-m".into(),
            machine_uid: uid.map(str::to_owned),
        };
        let ready = Some(reason::KEY_CREATED);
        let cases = [
            (DiskKeyRetention::Delete, true, mine(), (DiskKeyStep::Nothing, ready)),
            (DiskKeyRetention::Retain, true, mine(), (own(None), ready)),
            (DiskKeyRetention::Delete, true, DiskKeyOwner::Nobody, (own(Some("u1")), ready)),
            (DiskKeyRetention::Retain, true, DiskKeyOwner::Nobody, (DiskKeyStep::Nothing, ready)),
            (
                DiskKeyRetention::Delete,
                true,
                DiskKeyOwner::Machine("gone".into()),
                (DiskKeyStep::Nothing, None),
            ),
            (
                DiskKeyRetention::Delete,
                true,
                DiskKeyOwner::Other,
                (DiskKeyStep::Nothing, Some(reason::FOREIGN_SECRET)),
            ),
            (DiskKeyRetention::Delete, false, mine(), (DiskKeyStep::Nothing, Some(reason::FOREIGN_SECRET))),
        ];
        for (retention, managed, owner, expected) in cases {
            let mut situation = situation(retention);
            situation.disk_key = Some(secret("luks-m", managed, owner.clone()));
            assert_eq!(outcome(&situation), expected, "{retention:?} managed {managed} {owner:?}");
        }
    }

    #[test]
    fn a_key_of_the_existing_operator_is_verified_once_and_used() {
        let mut situation = situation(DiskKeyRetention::Delete);
        situation.former_disk_key = Some(secret("m", false, DiskKeyOwner::Machine("u1".into())));
        let verify = DiskKeyStep::Verify { secret: "m".into(), machine_uid: "u1".into() };
        assert_eq!(outcome(&situation), (verify, Some(reason::KEY_ADOPTED)));
        situation.machines[0].key_ready_reason = Some(reason::KEY_ADOPTED.into());
        let mark = DiskKeyStep::Own { secret: "m".into(), machine_uid: Some("u1".into()) };
        assert_eq!(outcome(&situation), (mark, Some(reason::KEY_ADOPTED)));
        situation.former_disk_key = Some(secret("m", true, DiskKeyOwner::Machine("u1".into())));
        assert_eq!(outcome(&situation), (DiskKeyStep::Nothing, Some(reason::KEY_ADOPTED)));
    }

    #[test]
    fn an_adopted_key_is_retained_and_never_displaced() {
        let mut situation = situation(DiskKeyRetention::Retain);
        situation.machines[0].key_ready_reason = Some(reason::KEY_ADOPTED.into());
        situation.former_disk_key = Some(secret("m", false, DiskKeyOwner::Machine("u1".into())));
        let own =
            |uid: Option<&str>| DiskKeyStep::Own { secret: "m".into(), machine_uid: uid.map(str::to_owned) };
        assert_eq!(outcome(&situation), (own(None), Some(reason::KEY_ADOPTED)));
        // Planted beside it: by a stranger, or restored from a backup.
        for managed in [false, true] {
            situation.disk_key = Some(secret("luks-m", managed, DiskKeyOwner::Nobody));
            assert_eq!(outcome(&situation), (own(None), Some(reason::KEY_ADOPTED)));
        }
        // Retained: used again by the next Machine of that id, once it was verified.
        situation.disk_key = None;
        situation.former_disk_key = Some(secret("m", true, DiskKeyOwner::Nobody));
        assert_eq!(outcome(&situation), (DiskKeyStep::Nothing, Some(reason::KEY_ADOPTED)));
        situation.machines[0].key_ready_reason = None;
        assert!(matches!(outcome(&situation).0, DiskKeyStep::Verify { .. }));
        // The disk key of machine x is not the former one of a machine whose id is luks-x.
        situation.former_disk_key = Some(secret("luks-x", true, DiskKeyOwner::Nobody));
        assert!(matches!(outcome(&situation).0, DiskKeyStep::Create { .. }));
    }

    #[test]
    fn a_foreign_secret_named_like_the_machine_is_ignored() {
        let mut situation = situation(DiskKeyRetention::Delete);
        for owner in [DiskKeyOwner::Nobody, DiskKeyOwner::Other, DiskKeyOwner::Machine("other".into())] {
            situation.former_disk_key = Some(secret("m", false, owner));
            assert_eq!(outcome(&situation).0, DiskKeyStep::Create { machine_uid: "u1".into() });
        }
    }
}
