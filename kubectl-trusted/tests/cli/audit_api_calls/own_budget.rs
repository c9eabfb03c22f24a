//! What our own operator may cost, as anybody else would check it: its audit log against a budget that is checked in.

use std::time::Duration;

use jiff::Timestamp;
use testenv::audit::Window;
use testenv::{ControlPlane, eventually, objects};

use super::snapshot;
use crate::chain::{Operator, verdict};
use crate::run::{Plugin, path};
use crate::stage::Stage;

const BUDGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testenv/budgets/operator.yaml");

/// As many as the budget is for.
const PAIRS: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_keeps_its_budget() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("budget").await;
    let stage = Stage::of(&namespace);
    let since = Timestamp::now();
    let operator = Operator::start(&namespace).await;
    let mut cluster = objects::cluster("demo");
    cluster.spec.public_trustee_addr = Some("trustee.example.org:8080".to_owned());
    stage.create(&cluster).await;
    for at in 0..PAIRS {
        stage.create(&objects::machine(&format!("m{at}"), &format!("node-{at}"))).await;
        stage.key(&format!("k{at}"), Some(&format!("node-{at}"))).await;
    }
    let viewer = Plugin::as_user(&namespace, "viewer");
    eventually("all machines to be served", Duration::from_secs(60), || async {
        let document = verdict(&viewer, "Healthy").await;
        if document["counts"]["machinesServed"] == PAIRS { Ok(()) } else { Err(document.to_string()) }
    })
    .await;
    operator.stop().await;

    let user = namespace.service_account_user("trusted-operator");
    let log = control_plane.audit();
    log.settled(&user, Window::since(since)).await.unwrap();
    let since = since.to_string();
    let counted = ["--audit-log", path(log.path()), "--user", &user, "--since", &since];
    snapshot(&[&counted[..], &["--budget", BUDGET, "-o", "wide"]].concat()).await.exits(0);
    // One Secret more would be over it.
    snapshot(&[&counted[..], &["--max", "create/secrets=19"]].concat()).await.exits(3);
}
