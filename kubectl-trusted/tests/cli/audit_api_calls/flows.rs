//! FlowSchemas for one ServiceAccount: what they count, and that none is left.

use std::process::Stdio;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::flowcontrol::v1::FlowSchema;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, TestNamespace};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::run::{BINARY, Plugin, Ran};

const COUNTS: &str = "trusted-execution-clusters.io/audit-api-calls-counts";

struct Scene {
    namespace: TestNamespace,
    admin: Plugin,
    account: String,
}

impl Scene {
    async fn new(prefix: &str) -> Scene {
        let namespace = ControlPlane::shared().await.namespace(prefix).await;
        let account = format!("{}/trusted-operator", namespace.name());
        Scene { admin: Plugin::as_user(&namespace, "admin"), account, namespace }
    }

    fn schemas(&self) -> Api<FlowSchema> {
        Api::all(self.namespace.control_plane().admin())
    }

    /// Those that count the account of this test.
    async fn left(&self) -> Vec<String> {
        let user = self.namespace.service_account_user("trusted-operator");
        let all = self.schemas().list(&ListParams::default()).await.unwrap();
        let ours = all.into_iter().filter(|schema| schema.annotations().get(COUNTS) == Some(&user));
        ours.map(|schema| schema.name_any()).collect()
    }

    /// A FlowSchema as a run makes it, good up to then.
    async fn made(&self, name: &str, good_for: SignedDuration) {
        let schema = json!({
            "metadata": {"name": format!("kubectl-trusted-audit-{name}"),
                "labels": {"app.kubernetes.io/managed-by": "kubectl-trusted"},
                "annotations": {COUNTS: self.namespace.service_account_user("trusted-operator"),
                    "trusted-execution-clusters.io/audit-api-calls-expires": Timestamp::now() + good_for}},
            "spec": {"matchingPrecedence": 9000, "priorityLevelConfiguration": {"name": "workload-low"}, "rules": []},
        });
        let schema = serde_json::from_value(schema).unwrap();
        self.schemas().create(&PostParams::default(), &schema).await.unwrap();
    }

    async fn run(&self, arguments: &[&str]) -> Ran {
        let common = ["audit-api-calls", "run", "--flow-schema-for", &self.account];
        self.admin.run(&[&common[..], arguments].concat()).await
    }
}

#[tokio::test]
async fn one_account_is_counted_as_the_audit_log_counts_it() {
    testenv::needs!(AuditLog, OwnCluster);
    let scene = Scene::new("flow").await;
    let control_plane = scene.namespace.control_plane();
    let token = scene.namespace.service_account_token("trusted-operator").await;
    let name = format!("{}-flow", scene.namespace.name());
    let kubeconfig = control_plane.kubeconfig(&name, &token, scene.namespace.name()).unwrap();
    let from = Timestamp::now();
    let command = ["--", BINARY, "status", "--kubeconfig", kubeconfig.to_str().unwrap()];
    let ran = scene.run(&[&["-o", "json"], &command[..]].concat()).await;
    let document = ran.json();
    let user = scene.namespace.service_account_user("trusted-operator");
    let log = control_plane.audit().settled(&user, Window::since(from)).await.unwrap().total();
    assert!(log > 3, "{log} requests");
    assert_eq!((&document["source"], &document["total"]), (&"flow-schema".into(), &log.into()), "{ran:?}");
    assert_eq!((&document["rows"][0]["verb"], &document["filter"]["user"]), (&"any".into(), &user.into()));
    assert!(ran.stderr.contains("at priority level workload-low as service-accounts did"), "{}", ran.stderr);
    assert_eq!(scene.left().await, Vec::<String>::new());
    // It knows no verbs, so that a limit on one is not kept, and not broken either.
    scene.run(&[&["--max", "list=0"], &command[..]].concat()).await.exits(4);
}

#[tokio::test]
async fn nothing_is_left_after_an_error_or_ctrl_c() {
    testenv::needs!(OwnCluster);
    let scene = Scene::new("flow-end").await;
    scene.run(&["--", "/nonexistent"]).await.exits(1);
    assert_eq!(scene.left().await, Vec::<String>::new());
    let account = &scene.account;
    let waiting = ["run", "--flow-schema-for", account, "--", "/bin/sh", "-c", "trap '' INT; sleep 5"];
    let live = ["live", "--flow-schema-for", account];
    for (verb, signal) in [(&live[..], "-INT"), (&waiting, "-INT"), (&live, "-TERM"), (&live, "-HUP")] {
        let mut command = scene.admin.command();
        command.arg("audit-api-calls").args(verb).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let process = child.id().unwrap().to_string();
        let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
        while !talk.next_line().await.unwrap().expect("it begins").starts_with("FlowSchema ") {}
        assert_eq!(scene.left().await.len(), 1);
        std::process::Command::new("kill").args([signal, &process]).status().unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(130), "{verb:?} {signal}");
        assert_eq!(scene.left().await, Vec::<String>::new(), "{verb:?} {signal}");
    }
}

#[tokio::test]
async fn what_a_killed_run_left_is_removed_and_what_another_uses_is_not() {
    testenv::needs!(OwnCluster);
    let scene = Scene::new("flow-left").await;
    let (old, new) = (format!("{}-old", scene.namespace.name()), format!("{}-new", scene.namespace.name()));
    scene.made(&old, SignedDuration::from_mins(-1)).await;
    // Other runs of these tests may be the ones that remove it, but remove it they must.
    scene.run(&["--max-total", "0", "--", "true"]).await.exits(4);
    assert_eq!(scene.left().await, Vec::<String>::new());
    scene.made(&new, SignedDuration::from_mins(5)).await;
    let refused = scene.run(&["--", "true"]).await.exits(1);
    assert!(refused.stderr.contains("counts ServiceAccount"), "{}", refused.stderr);
    let name = format!("kubectl-trusted-audit-{new}");
    assert!(refused.stderr.contains(&format!("kubectl delete flowschema {name}")), "{}", refused.stderr);
    assert_eq!(scene.left().await, std::slice::from_ref(&name));
    scene.schemas().delete(&name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn who_could_not_remove_it_makes_none() {
    let scene = Scene::new("flow-rights").await;
    let auditor = Plugin::as_user(&scene.namespace, "auditor");
    let arguments = ["audit-api-calls", "live", "--flow-schema-for", &scene.account, "--duration", "1s"];
    let ran = auditor.run(&arguments).await.exits(1);
    assert!(ran.stderr.contains("since it could not be removed again"), "{}", ran.stderr);
    assert!(ran.stderr.contains("kubectl auth can-i delete flowschemas"), "{}", ran.stderr);
    let twice = [&arguments[..], &["--pod", "p"]].concat();
    auditor.run(&twice).await.exits(2);
}
