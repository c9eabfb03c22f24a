//! The disk key of a machine. Losing it is losing the disk, so nothing here ever replaces or deletes one.

use trusted_crds::DiskKeyRetention;
use trusted_crds::reason;

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
    if let Some(secret) = &situation.disk_key {
        return existing(secret, machine, situation);
    }
    if let Some(secret) = situation.former_disk_key.as_ref().filter(|secret| secret.is_owned_by(machine)) {
        return former(secret, machine);
    }
    match situation.cluster {
        None => DiskKey { step: DiskKeyStep::Nothing, verdict: Some(awaiting_cluster()) },
        Some(_) => DiskKey::settled(
            DiskKeyStep::Create { machine_uid: machine.uid.clone() },
            created(&trusted_crds::names::disk_key_secret(
                situation.machine_id.as_deref().unwrap_or_default(),
            )),
        ),
    }
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
    let retention = situation.cluster.map(|Cluster { retention, .. }| retention);
    let own = |machine_uid: Option<String>| DiskKeyStep::Own { secret: secret.secret.clone(), machine_uid };
    let step = match (&secret.owner, retention) {
        (DiskKeyOwner::Other, _) => return foreign(),
        // The Machine it belonged to is gone; garbage collection takes the Secret with it.
        (DiskKeyOwner::Machine(uid), _) if *uid != machine.uid => return DiskKey::unsettled(),
        (DiskKeyOwner::Machine(_), Some(DiskKeyRetention::Retain)) => own(None),
        (DiskKeyOwner::Nobody, Some(DiskKeyRetention::Delete)) => own(Some(machine.uid.clone())),
        (DiskKeyOwner::Machine(_) | DiskKeyOwner::Nobody, _) => DiskKeyStep::Nothing,
    };
    DiskKey::settled(step, created(&secret.secret))
}

fn former(secret: &DiskKeySecret, machine: &MachineFacts) -> DiskKey {
    if secret.deleting {
        return DiskKey::unsettled();
    }
    let known = machine.key_ready_reason.as_deref() == Some(reason::KEY_ADOPTED);
    let step = if known {
        DiskKeyStep::Nothing
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
    fn is_owned_by(&self, machine: &MachineFacts) -> bool {
        self.owner == DiskKeyOwner::Machine(machine.uid.clone())
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
        DiskKeySecret { secret: name.into(), uid: "s1".into(), managed, deleting: false, owner }
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
        assert_eq!(outcome(&situation), (DiskKeyStep::Nothing, Some(reason::KEY_ADOPTED)));
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
