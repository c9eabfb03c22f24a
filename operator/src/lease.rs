//! One operator works at a time: the one that holds the lease. The lease saves work; what makes a write safe is
//! the precondition in it.

use kube::Client;
use kube_lease_manager::{LeaseManager, LeaseManagerBuilder, LeaseManagerError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Name of the Lease.
pub const LEASE: &str = "trusted-operator";
/// How long the lease lives without renewal, and how long before its end it is renewed: every 40 s.
const DURATION_SECONDS: u64 = 60;
const GRACE_SECONDS: u64 = 20;

/// Our part in the election.
pub struct Leadership {
    held: watch::Receiver<bool>,
    task: JoinHandle<Result<LeaseManager, LeaseManagerError>>,
}

impl Leadership {
    /// Takes part in the election for `namespace`.
    pub async fn join(client: Client, namespace: &str) -> Result<Self, LeaseManagerError> {
        let builder = LeaseManagerBuilder::new(client, LEASE)
            .with_namespace(namespace)
            .with_duration(DURATION_SECONDS)
            .with_grace(GRACE_SECONDS);
        // The name of the pod tells a person who holds the lease; outside of a pod it is a random one.
        let builder = match std::env::var("POD_NAME") {
            Ok(pod) if !pod.is_empty() => builder.with_identity(pod),
            _ => builder,
        };
        let manager = builder.build().await?;
        let (held, task) = manager.watch().await;
        Ok(Leadership { held, task })
    }

    /// Waits until we hold the lease. `false` if the election ended without us.
    pub async fn acquired(&mut self) -> bool {
        self.held.wait_for(|held| *held).await.is_ok()
    }

    /// Waits until we no longer hold the lease.
    pub async fn lost(&mut self) {
        // An error means that the election itself ended; we hold nothing then either.
        let _ = self.held.wait_for(|held| !*held).await;
    }

    /// Gives the lease back, so that another operator need not wait for its end.
    pub async fn release(self) {
        drop(self.held);
        match self.task.await {
            Ok(Ok(_)) => tracing::info!("lease released"),
            Ok(Err(error)) => tracing::warn!(%error, "lease not released; it ends by itself"),
            Err(error) => tracing::warn!(%error, "lease not released; it ends by itself"),
        }
    }
}
