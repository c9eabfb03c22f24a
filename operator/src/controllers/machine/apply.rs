//! Carries a plan out: the only writes of the machine controller, in the order in which each may rest on the one
//! before. What is refused because the world moved is left to the next pass.

mod disk_key;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use parking_lot::Mutex;
use trusted_crds::condition::APPROVED;
use trusted_crds::{AttestationKey, Fingerprint, HasConditions, Machine};

use self::disk_key::{DiskKey, unsettle_disk_key};
use super::claims::Claims;
use super::decide::{BindingStep, KeyVerdict, MachineVerdict, Ownership, Plan, Row};
use super::observe::Observed;
use super::subject::Subject;
use super::{build, decide, status};
use crate::context::Context;
use crate::error::{Class, ReconcileError};
use crate::former;
use crate::owner::owner_reference;
use crate::queue::Next;
use crate::secret::{SecretMeta, SecretRecord};
use crate::writer::{Created, Target, Written};

/// How long a status in which something waits is held back: usually the other half follows, and one write does.
const HOLD_WAITING: Duration = Duration::from_secs(5);
/// How soon to look again after another writer was faster; the store's event usually comes earlier.
const LOST_RACE: Duration = Duration::from_secs(1);

/// One pass over one subject.
pub struct Pass<'a> {
    pub ctx: &'a Context,
    pub memory: &'a Memory,
    pub subject: &'a Subject,
    pub observed: &'a Observed,
    /// Time since the last event that concerned the subject.
    pub quiet_for: Duration,
}

/// What is remembered between passes.
#[derive(Debug, Default)]
pub struct Memory {
    /// Which key is being bound where.
    pub claims: Claims,
    /// Uids of Secrets that were seen to hold a disk key of the existing operator, so that each is read once.
    verified: Mutex<HashSet<String>>,
}

/// The first failure of a pass. One write that fails does not hold up the others.
#[derive(Default)]
struct Failure(Option<ReconcileError>);

impl Failure {
    fn note<T>(&mut self, result: Result<T, ReconcileError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.get_or_insert(error);
                None
            }
        }
    }
}

impl Pass<'_> {
    /// Carries `plan` out. What ends trust comes first.
    pub async fn apply(&self, mut plan: Plan) -> Result<Next, ReconcileError> {
        let mut failure = Failure::default();
        let mut next = Next::Wait;
        let told = self.unbind_as_told(&plan, &mut failure).await;
        // Neither rests on the other.
        let (disk_key, binding) =
            tokio::join!(self.apply_disk_key(&plan.disk_key), self.apply_binding(&plan.binding));
        match failure.note(disk_key) {
            Some(DiskKey::AsPlanned) => {}
            Some(DiskKey::MadeInstead) => self.tell_made_instead(&mut plan),
            Some(DiskKey::Unsettled) | None => {
                unsettle_disk_key(&mut plan);
                next = Next::After(LOST_RACE);
            }
        }
        if failure.note(binding) != Some(true) {
            unsettle_binding(&mut plan);
            next = Next::After(LOST_RACE);
        }
        let held_back = self.quiet_for < HOLD_WAITING && self.is_waiting(&plan);
        let untold = plan.keys.iter().enumerate().filter(|(index, _)| !told.contains(index));
        let (given, others): (Vec<_>, Vec<_>) =
            untold.partition(|(_, verdict)| matches!(verdict.owner, Ownership::Machine(_)));
        for (index, verdict) in others {
            failure.note(self.apply_key(index, verdict, held_back).await);
        }
        if held_back && next == Next::Wait {
            next = Next::After(HOLD_WAITING - self.quiet_for);
        }
        // The binding is what trust rests on; neither status rests on the other, and who owns a key on both.
        let (written, given) =
            tokio::join!(self.apply_machines(&plan, held_back), self.tell_keys(given, held_back));
        let written: HashSet<String> = written.into_iter().filter_map(|uid| failure.note(uid)?).collect();
        for told in given {
            if let Some((key, verdict)) = failure.note(told) {
                failure.note(self.give_key(&key, verdict, &written).await);
            }
        }
        self.retire_records(&mut failure).await;
        failure.0.map_or(Ok(next), Err)
    }

    /// Deletes what the existing operator recorded about keys that have been decided on since.
    async fn retire_records(&self, failure: &mut Failure) {
        let caches = &self.ctx.caches;
        for key in &self.observed.keys {
            let Some(record) = former::record_of(caches, key) else { continue };
            let place = self.ctx.key(record.name());
            if former::record_in_force(caches, key).is_none() && caches.secrets.is_current(&place) {
                let deleted = self.ctx.writer.delete::<SecretMeta>(record.target()).await;
                failure.note(deleted.map_err(Into::into));
            }
        }
    }

    /// Ends the trust in a bound key. Its status goes first: the resourceVersion in it refuses a decision that rests
    /// on a stale store, and only that keeps the binding. Stopped in between, the reason that was written unbinds it
    /// at the next look. Returns the keys that were told.
    async fn unbind_as_told(&self, plan: &Plan, failure: &mut Failure) -> Vec<usize> {
        let BindingStep::Unbind { secret, uid } = &plan.binding else { return Vec::new() };
        let held = self.observed.situation.binding.as_ref().and_then(|binding| binding.fingerprint.as_ref());
        let keys = self.observed.situation.keys.iter();
        let bearers: Vec<usize> = keys
            .enumerate()
            .filter(|(_, key)| key.key.as_ref().ok() == held)
            .map(|(index, _)| index)
            .collect();
        for index in &bearers {
            match self.apply_key(*index, &plan.keys[*index], false).await {
                Err(error) if error.class() == Class::Conflict => {
                    failure.note::<()>(Err(error));
                    return bearers;
                }
                told => {
                    failure.note(told);
                }
            }
        }
        failure.note(self.unbind(secret, uid).await);
        bearers
    }

    /// Whether a status is about to say that something is waited for, and says so anew.
    fn is_waiting(&self, plan: &Plan) -> bool {
        let now = Timestamp::now();
        let machine = |name: &str| self.observed.machines.iter().find(|machine| machine.name_any() == name);
        plan.machines.iter().any(|verdict| {
            let waiting =
                [&verdict.key_ready, &verdict.bound].into_iter().flatten().any(decide::Verdict::is_waiting);
            waiting
                && machine(&verdict.machine).is_some_and(|m| status::of_machine(m, verdict, now).is_some())
        }) || plan.keys.iter().any(|key| key.approved.as_ref().is_some_and(decide::Verdict::is_waiting))
    }

    /// Makes `owner`, or nobody, the only owner of a Secret that is there already.
    async fn set_owner<K: Written>(&self, secret: &str, owner: Option<&K>) -> Result<bool, ReconcileError> {
        let Some(held) = self.secret(secret) else { return Ok(false) };
        if let Some(owner) = owner {
            self.ctx.writer.confirm(owner).await?;
        }
        let owners: Vec<_> = owner.map(owner_reference).into_iter().collect();
        let patch = build::managed_ownership_patch(&owners);
        self.ctx.writer.merge_patch::<SecretMeta>(held.target(), patch).await?;
        tracing::info!(secret, owners = owners.len(), "owner of a Secret changed");
        Ok(true)
    }

    /// Whether the binding is as planned; not when another key, worker or leader was faster.
    async fn apply_binding(&self, step: &BindingStep) -> Result<bool, ReconcileError> {
        match step {
            BindingStep::Keep | BindingStep::Unbind { .. } => Ok(true),
            BindingStep::Bind { key, by_hand } => self.bind(*key, *by_hand).await,
            BindingStep::Replace { secret, uid, key } => {
                self.unbind(secret, uid).await?;
                self.bind(*key, true).await
            }
            BindingStep::Adopt { secret, key } => {
                self.set_owner(secret, Some(&*self.observed.keys[*key])).await
            }
        }
    }

    async fn unbind(&self, secret: &str, uid: &str) -> Result<(), ReconcileError> {
        let target = Target { name: secret, uid, resource_version: None };
        let situation = &self.observed.situation;
        let bound = situation.binding.as_ref().and_then(|binding| binding.fingerprint.as_ref());
        if bound.is_some_and(|key| situation.denied.contains(key)) {
            self.ctx.writer.delete_as_told::<SecretMeta>(target).await?;
        } else {
            self.ctx.writer.delete::<SecretMeta>(target).await?;
        }
        tracing::info!(secret, "key is no longer trusted here");
        Ok(())
    }

    async fn bind(&self, index: usize, by_hand: bool) -> Result<bool, ReconcileError> {
        let key = &self.observed.keys[index];
        let (Some(name), Ok(public_key)) = (self.subject.binding_secret(), key.public_key()) else {
            return Ok(false);
        };
        let fingerprint = public_key.fingerprint();
        let settled = |holder: &str| self.ctx.caches.secrets.is_current(&self.ctx.key(holder));
        let Some(claim) = self.memory.claims.claim(fingerprint, &name, settled) else { return Ok(false) };
        // Looked at again under the claim: another machine may have bound the key since it was observed.
        if self.is_bound_elsewhere(fingerprint, &name) {
            return Ok(false);
        }
        if is_true(&**key, APPROVED) {
            // It was bound and is no longer: maybe the binding went with the key.
            self.ctx.writer.confirm(&**key).await?;
        }
        let binding = build::binding(&name, key, &public_key, by_hand);
        let Created::New(_) = self.ctx.writer.create(&binding).await? else { return Ok(false) };
        claim.landed();
        tracing::info!(key = key.name_any(), secret = name, %fingerprint, by_hand, "key bound");
        Ok(true)
    }

    fn is_bound_elsewhere(&self, fingerprint: &Fingerprint, name: &str) -> bool {
        let holding = self.ctx.caches.secrets_by_fingerprint.get(&fingerprint.to_string());
        holding.iter().any(|secret| secret.is_managed() && secret.name() != name)
    }

    /// A key that keeps its owner, or loses it: before its status, since one that tells a denial would otherwise leave
    /// with the Machine.
    async fn apply_key(
        &self,
        index: usize,
        verdict: &KeyVerdict,
        held_back: bool,
    ) -> Result<(), ReconcileError> {
        let mut key = self.observed.keys[index].clone();
        if verdict.owner == Ownership::Nobody {
            let patch = build::ownership_patch(&[]);
            key = self.ctx.writer.merge_patch::<AttestationKey>(Target::exactly(&*key), patch).await?.into();
        }
        self.tell_key(index, key, verdict, held_back).await?;
        Ok(())
    }

    async fn tell_keys<'a>(
        &self,
        keys: Vec<(usize, &'a KeyVerdict)>,
        held_back: bool,
    ) -> Vec<Result<(Arc<AttestationKey>, &'a KeyVerdict), ReconcileError>> {
        let mut told = Vec::new();
        for (index, verdict) in keys {
            let key = self.observed.keys[index].clone();
            told.push(self.tell_key(index, key, verdict, held_back).await.map(|key| (key, verdict)));
        }
        told
    }

    /// Writes the status of a key; returns the key as it is then.
    async fn tell_key(
        &self,
        index: usize,
        key: Arc<AttestationKey>,
        verdict: &KeyVerdict,
        held_back: bool,
    ) -> Result<Arc<AttestationKey>, ReconcileError> {
        let Some(approved) = &verdict.approved else { return Ok(key) };
        if held_back && approved.is_waiting() {
            return Ok(key);
        }
        let fingerprint = self.observed.situation.keys[index].key.as_ref().ok();
        let Some(status) = status::of_key(&key, fingerprint, approved, Timestamp::now()) else {
            return Ok(key);
        };
        let told = self.ctx.writer.apply_status(&*key, &status).await?;
        tracing::info!(
            key = key.name_any(),
            condition = APPROVED,
            status = approved.status,
            reason = approved.reason,
            row = ?verdict.row,
            "key decided"
        );
        Ok(told.into())
    }

    /// Gives a key to its Machine. Garbage collection takes what belongs to a Machine that is gone, so one whose status
    /// was not just `written` is asked for first.
    async fn give_key(
        &self,
        key: &AttestationKey,
        verdict: &KeyVerdict,
        written: &HashSet<String>,
    ) -> Result<(), ReconcileError> {
        let Ownership::Machine(uid) = &verdict.owner else { return Ok(()) };
        let Some(machine) = self.machine(uid) else { return Ok(()) };
        if !written.contains(uid) {
            self.ctx.writer.confirm(&**machine).await?;
        }
        let patch = build::ownership_patch(&[owner_reference(&**machine)]);
        self.ctx.writer.merge_patch::<AttestationKey>(Target::exactly(key), patch).await?;
        Ok(())
    }

    /// Returns the uids of the Machines whose status was written: those surely exist.
    async fn apply_machines(
        &self,
        plan: &Plan,
        held_back: bool,
    ) -> Vec<Result<Option<String>, ReconcileError>> {
        let mut written = Vec::new();
        for verdict in plan.machines.iter().filter(|_| !held_back) {
            let machine = self.observed.machines.iter().find(|machine| machine.name_any() == verdict.machine);
            if let Some(machine) = machine {
                written.push(self.apply_machine(machine, verdict).await);
            }
        }
        written
    }

    /// The uid of the Machine, if there was something to write.
    async fn apply_machine(
        &self,
        machine: &Machine,
        verdict: &MachineVerdict,
    ) -> Result<Option<String>, ReconcileError> {
        let Some(status) = status::of_machine(machine, verdict, Timestamp::now()) else { return Ok(None) };
        self.ctx.writer.apply_status(machine, &status).await?;
        tracing::info!(
            machine = verdict.machine,
            key_ready = verdict.key_ready.as_ref().map(|v| v.reason),
            bound = verdict.bound.as_ref().map(|v| v.reason),
            "machine decided"
        );
        Ok(machine.uid())
    }

    fn secret(&self, name: &str) -> Option<&Arc<SecretRecord>> {
        self.observed.secrets.iter().find(|secret| secret.name() == name)
    }

    fn machine(&self, uid: &str) -> Option<&Arc<Machine>> {
        self.observed.machines.iter().find(|machine| machine.uid().as_deref() == Some(uid))
    }
}

fn is_true(object: &impl HasConditions, type_: &str) -> bool {
    object.condition(type_).is_some_and(|condition| condition.status == "True")
}

/// Takes back what the plan says of a key that was not bound after all.
fn unsettle_binding(plan: &mut Plan) {
    for verdict in &mut plan.keys {
        let rests_on_it = verdict.approved.as_ref().is_some_and(|approved| approved.status);
        if rests_on_it || verdict.row == Row::Displaced {
            verdict.approved = None;
        }
    }
    for machine in &mut plan.machines {
        if machine.attestation_key.is_some() {
            machine.bound = None;
        }
    }
}
