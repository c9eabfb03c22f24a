//! One operator works at a time: the one that holds the lease. The lease saves work; what makes a write safe is
//! the precondition in it.

mod tenure;
mod vacancy;

use std::pin::pin;
use std::time::Duration;

use cachelib::Clients;
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use kube_lease_manager::{LeaseManager, LeaseManagerBuilder, LeaseManagerError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use tenure::Tenure;

/// Name of the Lease.
pub const LEASE: &str = "trusted-operator";
/// How long the lease lives without renewal. It is renewed when a third of that is left: every 40 s.
pub const DURATION: Duration = Duration::from_secs(60);
/// Shorter than that there is no time to renew it.
pub const SHORTEST: Duration = Duration::from_secs(3);
/// How long giving the lease back may take. Longer than that the API server is not there to take it.
const RELEASE: Duration = Duration::from_secs(5);

/// Renews the lease until its receivers are gone, and then gives it back.
type Task = JoinHandle<Result<LeaseManager, LeaseManagerError>>;

/// Our part in the election.
pub struct Leadership {
    candidate: Candidate,
    /// Changes of the Lease, from a client without a deadline.
    leases: Api<Lease>,
    held: watch::Receiver<bool>,
    tenure: Tenure,
    task: Task,
}

impl Leadership {
    /// Takes part in the election for `namespace`, for a lease that lives for `duration` (whole seconds, at least
    /// [`SHORTEST`]). `tenure` is ours for as long as nobody else can hold the lease.
    pub async fn join(
        clients: &Clients,
        namespace: &str,
        duration: Duration,
        tenure: Tenure,
    ) -> Result<Self, LeaseManagerError> {
        let identity = identity();
        let candidate = Candidate {
            client: tenure.watched(clients.request.clone(), &identity),
            namespace: namespace.to_owned(),
            identity,
            seconds: duration.max(SHORTEST).as_secs(),
        };
        let (held, task) = candidate.stand().await?;
        let leases = Api::namespaced(clients.watch.clone(), namespace);
        Ok(Leadership { candidate, leases, held, tenure, task })
    }

    /// Waits until we hold the lease. `false` if the election ended without us.
    pub async fn acquired(&mut self) -> Result<bool, LeaseManagerError> {
        if !*self.held.borrow() {
            tracing::info!(lease = LEASE, "stores complete: waiting for the lease");
        }
        let mut vacancies = pin!(vacancy::vacancies(self.leases.clone()));
        loop {
            let vacant = tokio::select! {
                held = self.held.wait_for(|held| *held) => return Ok(held.is_ok()),
                vacant = vacancies.next() => vacant.is_some(),
            };
            if vacant {
                // What it last saw makes the library wait. One that has just taken the lease is not lost with it: the
                // next one has the same name.
                self.task.abort();
                (self.held, self.task) = self.candidate.stand().await?;
            }
        }
    }

    /// Waits until we no longer hold the lease, or can no longer be sure that we do.
    pub async fn lost(&mut self) {
        tokio::select! {
            // An error means that the election itself ended; we hold nothing then either.
            _ = self.held.wait_for(|held| !*held) => {}
            () = self.tenure.over() => {}
        }
    }

    /// Gives the lease back, so that another operator need not wait for its end.
    pub async fn release(self) {
        drop(self.held);
        match tokio::time::timeout(RELEASE, self.task).await {
            Ok(Ok(Ok(_))) => tracing::info!("lease released"),
            Ok(Ok(Err(error))) => tracing::warn!(%error, "lease not released; it ends by itself"),
            Ok(Err(error)) => tracing::warn!(%error, "lease not released; it ends by itself"),
            Err(_) => tracing::warn!(waited = ?RELEASE, "lease not released; it ends by itself"),
        }
    }
}

/// What each try to get the lease is made with.
struct Candidate {
    client: Client,
    namespace: String,
    identity: String,
    seconds: u64,
}

impl Candidate {
    async fn stand(&self) -> Result<(watch::Receiver<bool>, Task), LeaseManagerError> {
        let manager = LeaseManagerBuilder::new(self.client.clone(), LEASE)
            .with_namespace(&self.namespace)
            .with_identity(&self.identity)
            .with_duration(self.seconds)
            .with_grace(self.seconds / 3)
            .build()
            .await?;
        Ok(manager.watch().await)
    }
}

/// The pod this runs in, where there is one.
pub(crate) fn pod_name() -> Option<String> {
    std::env::var("POD_NAME").ok().filter(|pod| !pod.is_empty())
}

/// The name of the pod tells a person who holds the lease; outside of a pod it is a random one.
fn identity() -> String {
    match pod_name() {
        Some(pod) => pod,
        None => {
            let mut random = [0; 8];
            // Without randomness the process id has to do: two outside of pods on two machines could share it.
            if getrandom::fill(&mut random).is_err() {
                random = u64::from(std::process::id()).to_be_bytes();
            }
            format!("trusted-operator-{}", trusted_crds::hex(random))
        }
    }
}
