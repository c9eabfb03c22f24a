//! The whole way with the operator running: from keys that wait to keys that Trustee has.

use std::time::Duration;

use serde_json::json;
use testenv::{ControlPlane, TestNamespace, eventually, objects};
use trusted_crds::ApprovalPolicy;

use crate::run::Plugin;
use crate::stage::Stage;

/// The operator in this process, as its ServiceAccount.
pub(crate) struct Operator {
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    running: tokio::task::JoinHandle<Result<(), trusted_operator::RunError>>,
}

impl Operator {
    pub(crate) async fn start(namespace: &TestNamespace) -> Operator {
        let config = trusted_operator::RunConfig::new(namespace.operator_config().await, namespace.name());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(trusted_operator::run(config, async move {
            let _ = stopped.await;
        }));
        Operator { stop: Some(stop), running }
    }

    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        self.running.await.expect("the operator does not panic").expect("the operator ends well");
    }
}

pub(crate) async fn verdict(plugin: &Plugin, verdict: &str) -> serde_json::Value {
    eventually(verdict, Duration::from_secs(60), || async {
        let document = plugin.run(&["status", "-o", "json"]).await.json();
        if document["verdict"] == verdict { Ok(document) } else { Err(document.to_string()) }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_a_waiting_key_to_a_served_machine() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("chain").await;
    let stage = Stage::of(&namespace);
    let operator = Operator::start(&namespace).await;
    let mut cluster = objects::cluster("demo");
    cluster.spec.attestation_key_approval = Some(ApprovalPolicy::Manual);
    cluster.spec.public_trustee_addr = Some("trustee.example.org:8080".to_owned());
    stage.create(&cluster).await;
    stage.create(&objects::machine("machine", "node")).await;
    stage.key("k", Some("node")).await;
    stage.key("rival", Some("node")).await;
    let approver = Plugin::as_user(&namespace, "approver");

    eventually("two keys that wait", Duration::from_secs(60), || async {
        let document = approver.run(&["status", "-o", "json"]).await.json();
        let reasons = document["reasons"].as_array().unwrap().iter();
        let waiting = reasons.filter(|reason| reason["reason"] == "AwaitingApproval").count();
        if waiting == 2 && document["verdict"] == "Degraded" { Ok(()) } else { Err(document.to_string()) }
    })
    .await;

    let ran = approver.run(&["approve-ak", "k", "-y", "-o", "json", "--timeout", "60s"]).await.exits(0);
    let item = ran.json()["items"][0].clone();
    assert_eq!((&item["result"], &item["stage"]), (&json!("approved"), &json!("delivered")));
    assert_eq!(item["reason"], "ManuallyApproved");

    // The rival is not trusted, and a person has to say so for all to be well.
    let rival = verdict(&approver, "Degraded").await;
    assert_eq!(rival["machines"][0]["boundKey"], "k");
    assert_eq!(rival["machines"][0]["delivered"], true);
    stage.api::<trusted_crds::AttestationKey>().delete("rival", &Default::default()).await.unwrap();
    let well = verdict(&approver, "Healthy").await;
    assert_eq!(well["counts"]["machinesServed"], 1, "{well}");

    let other = stage.key("other", Some("node")).await;
    let refused = approver.run(&["approve-ak", "other", "-y", "-o", "json"]).await.exits(1);
    assert_eq!(refused.json()["items"][0]["reason"], "BoundByHand");
    let fingerprint = other.to_string();
    let replace =
        ["approve-ak", "other", "-y", "--replace", "--expect-fingerprint", &fingerprint, "-o", "json"];
    let ran = approver.run(&replace).await.exits(0);
    assert_eq!(ran.json()["items"][0]["stage"], "delivered");
    let replaced = verdict(&approver, "Healthy").await;
    assert_eq!(replaced["machines"][0]["boundKey"], "other");

    trust_is_taken_away_and_given_again(&approver).await;
    operator.stop().await;
}

/// The operator acts on a denial, on taking it back, and on taking back an approval.
async fn trust_is_taken_away_and_given_again(approver: &Plugin) {
    let decide = async |arguments: &[&str]| {
        let ran =
            approver.run(&[arguments, &["-y", "-o", "json", "--timeout", "60s"]].concat()).await.exits(0);
        let item = ran.json()["items"][0].clone();
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        [text("result"), text("stage"), text("reason")]
    };
    assert_eq!(decide(&["deny-ak", "other"]).await, ["denied", "undelivered", "Denied"]);
    let document = approver.run(&["status", "-o", "json"]).await.json();
    assert_eq!(document["machines"][0]["delivered"], false, "{document}");
    // Taking the denial back makes nobody trusted.
    assert_eq!(decide(&["revoke-ak", "other"]).await[..2], ["revoked", "undelivered"]);
    assert_eq!(decide(&["approve-ak", "other"]).await, ["approved", "delivered", "ManuallyApproved"]);
    assert_eq!(decide(&["revoke-ak", "other"]).await, ["revoked", "undelivered", "Withdrawn"]);
}
