//! What one controller learned and another one reports: facts in memory, never in an object of their own.

use std::sync::Arc;

use tokio::sync::watch;

use crate::child::Obstacle;
use crate::controllers::cluster::TlsStates;

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

/// The facts, shared by all controllers.
#[derive(Clone, Debug)]
pub struct Facts {
    approval_protected: Arc<watch::Sender<Protection>>,
    trustee_obstacles: Arc<watch::Sender<Vec<Obstacle>>>,
    tls: TlsStates,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            approval_protected: Arc::new(watch::Sender::new(Protection::default())),
            trustee_obstacles: Arc::new(watch::Sender::new(Vec::new())),
            tls: TlsStates::default(),
        }
    }
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

    /// What was found in the TLS Secrets.
    pub fn tls(&self) -> &TlsStates {
        &self.tls
    }
}
