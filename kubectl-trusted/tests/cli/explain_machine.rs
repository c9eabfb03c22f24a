//! `explain-machine` on staged objects: the chain, the link that breaks, rivals, what happened.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use serde_json::{Value, json};
use testenv::{ControlPlane, TestNamespace, eventually};

use crate::run::Plugin;
use crate::stage::{Stage, settled};

/// A cluster, and the machine `node` that is bound to the key `ak` and has both keys in Trustee.
async fn served(prefix: &str) -> (TestNamespace, Stage, Plugin) {
    let namespace = ControlPlane::shared().await.namespace(prefix).await;
    let (stage, viewer) = (Stage::of(&namespace), Plugin::as_user(&namespace, "viewer"));
    stage.cluster("demo").await;
    let key = stage.key("ak", Some("node")).await;
    stage.approved("ak", "True", "MachineCreated", "").await;
    stage.machine("machine", "node", Some(("ak", &key))).await;
    stage.trustee(&[&key], &["node"]).await;
    (namespace, stage, viewer)
}

async fn explained(plugin: &Plugin, verdict: &str) -> Value {
    eventually(verdict, Duration::from_secs(60), || async {
        let document = plugin.run(&["explain-machine", "node", "-o", "json"]).await.json();
        if document["verdict"] == verdict { Ok(document) } else { Err(document.to_string()) }
    })
    .await
}

fn states(document: &Value) -> Vec<(&str, &str)> {
    let links = document["chain"].as_array().unwrap().iter();
    links.map(|link| (link["link"].as_str().unwrap(), link["state"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn the_screen_of_a_served_machine() {
    testenv::needs!(SimulatedNodes);
    let (namespace, _, viewer) = served("explain").await;
    let document = explained(&viewer, "Served").await;
    assert_eq!((&document["kind"], &document["firstBroken"]), (&json!("MachineExplanation"), &json!(null)));
    // By the name of its Machine as well.
    let screen = viewer.run(&["explain-machine", "machine"]).await.exits(0).stdout;
    let chain = screen.split("\nWhat happened\n").next().unwrap();
    let expected = format!(
        "Served  machine node in namespace {}

CHAIN                           STATE  REASON                 SINCE
├─ cluster demo                 ok     InstallationCompleted  AGE
├─ machine machine              ok     Registered             AGE
├─ disk key luks-node           ok     KeyCreated             AGE
├─ attestation key ak           ok     MachineCreated         AGE
├─ binding ak-node              ok     Bound                  AGE
├─ delivery trustee-deployment  ok     Delivered
└─ images                       noted  NoApprovedImage

images: No image is approved, so no machine can pass attestation yet.
    Next: kubectl explain approvedimage.spec
",
        namespace.name()
    );
    assert_eq!(settled(chain), expected);
}

#[tokio::test]
async fn the_first_link_that_breaks_is_named_with_the_next_command() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage, viewer) = served("broken").await;
    explained(&viewer, "Served").await;
    stage.approved("ak", "False", "AwaitingApproval", "the cluster approves by hand").await;
    let document = viewer.run(&["explain-machine", "node", "-o", "json"]).await.exits(3).json();
    assert_eq!(document["firstBroken"]["link"], "attestationKey");
    assert_eq!(
        document["firstBroken"]["next"],
        format!("kubectl trusted approve-ak ak -n {}", namespace.name())
    );
    let status = viewer.run(&["status", "-o", "json"]).await.json();
    let finding =
        status["reasons"].as_array().unwrap().iter().find(|it| it["object"]["name"] == "ak").unwrap();
    assert_eq!(document["firstBroken"]["message"], finding["message"], "one definition of health");
    let screen = viewer.run(&["explain-machine", "node"]).await.exits(3).stdout;
    let first = "The first link that does not hold: attestation key ak (AwaitingApproval)\n";
    assert!(screen.contains(first), "{screen}");
}

#[tokio::test]
async fn rivals_and_what_happened_are_shown() {
    let (namespace, stage, viewer) = served("rivals").await;
    let rival = stage.key("rival", Some("node")).await;
    stage.approved("rival", "False", "Conflict", "bound to ak").await;
    let event = |controller: &str, note: &str| -> Event {
        serde_json::from_value(json!({
            "metadata": {"generateName": "rival-"}, "type": "Warning", "reason": "Conflict", "note": note,
            "action": "TrustKey", "reportingController": controller, "reportingInstance": "x",
            "eventTime": Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string(),
            "series": {"count": 3, "lastObservedTime": Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()},
            "regarding": {"kind": "AttestationKey", "name": "rival", "namespace": namespace.name()},
        }))
        .unwrap()
    };
    stage.create(&event("trusted-operator", "came second \u{1b}[2J")).await;
    stage.create(&event("somebody-else", "noise")).await;
    let document = viewer.run(&["explain-machine", "node", "-o", "json"]).await.json();
    assert_eq!(document["rivals"].as_array().unwrap().len(), 1);
    let told = &document["rivals"][0];
    assert_eq!((&told["name"], &told["relation"]), (&json!("rival"), &json!("otherKey")));
    assert_eq!((&told["fingerprint"], &told["reason"]), (&json!(rival.to_string()), &json!("Conflict")));
    let timeline = document["timeline"].as_array().unwrap();
    assert!(timeline.is_sorted_by_key(|entry| entry["at"].as_str().unwrap().parse::<Timestamp>().unwrap()));
    let events: Vec<_> = timeline.iter().filter(|entry| entry["source"] == "event").collect();
    assert_eq!((events.len(), &events[0]["count"]), (1, &json!(3)), "{events:?}");
    assert!(timeline.iter().any(|entry| entry["what"] == "AttestationKeyBound=True, Bound"), "{timeline:?}");
    let screen = viewer.run(&["explain-machine", "node"]).await.stdout;
    assert!(screen.contains("Conflict (3 times)") && !screen.contains('\u{1b}'), "{screen}");
}

#[tokio::test]
async fn a_key_that_came_before_its_machine_can_be_explained() {
    let namespace = ControlPlane::shared().await.namespace("early").await;
    let stage = Stage::of(&namespace);
    stage.cluster("demo").await;
    stage.key("early", Some("node")).await;
    stage.approved("early", "False", "AwaitingMachine", "no Machine yet").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let document = viewer.run(&["explain-machine", "node", "-o", "json"]).await.exits(3).json();
    assert_eq!(states(&document)[1], ("machine", "waiting"));
    let missing = viewer.run(&["explain-machine", "other"]).await.exits(1);
    assert!(
        missing.stderr.starts_with("Error from server (NotFound): no Machine and no AttestationKey"),
        "{}",
        missing.stderr
    );
    let nowhere =
        Plugin::as_user(&namespace, "admin").run(&["explain-machine", "x", "-n", "nope"]).await.exits(1);
    assert!(nowhere.stderr.contains("there is no namespace \"nope\""), "{}", nowhere.stderr);
}

#[tokio::test]
async fn what_may_not_be_seen_is_never_ok() {
    let (namespace, stage, _) = served("unseen").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let blind = nobody.run(&["explain-machine", "node"]).await.exits(1);
    assert!(blind.stderr.contains("not everything may be seen"), "{}", blind.stderr);
    stage.grant(&namespace, &["machines", "attestationkeys"]).await;
    let document = explained(&nobody, "Unknown").await;
    let hidden = ["cluster", "delivery", "images"];
    for (link, state) in states(&document) {
        assert_eq!(state == "notVisible", hidden.contains(&link), "{link}: {state}");
    }
    let needs: Vec<_> =
        document["incomplete"].as_array().unwrap().iter().map(|it| it["resource"].clone()).collect();
    assert!(needs.contains(&json!("events.events.k8s.io")), "{needs:?}");
    nobody.run(&["explain-machine", "node"]).await.exits(4);
}
