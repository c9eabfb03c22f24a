//! What keeps the operator from starting, each with a message of its own.

use testenv::ControlPlane;
use trusted_operator::{RunConfig, run};

use crate::support::Env;

async fn refusal(config: RunConfig) -> String {
    run(config, std::future::pending()).await.unwrap_err().to_string()
}

#[tokio::test]
async fn an_unreachable_server_is_named() {
    let cp = ControlPlane::shared().await;
    let mut config = cp.admin_config();
    config.cluster_url = "https://127.0.0.1:1/".parse().unwrap();
    let told = refusal(RunConfig::new(config, "default")).await;
    assert!(told.contains("https://127.0.0.1:1/ cannot be reached"), "{told}");
}

#[tokio::test]
async fn missing_rights_are_listed() {
    let env = Env::bare("norights").await;
    let told = refusal(RunConfig::new(env.ns.user_config("nobody"), env.ns.name())).await;
    assert!(told.contains("rights are missing in namespace") && told.contains("deploy/rbac"), "{told}");
    assert!(told.contains("list,watch machines.trusted-execution-clusters.io"), "{told}");
}

#[tokio::test]
async fn a_stale_token_is_told_apart() {
    let cp = ControlPlane::shared().await;
    let told = refusal(RunConfig::new(cp.config_for_token("no-such-token"), "default")).await;
    assert!(told.contains("401"), "{told}");
}
