//! Carries out what is planned for a disk key.

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use trusted_crds::condition::KEY_READY;
use trusted_crds::{names, reason};

use super::{Pass, is_true};
use crate::controllers::machine::build;
use crate::controllers::machine::decide::{self, DiskKeyStep, MachineVerdict, Plan};
use crate::error::ReconcileError;
use crate::writer::Created;

/// What came of the step for a disk key.
pub(super) enum DiskKey {
    AsPlanned,
    /// One was made, where the plan was to use what is there.
    MadeInstead,
    /// Another writer was faster, or it cannot be made yet.
    Unsettled,
}

impl Pass<'_> {
    pub(super) async fn apply_disk_key(&self, step: &DiskKeyStep) -> Result<DiskKey, ReconcileError> {
        let done = match step {
            DiskKeyStep::Nothing => true,
            DiskKeyStep::Create { machine_uid } => self.create_disk_key(machine_uid).await?,
            DiskKeyStep::Own { secret, machine_uid } => {
                self.own_disk_key(secret, machine_uid.as_deref()).await?
            }
            DiskKeyStep::Verify { secret, machine_uid } => {
                if !self.holds_disk_key(secret).await? {
                    let made = self.observed.situation.cluster.is_some()
                        && self.create_disk_key(machine_uid).await?;
                    return Ok(if made { DiskKey::MadeInstead } else { DiskKey::Unsettled });
                }
                true
            }
        };
        Ok(if done { DiskKey::AsPlanned } else { DiskKey::Unsettled })
    }

    /// What the existing operator left was no disk key.
    pub(super) fn tell_made_instead(&self, plan: &mut Plan) {
        let id = self.observed.situation.machine_id.as_deref().unwrap_or_default();
        let verdict = decide::created(&names::disk_key_secret(id));
        for machine in plan.machines.iter_mut().filter(|machine| is_adopted(machine)) {
            machine.key_ready = Some(verdict.clone());
        }
    }

    /// Whether a Secret of the existing operator holds a disk key. Each is read once.
    async fn holds_disk_key(&self, name: &str) -> Result<bool, ReconcileError> {
        let Some(uid) = self.secret(name).map(|secret| secret.uid()) else { return Ok(false) };
        if self.memory.verified.lock().contains(uid) {
            return Ok(true);
        }
        let held = self.ctx.writer.get::<Secret>(name).await?;
        let same = held.filter(|held| held.metadata.uid.as_deref() == Some(uid));
        let entry = same.and_then(|held| held.data?.remove(names::DISK_KEY_ENTRY));
        let holds = entry.is_some_and(|entry| !entry.0.is_empty());
        if holds {
            self.memory.verified.lock().insert(uid.to_owned());
        }
        Ok(holds)
    }

    async fn create_disk_key(&self, machine_uid: &str) -> Result<bool, ReconcileError> {
        let Some(machine) = self.machine(machine_uid) else { return Ok(false) };
        if is_true(&**machine, KEY_READY) {
            // The one it had is gone, maybe with the Machine.
            self.ctx.writer.confirm(&**machine).await?;
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| ReconcileError::Random(error.to_string()))?;
        let retention = self.observed.situation.cluster.map(|cluster| cluster.retention).unwrap_or_default();
        let owned = retention == trusted_crds::DiskKeyRetention::Delete;
        let secret = build::disk_key(machine, &random, owned);
        let created = self.ctx.writer.create(&secret).await?;
        if matches!(created, Created::New(_)) {
            tracing::info!(machine = machine.name_any(), secret = secret.name_any(), "disk key created");
        }
        Ok(matches!(created, Created::New(_)))
    }

    async fn own_disk_key(&self, secret: &str, machine_uid: Option<&str>) -> Result<bool, ReconcileError> {
        let machine = machine_uid.and_then(|uid| self.machine(uid));
        self.set_owner(secret, machine.map(|machine| &**machine)).await
    }
}

/// Takes back what the plan says of a disk key that was not made or owned after all.
pub(super) fn unsettle_disk_key(plan: &mut Plan) {
    for machine in &mut plan.machines {
        if machine.key_ready.as_ref().is_some_and(|ready| ready.status) {
            machine.key_ready = None;
        }
    }
}

fn is_adopted(machine: &MachineVerdict) -> bool {
    machine.key_ready.as_ref().is_some_and(|ready| ready.reason == reason::KEY_ADOPTED)
}
