//! What is known about one subject when it is decided on: plain values, so that decisions are pure and can be
//! tried over random histories.

use std::collections::BTreeSet;

use trusted_crds::{ApprovalPolicy, Decision, DiskKeyRetention, Fingerprint, KeyError};

/// Everything the decisions about one subject rest on.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// The served cluster, unless it is being deleted.
    pub cluster: Option<Cluster>,
    /// The machine id of the subject; `None` for keys that name no machine.
    pub machine_id: Option<String>,
    /// All Machines with that id.
    pub machines: Vec<MachineFacts>,
    /// All AttestationKeys of the subject.
    pub keys: Vec<KeyFacts>,
    /// The Secret in the place where the trusted key is recorded.
    pub binding: Option<Binding>,
    /// Secrets in other places that record a key of this subject.
    pub elsewhere: Vec<Binding>,
    /// Fingerprints, of this subject's keys and binding, that some AttestationKey anywhere denies.
    pub denied: BTreeSet<Fingerprint>,
    /// The Secret named `luks-<id>`.
    pub disk_key: Option<DiskKeySecret>,
    /// The Secret named `<id>`, as the existing operator makes it.
    pub former_disk_key: Option<DiskKeySecret>,
    /// Whether new approvals by hand may take effect.
    pub by_hand: ByHand,
}

/// What the served cluster says about keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Whether new keys are trusted without a person.
    pub policy: ApprovalPolicy,
    /// What becomes of a disk key when its Machine goes.
    pub retention: DiskKeyRetention,
    /// Nobody has found out yet whether approvals by hand are protected.
    pub protection_unknown: bool,
}

/// Whether approvals by hand are protected by the admission policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByHand {
    /// Not asked: the plan says whether it has to be.
    #[default]
    Unknown,
    /// A forged approval was refused.
    Protected,
    /// A forged approval would be accepted, so no new approval takes effect.
    Unprotected,
}

/// Orders objects by age: the older one is less.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age {
    /// Creation time in seconds since 1970.
    pub created_second: i64,
    /// Breaks ties, the same way for everybody who looks.
    pub uid: String,
}

/// One Machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineFacts {
    pub name: String,
    pub uid: String,
    pub age: Age,
    pub deleting: bool,
    /// The reason of its KeyReady condition so far.
    pub key_ready_reason: Option<String>,
}

/// One AttestationKey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    pub name: String,
    pub age: Age,
    pub deleting: bool,
    /// Its fingerprint, or why it is no key we trust.
    pub key: Result<Fingerprint, KeyError>,
    /// Decision of a person and the fingerprint it was made for.
    pub approval: Option<(Decision, String)>,
    /// Uids of the Machines it names as owners.
    pub owner_machines: Vec<String>,
    /// How many owners of other kinds it names.
    pub other_owners: usize,
    /// The reason of its Approved condition so far.
    pub reason: Option<String>,
    /// The existing operator trusted it, and nothing has been decided about it since.
    pub formerly_trusted: bool,
}

impl KeyFacts {
    /// The decision of a person, if it was made for exactly this key.
    pub fn decision(&self) -> Option<Decision> {
        let (decision, fingerprint) = self.approval.as_ref()?;
        let own = self.key.as_ref().ok()?;
        (own.to_string() == *fingerprint).then_some(*decision)
    }

    /// Whether the Machine of this uid is its owner, and nothing else is.
    pub fn is_owned_by(&self, uid: &str) -> bool {
        self.other_owners == 0 && self.owner_machines == [uid]
    }

    /// Whether a person trusted exactly this key.
    pub fn is_approved_by_hand(&self) -> bool {
        self.decision() == Some(Decision::Approved)
    }
}

/// A Secret in a place where a trusted key is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub secret: String,
    pub uid: String,
    pub age: Age,
    /// The key it records; `None` where the Secret is not one of ours.
    pub fingerprint: Option<Fingerprint>,
    /// It was made because a person approved the key.
    pub by_hand: bool,
    pub owner: BindingOwner,
}

/// Whom a binding belongs to, which tells whether it will stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingOwner {
    /// An AttestationKey that exists.
    Live,
    /// Nobody, as after a restore from a backup.
    Nobody,
    /// Deleted, or about to be: garbage collection will take the binding.
    Leaving,
}

impl Binding {
    /// Whether it records `fingerprint` and is here to stay.
    pub fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.owner != BindingOwner::Leaving && self.fingerprint.as_ref() == Some(fingerprint)
    }
}

/// A Secret in a place where a disk key is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskKeySecret {
    pub secret: String,
    /// It carries our label.
    pub managed: bool,
    pub deleting: bool,
    pub owner: DiskKeyOwner,
}

/// Whom a disk key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskKeyOwner {
    Nobody,
    /// A Machine, by uid.
    Machine(String),
    /// Something else.
    Other,
}

impl Situation {
    /// The Machine that is served: of several with one id, the one that owns the disk key, else the oldest.
    pub fn served_machine(&self) -> Option<&MachineFacts> {
        let live = || self.machines.iter().filter(|machine| !machine.deleting);
        let owner = match self.disk_key.as_ref().map(|secret| &secret.owner) {
            Some(DiskKeyOwner::Machine(uid)) => live().find(|machine| machine.uid == *uid),
            _ => None,
        };
        owner.or_else(|| live().min_by(|a, b| a.age.cmp(&b.age)))
    }

    /// Whether a person trusted this key, on whichever of its objects.
    pub fn is_approved_by_hand(&self, fingerprint: &Fingerprint) -> bool {
        let same_key = |key: &&KeyFacts| !key.deleting && key.key.as_ref() == Ok(fingerprint);
        self.keys.iter().filter(same_key).any(KeyFacts::is_approved_by_hand)
    }
}
