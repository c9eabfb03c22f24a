//! `testenv up`: a control plane to play and develop with.

use std::process::ExitCode;

use testenv::{ControlPlane, TEST_USERS, assets::Assets, existing_cluster, progress::Progress};

use crate::{failure::Failure, output};

/// The namespace that is ready for use.
const NAMESPACE: &str = "trusted";

/// Starts a control plane, says what is there, and stays until Ctrl-C.
pub(crate) async fn run() -> Result<ExitCode, Failure> {
    let control_plane = start().await?;
    let namespace = control_plane.named_namespace(NAMESPACE).await?;
    let token = namespace.try_service_account_token("trusted-operator").await?;
    let operator = control_plane.kubeconfig("trusted-operator", &token, NAMESPACE)?;
    let mut users = Vec::new();
    for user in TEST_USERS {
        control_plane.user_kubeconfig(user.name, user.name, NAMESPACE)?;
        users.push(user.name);
    }
    let folder = operator.parent().unwrap_or(&operator).display();
    output::line(&format!("API server   {}", control_plane.url()));
    output::line(&format!(
        "namespace    {NAMESPACE}, with the CRDs, Roles and admission policies of deploy/"
    ));
    output::line(&format!("identities   {folder}/{{{}}}.yaml", users.join(",")));
    output::line(&format!("audit log    {}", control_plane.audit().path().display()));
    output::line(&format!("other logs   {}", control_plane.logs().display()));
    output::line(&format!("kubectl      {}", control_plane.kubectl().display()));
    output::line(&format!(
        "operator     cargo run -p trusted-operator -- run --namespace {NAMESPACE} --kubeconfig {}",
        operator.display()
    ));
    output::line("");
    output::line(&format!("export KUBECONFIG={folder}/admin.yaml"));
    stay().await
}

/// Starts the control plane, or takes the cluster that is there already, with progress.
pub(crate) async fn start() -> Result<&'static ControlPlane, Failure> {
    if existing_cluster().is_some() {
        let progress = Progress::steps(1, "making the cluster of TRUSTED_TEST_KUBECONFIG ready");
        let control_plane = ControlPlane::try_shared().await?;
        progress.finish(&format!("the cluster at {} is ready", control_plane.url()));
        return Ok(control_plane);
    }
    // A build shows a progress of its own, so it must be over before the next one begins.
    let found = tokio::task::spawn_blocking(Assets::find).await;
    found.map_err(|error| Failure::Unexpected(error.to_string()))??;
    let progress = Progress::steps(1, "starting a Kubernetes control plane");
    let control_plane = ControlPlane::try_shared().await?;
    progress.finish("the control plane is ready");
    Ok(control_plane)
}

/// Waits for Ctrl-C. Everything ends with this process.
pub(crate) async fn stay() -> Result<ExitCode, Failure> {
    output::note("\nCtrl-C ends it and removes everything.");
    tokio::signal::ctrl_c().await.map_err(Failure::io("waiting for Ctrl-C"))?;
    Ok(ExitCode::SUCCESS)
}
