//! `status` on staged objects: its screen, its document, missing rights, and what it costs.

use jiff::Timestamp;
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, TestNamespace, eventually, objects};

use crate::run::Plugin;
use crate::stage::{Stage, settled};
use crate::terminal::Terminal;

const IMAGE: &str =
    "quay.io/example/os@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A cluster with one machine served, one that waits for its key, and a second key for the first.
pub(crate) async fn staged(prefix: &str) -> (TestNamespace, Stage) {
    let namespace = ControlPlane::shared().await.namespace(prefix).await;
    let stage = Stage::of(&namespace);
    stage.cluster("demo").await;
    let key = stage.key("ak-1", Some("node-1")).await;
    stage.approved("ak-1", "True", "MachineCreated", "").await;
    stage.machine("machine-1", "node-1", Some(("ak-1", &key))).await;
    stage.machine("machine-2", "node-2", None).await;
    stage.create(&objects::approved_image("os", IMAGE)).await;
    stage.trustee(&[&key], &["node-1", "node-2"]).await;
    (namespace, stage)
}

pub(crate) async fn delivered(viewer: &Plugin) {
    eventually("Trustee's rollout", std::time::Duration::from_secs(30), || async {
        let document = viewer.run(&["status", "-o", "json"]).await.json();
        (document["machines"][0]["delivered"] == true).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_screen_of_a_healthy_cluster() {
    testenv::needs!(SimulatedNodes);
    let (namespace, _) = staged("healthy").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let ran = viewer.run(&["status"]).await.exits(0);
    assert_eq!(ran.stderr, "");
    let expected = "Healthy  namespace NS
1 of 2 machines served; keys: 1 trusted, 0 pending, 0 refused; images: 0 of 1 committed

Info ApprovedImage NS/os: NotEvaluated for AGE
    No controller has evaluated this image yet, so its measurements are not in force.
    Next: kubectl describe approvedimage os -n NS

Info Machine NS/machine-2: NoKey for AGE
    The machine has not registered an attestation key: it has not booted, or cannot reach the cluster.
    Next: kubectl get attestationkeys -n NS --field-selector spec.uuid=node-2

Clusters
NAME  INSTALLED  TRUSTEE  NEW KEYS          TRUSTEE ADDRESS           AGE
demo  yes        yes      first is trusted  trustee.example.com:8080  AGE

Machines
NAME       ID      DISK KEY  ATTESTATION KEY  DELIVERED  AGE
machine-1  node-1  yes       ak-1             yes        AGE
machine-2  node-2  yes       NoKey            -          AGE

Attestation keys
NAME  UUID    APPROVED             DELIVERED  FINGERPRINT   AGE
ak-1  node-1  yes, MachineCreated  yes        FINGERPRINT  AGE

Approved images
NAME  COMMITTED  REASON        IMAGE                            AGE
os    -          NotEvaluated  quay.io/example/os@aaaaaaaaaaaa  AGE
";
    let shown = ran.stdout.replace(namespace.name(), "NS");
    assert_eq!(settled(&shown), expected, "{}", ran.stdout);
}

#[tokio::test]
async fn what_waits_for_a_person_degrades_and_names_the_command() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage) = staged("degraded").await;
    stage.key("ak-2", Some("node-2")).await;
    stage
        .approved("ak-2", "False", "AwaitingApproval", "the cluster's attestationKeyApproval is Manual")
        .await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let ran = viewer.run(&["status"]).await.exits(3);
    assert!(ran.stdout.starts_with("Degraded  namespace "), "{}", ran.stdout);
    let document = viewer.run(&["status", "-o", "json"]).await.exits(3).json();
    let reason = &document["reasons"][0];
    assert_eq!(document["verdict"], "Degraded");
    assert_eq!(
        (&reason["level"], &reason["reason"], &reason["object"]["kind"], &reason["object"]["name"]),
        (&json!("Warning"), &json!("AwaitingApproval"), &json!("AttestationKey"), &json!("ak-2"))
    );
    assert_eq!(reason["next"], format!("kubectl trusted approve-ak ak-2 -n {}", namespace.name()));
    assert!(reason["since"].is_string(), "{reason}");
}

#[tokio::test]
async fn the_document_has_the_promised_fields() {
    testenv::needs!(SimulatedNodes);
    let (namespace, _) = staged("document").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let document = viewer.run(&["status", "-o", "json"]).await.exits(0).json();
    assert_eq!(
        (&document["apiVersion"], &document["kind"]),
        (&json!("trusted-execution-clusters.io/cli/v1"), &json!("Status"))
    );
    let cluster = &document["clusters"][0];
    assert_eq!(
        (&cluster["name"], &cluster["installed"], &cluster["served"]),
        (&json!("demo"), &json!(true), &json!(true))
    );
    let machine = &document["machines"][0];
    assert_eq!(
        (&machine["id"], &machine["keyReady"], &machine["boundKey"]),
        (&json!("node-1"), &json!(true), &json!("ak-1"))
    );
    let key = &document["attestationKeys"][0];
    assert_eq!(
        (&key["uuid"], &key["machine"], &key["approved"]),
        (&json!("node-1"), &json!("machine-1"), &json!(true))
    );
    assert_eq!((&key["reason"], &key["delivered"]), (&json!("MachineCreated"), &json!(true)));
    assert!(key["fingerprint"].as_str().unwrap().starts_with("sha256:"), "{key}");
    let image = &document["approvedImages"][0];
    assert_eq!(
        (&image["image"], &image["committed"], &image["reason"]),
        (&json!(IMAGE), &json!(false), &json!("NotEvaluated"))
    );
    assert_eq!(document["incomplete"], json!([]));
    let yaml = viewer.run(&["status", "-o", "yaml"]).await.exits(0);
    assert!(yaml.stdout.contains("\nverdict: Healthy\n"), "{}", yaml.stdout);
}

#[tokio::test]
async fn it_costs_one_list_per_kind_and_nothing_else() {
    testenv::needs!(AuditLog);
    let (namespace, _) = staged("cost").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let before = Timestamp::now();
    viewer.run(&["status"]).await;
    let audit = ControlPlane::shared().await.audit();
    let requests = audit.settled("viewer", Window::since(before)).await.unwrap();
    let ours = requests.filter(|request| request.namespace == namespace.name());
    let mut seen: Vec<_> =
        ours.iter().map(|request| format!("{} {}", request.verb, request.resource)).collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            "list approvedimages",
            "list attestationkeys",
            "list deployments",
            "list machines",
            "list trustedexecutionclusters"
        ]
    );
    let agent = concat!("kubectl-trusted/", env!("CARGO_PKG_VERSION"));
    assert!(ours.iter().all(|request| request.user_agent == agent));
}

#[tokio::test]
async fn all_namespaces_are_told_apart() {
    let (first, _) = staged("all").await;
    let (second, stage) = staged("all").await;
    stage.key("ak-2", Some("node-2")).await;
    stage.approved("ak-2", "False", "Conflict", "").await;
    let admin = Plugin::as_user(&first, "admin");
    let document = admin.run(&["status", "-A", "-o", "json"]).await.exits(3).json();
    assert_eq!(document["namespace"], json!(null));
    for namespace in [first.name(), second.name()] {
        let machines = document["machines"].as_array().unwrap().iter();
        assert_eq!(machines.filter(|row| row["namespace"] == namespace).count(), 2, "{namespace}");
    }
    let screen = admin.run(&["status", "-A"]).await.exits(3).stdout;
    assert!(screen.contains("\nNAMESPACE "), "{screen}");
    // Rights in one namespace are not rights in all of them.
    let viewer = Plugin::as_user(&first, "viewer").run(&["status", "-A"]).await.exits(4);
    assert!(viewer.stdout.contains("needs the right to list in all namespaces: "), "{}", viewer.stdout);
}

#[tokio::test]
async fn names_narrow_what_is_shown() {
    testenv::needs!(SimulatedNodes);
    let (namespace, _) = staged("names").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let document = viewer.run(&["status", "machine-2", "-o", "json"]).await.exits(0).json();
    assert_eq!(document["machines"].as_array().unwrap().len(), 1);
    assert_eq!(document["reasons"].as_array().unwrap().len(), 1);
    assert_eq!(document["clusters"], json!([]));
    let missing = viewer.run(&["status", "machine-2", "nothing"]).await.exits(1);
    let expected = format!(
        "Error from server (NotFound): no cluster, machine, attestation key or approved image \"nothing\" in namespace \
         \"{}\"\n",
        namespace.name()
    );
    assert!(missing.stderr.starts_with(&expected), "{}", missing.stderr);
}

#[tokio::test]
async fn missing_rights_are_named_and_never_healthy() {
    let (namespace, stage) = staged("rights").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let blind = nobody.run(&["status", "-o", "json"]).await.exits(4).json();
    assert_eq!(blind["verdict"], "Unknown");
    assert_eq!(blind["incomplete"].as_array().unwrap().len(), 5);

    stage.grant(&namespace, &["machines", "attestationkeys"]).await;
    let part = eventually("the right to act", std::time::Duration::from_secs(10), || async {
        let ran = nobody.run(&["status", "-o", "json"]).await;
        (ran.json()["incomplete"].as_array().unwrap().len() == 3).then_some(ran)
    })
    .await
    .exits(4)
    .json();
    assert_eq!(part["verdict"], "Unknown");
    assert_eq!(part["machines"].as_array().unwrap().len(), 2);
    assert_eq!(part["machines"][0]["delivered"], json!(null));
    let missing = &part["incomplete"][0];
    assert_eq!(
        (&missing["verb"], &missing["resource"], &missing["namespace"]),
        (
            &json!("list"),
            &json!("trustedexecutionclusters.trusted-execution-clusters.io"),
            &json!(namespace.name())
        )
    );
    let screen = nobody.run(&["status"]).await.exits(4).stdout;
    assert!(screen.starts_with("Unknown  namespace "), "{screen}");
    assert!(screen.contains("Clusters\nnot visible\n"), "{screen}");
    assert!(screen.contains("machine-1"), "{screen}");
}

#[tokio::test]
async fn foreign_text_cannot_reach_the_terminal() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage) = staged("escapes").await;
    let hostile = "node\u{1b}[2J\u{9b}31m\u{202e}evil";
    stage.key("ak-2", Some(hostile)).await;
    stage.approved("ak-2", "False", "AwaitingMachine", "no \u{1b}]0;title\u{7} Machine").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    for format in ["table", "json", "yaml"] {
        let ran = viewer.run(&["status", "-o", format, "--color", "never"]).await.exits(0);
        let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.stdout.chars().any(harmful), "{format}: {:?}", ran.stdout);
    }
    let document = viewer.run(&["status", "ak-2", "-o", "json"]).await.json();
    assert_eq!(document["attestationKeys"][0]["uuid"], hostile);
}

#[tokio::test]
async fn suggested_commands_reach_the_same_cluster() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage) = staged("context").await;
    stage.key("ak-2", Some("node-2")).await;
    stage.approved("ak-2", "False", "AwaitingApproval", "").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let document = viewer.run(&["status", "--context", "testenv", "-o", "json"]).await.exits(3).json();
    let next = document["reasons"][0]["next"].as_str().unwrap();
    assert_eq!(next, format!("kubectl trusted approve-ak ak-2 -n {} --context testenv", namespace.name()));
}

#[tokio::test]
async fn suggested_commands_ask_as_the_same_person() {
    let (namespace, stage) = staged("as").await;
    stage.key("ak-2", Some("node-2")).await;
    stage.approved("ak-2", "False", "Conflict", "").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let flags = ["--as", "the viewer", "--as-group", "system:masters"];
    let document = admin.run(&[&["status", "-o", "json"], &flags[..]].concat()).await.exits(3).json();
    let repeated = " --as 'the viewer' --as-group system:masters";
    let conflict =
        document["reasons"].as_array().unwrap().iter().find(|reason| reason["reason"] == "Conflict");
    let conflict = conflict.unwrap();
    assert!(conflict["next"].as_str().unwrap().ends_with(repeated), "{conflict}");
    for choice in conflict["choices"].as_array().unwrap() {
        let command = choice["command"].as_str().unwrap();
        assert_eq!(command.matches(repeated).count(), command.matches("kubectl ").count(), "{command}");
    }
    let blind = admin.run(&["status", "--as", "nobody"]).await.exits(4).stdout;
    let check = format!(
        "Next: kubectl auth can-i list trustedexecutionclusters.trusted-execution-clusters.io -n {} --as nobody\n",
        namespace.name()
    );
    assert!(blind.contains(&check), "{blind}");
}

#[tokio::test]
async fn a_refused_key_can_be_refused_for_good() {
    let (namespace, stage) = staged("refuse").await;
    stage.key("ak-2", Some("node-1")).await;
    stage.approved("ak-2", "False", "Conflict", "").await;
    let approver = Plugin::as_user(&namespace, "approver");
    let screen = approver.run(&["status"]).await.exits(3).stdout;
    let command =
        screen.lines().find_map(|line| line.trim().strip_prefix("To refuse it for good: kubectl trusted "));
    let words: Vec<&str> = command.unwrap().split(' ').chain(["-y", "--no-wait"]).collect();
    approver.run(&words).await.exits(0);
    let key = stage.api::<trusted_crds::AttestationKey>().get("ak-2").await.unwrap();
    let approval = key.spec.approval.unwrap();
    assert_eq!(
        (approval.decision, approval.by.as_deref()),
        (trusted_crds::Decision::Denied, Some("approver"))
    );
}

#[tokio::test]
async fn a_namespace_that_does_not_exist_is_told_apart_where_it_can_be() {
    let namespace = ControlPlane::shared().await.namespace("empty").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let missing = admin.run(&["status", "-n", "nope"]).await.exits(1);
    assert!(
        missing.stderr.starts_with("Error from server (NotFound): there is no namespace \"nope\"\n"),
        "{}",
        missing.stderr
    );
    for user in ["admin", "viewer"] {
        let empty = Plugin::as_user(&namespace, user).run(&["status"]).await.exits(4).stdout;
        let create = format!("Next: kubectl apply -n {} -f deploy/samples/cluster.yaml\n", namespace.name());
        assert!(empty.contains(&create), "{empty}");
        assert!(empty.contains("To look elsewhere: kubectl trusted status -A\n"), "{empty}");
    }
}

#[tokio::test]
async fn wide_shows_all_and_a_table_what_fits() {
    let (namespace, _) = staged("wide").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let wide = viewer.run(&["status", "-o", "wide"]).await.exits(0).stdout;
    assert!(wide.contains(IMAGE), "{wide}");
    assert!(wide.contains("  sha256:"), "{wide}");
    let table = viewer.run(&["status"]).await.exits(0).stdout;
    assert!(table.contains("quay.io/example/os@aaaaaaaaaaaa  "), "{table}");
    assert!(!table.contains("  sha256:"), "{table}");
}

/// A terminal that does not tell its size, as those of `script` and of CI systems.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_of_unknown_size_has_80_columns() {
    let (namespace, _) = staged("unsized").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let (code, screen) = Terminal::run(&viewer, &["status", "--color", "never"]).ends();
    assert_eq!(code, 0, "{screen}");
    let prose = screen.lines().filter(|line| !line.contains("Next:")).map(|line| line.trim_end().len());
    let widest = prose.max().unwrap();
    assert!((60..=80).contains(&widest), "{widest}:\n{screen}");
}

#[tokio::test]
async fn many_alike_are_told_once() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage) = staged("many").await;
    for number in 0..8 {
        let name = format!("waiting-{number}");
        stage.key(&name, Some(&name)).await;
        stage.approved(&name, "False", "AwaitingApproval", "").await;
    }
    let viewer = Plugin::as_user(&namespace, "viewer");
    delivered(&viewer).await;
    let screen = viewer.run(&["status"]).await.exits(3).stdout;
    assert!(screen.contains("Warning 8 AttestationKeys: AwaitingApproval, the longest for "), "{screen}");
    assert!(screen.contains("waiting-5, and 2 more\n"), "{screen}");
    assert_eq!(screen.matches("AwaitingApproval, the longest").count(), 1);
}
