//! What one controller learned and another one reports: facts in memory, never in an object of their own.

use futures::Stream;
use futures::stream;
use tokio::sync::{Mutex, watch};

use crate::child::Obstacle;
use crate::controllers::cluster::Inspections;

/// Whether the admission policy that guards approvals by hand has been seen to act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// No approval by hand had to be acted on yet.
    #[default]
    NotChecked,
    /// The API server refused a forged approval.
    Enforced,
    /// The API server would have accepted a forged approval.
    PolicyMissing,
}

/// Which cluster is served, as the cluster controller last found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServedCluster {
    /// The cluster controller has not come to a result since the process started: nothing is to be decided that
    /// depends on it, least of all that there is none.
    #[default]
    NotYet,
    /// No cluster is established, or the one that was is gone or being deleted.
    None,
    /// The one with this uid owns the children and is not being deleted. What it says is in the store.
    Uid(String),
}

/// The facts, shared by all controllers.
#[derive(Debug, Default)]
pub struct Facts {
    approval_protected: watch::Sender<Protection>,
    trustee_obstacles: watch::Sender<Vec<Obstacle>>,
    served_cluster: watch::Sender<ServedCluster>,
    /// What was found in the TLS Secrets. Held while a Secret is read, so that two controllers do not both read it.
    pub(crate) tls: Mutex<Inspections>,
}

impl Facts {
    /// The last answer about the admission policy.
    pub fn approval_protected(&self) -> Protection {
        *self.approval_protected.borrow()
    }

    /// Follows the answers about the admission policy.
    pub fn watch_approval_protected(&self) -> watch::Receiver<Protection> {
        self.approval_protected.subscribe()
    }

    /// Notes an answer about the admission policy; followers wake only if it differs.
    pub fn set_approval_protected(&self, protection: Protection) {
        self.approval_protected.send_if_modified(|held| std::mem::replace(held, protection) != protection);
    }

    /// What keeps Trustee from being installed, in order.
    pub fn trustee_obstacles(&self) -> Vec<Obstacle> {
        self.trustee_obstacles.borrow().clone()
    }

    /// Follows what keeps Trustee from being installed.
    pub fn watch_trustee_obstacles(&self) -> watch::Receiver<Vec<Obstacle>> {
        self.trustee_obstacles.subscribe()
    }

    /// Notes what keeps Trustee from being installed; followers wake only if it differs.
    pub fn set_trustee_obstacles(&self, obstacles: Vec<Obstacle>) {
        self.trustee_obstacles.send_if_modified(|held| {
            let differs = *held != obstacles;
            *held = obstacles;
            differs
        });
    }

    /// Which cluster is served.
    pub fn served_cluster(&self) -> ServedCluster {
        self.served_cluster.borrow().clone()
    }

    /// Follows which cluster is served.
    pub fn watch_served_cluster(&self) -> watch::Receiver<ServedCluster> {
        self.served_cluster.subscribe()
    }

    /// Works out from the fact as it is which cluster is served now; followers wake only if that differs.
    pub fn update_served_cluster(&self, next: impl FnOnce(&ServedCluster) -> ServedCluster) {
        self.served_cluster.send_if_modified(|held| {
            let next = next(held);
            let differs = *held != next;
            *held = next;
            differs
        });
    }
}

/// Each change of a fact, as it comes.
pub fn changes<T: Send + Sync + 'static>(fact: watch::Receiver<T>) -> impl Stream<Item = ()> + Send {
    stream::unfold(fact, |mut fact| async move { fact.changed().await.ok().map(|()| ((), fact)) })
}
