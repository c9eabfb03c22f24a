//! What keeps the operator from starting, each with a message of its own, and what it tells of itself once it runs.

use cachelib::{Identity, Key};
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::Value;
use testenv::{ControlPlane, eventually, objects};
use trusted_crds::Machine;
use trusted_operator::{RunConfig, run};

use crate::support::{Env, RunningOperator, TIMEOUT};

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
    assert!(told.contains("list,watch,patch machines.trusted-execution-clusters.io"), "{told}");
}

#[tokio::test]
async fn a_stale_token_is_told_apart() {
    let cp = ControlPlane::shared().await;
    let told = refusal(RunConfig::new(cp.config_for_token("no-such-token"), "default")).await;
    assert!(told.contains("401"), "{told}");
}

#[tokio::test]
async fn what_it_holds_can_be_compared_with_the_server() {
    let env = Env::bare("diagnostics").await;
    let operator = RunningOperator::start(&env.ns).await;
    env.create(&objects::machine("m-1", "m-1")).await;
    eventually("the store to equal the server", TIMEOUT, || async {
        let machines = env.api::<Machine>().list(&ListParams::default()).await.ok()?;
        let held: Vec<_> = machines
            .iter()
            .map(|machine| {
                let (uid, version) = (machine.uid().unwrap(), machine.resource_version().unwrap());
                (Key::of(machine), Identity { uid, version })
            })
            .collect();
        let checksum = cachelib::checksum(held.iter().map(|(key, identity)| (key, identity)));
        let told: Value = serde_json::from_str(&operator.ask("/diagnostics").await?).ok()?;
        let stores = told.as_array()?;
        let machines =
            stores.iter().find(|store| store["kind"] == "machines.trusted-execution-clusters.io")?;
        (machines["checksum"] == checksum && machines["state"] == "synced" && stores.len() == 8).then_some(())
    })
    .await;
    let metrics = operator.ask("/metrics").await.unwrap();
    let machines = r#"{kind="machines.trusted-execution-clusters.io"}"#;
    for line in [format!("store_objects{machines} 1"), format!("store_lists_total{machines} 1")] {
        assert!(metrics.contains(&format!("trusted_operator_{line}\n")), "{line}: {metrics}");
    }
    let reads = format!("trusted_operator_store_reads_total{machines} ");
    eventually("the store to be read", TIMEOUT, || async {
        let metrics = operator.ask("/metrics").await?;
        let reads = metrics.lines().find_map(|line| line.strip_prefix(&reads)?.parse::<u64>().ok())?;
        (reads > 0).then_some(())
    })
    .await;
    operator.stop().await;
}
