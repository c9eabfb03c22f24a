//! What every scenario needs: programs, a control plane, a namespace with a cluster.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use testenv::{
    ControlPlane, TestNamespace,
    audit::{Requests, Window},
    faults::FaultProxy,
    objects,
    operator::{Launch, Operator},
    poll,
};
use trusted_crds::{
    TrustedExecutionCluster,
    names::{CONFIRM_DELETE_ANNOTATION, TRUSTEE_DEPLOYMENT},
};

use crate::{failure::Failure, output, programs::Programs, up};

/// How long the operator may take to install a cluster.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Between two looks at the audit log while waiting for silence.
const LOOK: Duration = Duration::from_millis(500);

/// The stage on which a scenario plays.
pub(crate) struct Bench {
    pub(crate) control_plane: &'static ControlPlane,
    pub(crate) programs: Programs,
    pub(crate) namespace: TestNamespace,
    pub(crate) admin: Client,
    pub(crate) user: String,
}

impl Bench {
    /// Builds, starts, and makes a namespace.
    pub(crate) async fn prepare(namespace: &str) -> Result<Bench, Failure> {
        let programs = tokio::task::spawn_blocking(Programs::build)
            .await
            .map_err(|error| Failure::Unexpected(error.to_string()))??;
        let control_plane = up::start().await?;
        let namespace = control_plane.named_namespace(namespace).await?;
        let admin = Client::try_from(control_plane.admin_config()).map_err(Failure::kube("a client"))?;
        let user = namespace.service_account_user("trusted-operator");
        Ok(Bench { control_plane, programs, namespace, admin, user })
    }

    /// Creates the TrustedExecutionCluster.
    pub(crate) async fn create_cluster(&self) -> Result<(), Failure> {
        let clusters: Api<TrustedExecutionCluster> =
            Api::namespaced(self.admin.clone(), self.namespace.name());
        let created = clusters.create(&PostParams::default(), &objects::cluster("cluster")).await;
        created.map(|_| ()).map_err(Failure::kube("create a TrustedExecutionCluster"))
    }

    /// Deletes the TrustedExecutionCluster, machines or not, and waits until what it installed is gone.
    pub(crate) async fn delete_cluster(&self) -> Result<(), Failure> {
        let name = self.namespace.name();
        let clusters: Api<TrustedExecutionCluster> = Api::namespaced(self.admin.clone(), name);
        let deployments: Api<Deployment> = Api::namespaced(self.admin.clone(), name);
        let confirm = json!({"metadata": {"annotations": {CONFIRM_DELETE_ANNOTATION: "cluster"}}});
        let confirmed = clusters.patch("cluster", &PatchParams::default(), &Patch::Merge(&confirm)).await;
        confirmed.map_err(Failure::kube("confirm that the TrustedExecutionCluster may go"))?;
        let deleted = clusters.delete("cluster", &DeleteParams::default()).await;
        deleted.map_err(Failure::kube("delete the TrustedExecutionCluster"))?;
        poll("the Deployments of the cluster to be gone", INSTALL_TIMEOUT, || async {
            let left = deployments.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
            if left.items.is_empty() { Ok(()) } else { Err(format!("{} are left", left.items.len())) }
        })
        .await?;
        Ok(())
    }

    /// How large the Trustee Deployment is as the API server sends it, in bytes. etcd takes 1.5 MiB.
    pub(crate) async fn trustee_bytes(&self) -> Result<usize, Failure> {
        let path =
            format!("/apis/apps/v1/namespaces/{}/deployments/{TRUSTEE_DEPLOYMENT}", self.namespace.name());
        let request = http::Request::get(path).body(Vec::new());
        let request = request.map_err(|error| Failure::Unexpected(error.to_string()))?;
        let text = self.admin.request_text(request).await;
        text.map(|text| text.len()).map_err(Failure::kube("read the Trustee Deployment"))
    }

    /// A client that acts as the operator does.
    pub(crate) async fn as_operator(&self) -> Result<Client, Failure> {
        let token = self.namespace.try_service_account_token("trusted-operator").await?;
        let config = self.control_plane.config_for_token(&token);
        Client::try_from(config).map_err(Failure::kube("a client"))
    }

    /// Starts the operator and waits until it is ready.
    pub(crate) async fn start_operator(&self) -> Result<(Operator, Duration), Failure> {
        let mut operator = Launch::prepare(&self.programs.operator, &self.namespace).await?.start()?;
        let ready = operator.ready().await?;
        Ok((operator, ready))
    }

    /// The same behind a fault proxy.
    pub(crate) async fn start_operator_behind(&self, proxy: &FaultProxy) -> Result<Operator, Failure> {
        let launch = Launch::prepare(&self.programs.operator, &self.namespace).await?;
        let mut operator = launch.through(proxy)?.start()?;
        operator.ready().await?;
        Ok(operator)
    }

    /// The operator's requests within a window.
    pub(crate) async fn requests(&self, window: Window) -> Result<Requests, Failure> {
        Ok(self.control_plane.audit().settled(&self.user, window).await?)
    }

    /// Waits until the operator has written nothing for `quiet`; gives up after a minute.
    pub(crate) async fn silence(&self, quiet: Duration) -> Result<(), Failure> {
        let deadline = tokio::time::Instant::now() + INSTALL_TIMEOUT;
        let from = Timestamp::now();
        loop {
            let work = self.control_plane.audit().read(&self.user, Window::since(from))?.work();
            let last = work.iter().filter(|request| request.is_write()).map(|request| request.received).max();
            let silent = Timestamp::now().duration_since(last.unwrap_or(from));
            if silent.unsigned_abs() >= quiet || tokio::time::Instant::now() >= deadline {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// What a scenario promised and did not hold.
#[derive(Debug, Default)]
pub(crate) struct Broken(Vec<String>);

impl Broken {
    /// Notes a broken promise, unless it holds.
    pub(crate) fn unless(&mut self, holds: bool, promise: impl FnOnce() -> String) {
        if !holds {
            self.0.push(promise());
        }
    }

    /// Whether everything holds.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says what is broken; the exit code tells scripts.
    pub(crate) fn report(&self) -> std::process::ExitCode {
        for promise in &self.0 {
            output::note(&format!("BROKEN: {promise}"));
        }
        if self.0.is_empty() { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
    }
}
