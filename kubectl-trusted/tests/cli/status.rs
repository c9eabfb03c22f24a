//! `status` on staged objects: its screen, its document, missing rights, and what it costs.

use jiff::Timestamp;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, TestNamespace, eventually, objects};

use crate::run::Plugin;
use crate::stage::{Stage, settled};

const IMAGE: &str =
    "quay.io/example/os@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A cluster with one machine served, one that waits for its key, and a second key for the first.
async fn staged(prefix: &str) -> (TestNamespace, Stage) {
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

async fn delivered(viewer: &Plugin) {
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
NAME  COMMITTED  REASON        IMAGE                                                                                       AGE
os    -          NotEvaluated  IMAGE  AGE
";
    let shown = ran.stdout.replace(namespace.name(), "NS").replace(IMAGE, "IMAGE");
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

/// Lets `nobody` list these resources of our group.
async fn grant(namespace: &TestNamespace, stage: &Stage, resources: &[&str]) {
    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": "part"},
        "rules": [{"apiGroups": ["trusted-execution-clusters.io"], "resources": resources, "verbs": ["list"]}],
    }))
    .unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "part"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "part"},
        "subjects": [{
            "kind": "User", "name": namespace.user_name("nobody"), "apiGroup": "rbac.authorization.k8s.io",
        }],
    }))
    .unwrap();
    let roles: Api<Role> = stage.api();
    roles.create(&PostParams::default(), &role).await.unwrap();
    let bindings: Api<RoleBinding> = stage.api();
    bindings.create(&PostParams::default(), &binding).await.unwrap();
}

#[tokio::test]
async fn missing_rights_are_named_and_never_healthy() {
    let (namespace, stage) = staged("rights").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let blind = nobody.run(&["status", "-o", "json"]).await.exits(4).json();
    assert_eq!(blind["verdict"], "Unknown");
    assert_eq!(blind["incomplete"].as_array().unwrap().len(), 5);

    grant(&namespace, &stage, &["machines", "attestationkeys"]).await;
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
