//! The machine that is explained: its Machine, and the keys that name it.
//!
//! Owns how an id or a name leads to them, and which of several keys is the one to explain.

use trusted_crds::condition::KEY_READY;
use trusted_crds::health::View;
use trusted_crds::{AttestationKey, HasConditions, KeyState, Machine, reason};

pub(super) struct Subject<'a> {
    pub(super) id: String,
    /// The Machine of this id that is served, if there is one.
    pub(super) machine: Option<&'a Machine>,
    /// Further Machines of this id.
    pub(super) duplicates: Vec<&'a Machine>,
    /// The key that is bound, else the one that is nearest to it.
    pub(super) key: Option<&'a AttestationKey>,
    /// Other keys that name this machine, and the same key under other names.
    pub(super) rivals: Vec<&'a AttestationKey>,
}

impl<'a> Subject<'a> {
    pub(super) fn find(view: &View<'a>, id_or_name: &str) -> Option<Subject<'a>> {
        let machines = || view.machines.iter().flatten().copied();
        let named = machines().find(|machine| machine.metadata.name.as_deref() == Some(id_or_name));
        let id = match machines().any(|machine| machine.spec.id == id_or_name) {
            true => id_or_name.to_owned(),
            false => named.map_or_else(|| id_or_name.to_owned(), |machine| machine.spec.id.clone()),
        };
        let mut all: Vec<_> = machines().filter(|machine| machine.spec.id == id).collect();
        all.sort_by_key(|machine| (is_duplicate(machine), machine.metadata.creation_timestamp.clone()));
        let mut all = all.into_iter();
        let machine = all.next();
        let (key, rivals) = keys(view, &id, machine);
        (machine.is_some() || key.is_some()).then(|| Subject {
            id,
            machine,
            duplicates: all.collect(),
            key,
            rivals,
        })
    }
}

fn is_duplicate(machine: &Machine) -> bool {
    machine.condition(KEY_READY).is_some_and(|ready| ready.reason == reason::DUPLICATE_ID)
}

fn keys<'a>(
    view: &View<'a>,
    id: &str,
    machine: Option<&Machine>,
) -> (Option<&'a AttestationKey>, Vec<&'a AttestationKey>) {
    let all = || view.attestation_keys.iter().flatten().copied();
    let bound = machine.and_then(|machine| machine.status.as_ref()?.attestation_key.as_ref());
    let is_bound = |key: &AttestationKey| {
        bound.is_some_and(|bound| key.metadata.name.as_deref() == Some(bound.name.as_str()))
    };
    let mut naming: Vec<_> = all().filter(|key| key.spec.uuid.as_deref() == Some(id)).collect();
    naming.sort_by_key(|key| {
        let state = match KeyState::of(key) {
            KeyState::Trusted => 0,
            KeyState::Pending => 1,
            KeyState::Refused => 2,
        };
        (!is_bound(key), state, key.metadata.creation_timestamp.clone())
    });
    let Some((key, rivals)) = naming.split_first() else { return (None, Vec::new()) };
    let mut rivals = rivals.to_vec();
    let fingerprint = |key: &AttestationKey| key.public_key().ok().map(|key| key.fingerprint().clone());
    let own = fingerprint(key);
    let is_same_key = |other: &&AttestationKey| {
        other.spec.uuid.as_deref() != Some(id) && own.is_some() && fingerprint(other) == own
    };
    rivals.extend(all().filter(is_same_key));
    (Some(key), rivals)
}
