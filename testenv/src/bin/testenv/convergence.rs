//! When the operator has done everything there is to do.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client};
use testenv::{TestNamespace, observer::Observer};
use tokio::time::Instant;
use trusted_crds::{AttestationKey, Delivered, Machine, PublicKey, condition, names::TRUSTEE_DEPLOYMENT};

use crate::failure::Failure;

/// After a change, let those that come with it arrive before looking.
const PAUSE: Duration = Duration::from_millis(10);

/// A look at Machines, keys and what Trustee is given.
pub(crate) struct Convergence {
    machines: Observer<Machine>,
    keys: Observer<AttestationKey>,
    deployments: Observer<Deployment>,
}

impl Convergence {
    /// Watches a namespace as admin; `seen` is called for every state of every key.
    pub(crate) fn watch(
        client: &Client,
        namespace: &TestNamespace,
        seen: impl FnMut(&AttestationKey) + Send + 'static,
    ) -> Convergence {
        let name = namespace.name();
        Convergence {
            machines: Observer::start(Api::namespaced(client.clone(), name), |_| ()),
            keys: Observer::start(Api::namespaced(client.clone(), name), seen),
            deployments: Observer::start(Api::namespaced(client.clone(), name), |_| ()),
        }
    }

    /// Waits until the cluster is installed and Trustee is rolled out.
    pub(crate) async fn installed(&mut self, timeout: Duration) -> Result<bool, Failure> {
        self.until(timeout, |this| this.trustee().map(|_| ())).await
    }

    /// Waits until exactly `pairs` Machines with their keys are there, trusted, bound and delivered.
    pub(crate) async fn settled(&mut self, pairs: usize, timeout: Duration) -> Result<bool, Failure> {
        self.until(timeout, |this| this.problem(pairs).map_or(Ok(()), Err)).await
    }

    /// What is still missing, for a message.
    pub(crate) fn missing(&self, pairs: usize) -> String {
        self.problem(pairs).unwrap_or_else(|| "nothing".to_owned())
    }

    async fn until(
        &mut self,
        timeout: Duration,
        check: impl Fn(&Convergence) -> Result<(), String>,
    ) -> Result<bool, Failure> {
        let deadline = Instant::now() + timeout;
        loop {
            if check(self).is_ok() {
                return Ok(true);
            }
            let change = async {
                tokio::select! {
                    () = self.machines.changed() => (),
                    () = self.keys.changed() => (),
                    () = self.deployments.changed() => (),
                }
            };
            if tokio::time::timeout_at(deadline, change).await.is_err() {
                return Ok(false);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn trustee(&self) -> Result<Delivered, String> {
        let delivered =
            self.deployments.read(|deployments| deployments.get(TRUSTEE_DEPLOYMENT).map(Delivered::read));
        match delivered {
            None => Err("no Trustee Deployment".to_owned()),
            Some(delivered) if !delivered.rolled_out => Err("Trustee is rolling out".to_owned()),
            Some(delivered) => Ok(delivered),
        }
    }

    fn problem(&self, pairs: usize) -> Option<String> {
        let machines = self.machines.read(|machines| machine_problem(machines.values(), pairs));
        machines.or_else(|| self.keys.read(|keys| key_problem(keys.values(), pairs))).or_else(|| {
            let delivered = match self.trustee() {
                Ok(delivered) => delivered,
                Err(problem) => return Some(problem),
            };
            self.delivery_problem(&delivered, pairs)
        })
    }

    fn delivery_problem(&self, delivered: &Delivered, pairs: usize) -> Option<String> {
        let counts = (delivered.attestation_keys(), delivered.disk_keys());
        if counts != (pairs, pairs) {
            return Some(format!("Trustee has {} keys and {} disk keys of {pairs}", counts.0, counts.1));
        }
        let disk_key = self.machines.read(|machines| {
            machines
                .values()
                .find(|machine| !delivered.has_disk_key(&machine.spec.id))
                .map(|machine| machine.spec.id.clone())
        });
        let key = self.keys.read(|keys| {
            keys.values().find(|key| !has_key(delivered, key)).map(|key| key.metadata.name.clone())
        });
        disk_key
            .map(|id| format!("no disk key of {id} in Trustee"))
            .or_else(|| key.map(|name| format!("key {} is not in Trustee", name.unwrap_or_default())))
    }
}

fn has_key(delivered: &Delivered, key: &AttestationKey) -> bool {
    PublicKey::from_pem(&key.spec.public_key).is_ok_and(|key| delivered.has_key(key.fingerprint()))
}

fn machine_problem<'a>(machines: impl ExactSizeIterator<Item = &'a Machine>, pairs: usize) -> Option<String> {
    let total = machines.len();
    let bound = machines
        .filter(|machine| {
            let conditions = machine.status.as_ref().map_or(&[][..], |status| &status.conditions);
            condition::is_true(conditions, condition::ATTESTATION_KEY_BOUND)
        })
        .count();
    ((total, bound) != (pairs, pairs)).then(|| format!("{bound} of {total} machines are bound, of {pairs}"))
}

fn key_problem<'a>(keys: impl ExactSizeIterator<Item = &'a AttestationKey>, pairs: usize) -> Option<String> {
    let total = keys.len();
    let approved = keys.filter(|key| is_approved(key)).count();
    ((total, approved) != (pairs, pairs))
        .then(|| format!("{approved} of {total} keys are approved, of {pairs}"))
}

/// Whether a key has Approved=True.
pub(crate) fn is_approved(key: &AttestationKey) -> bool {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    condition::is_true(conditions, condition::APPROVED)
}
