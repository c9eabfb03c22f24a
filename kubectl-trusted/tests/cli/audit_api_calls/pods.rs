//! The metrics of pods, through the API server.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;
use testenv::{ControlPlane, TestNamespace};

use crate::pages::{Answer, Pages};
use crate::run::{Plugin, Ran};

/// An address of this machine that is not loopback, to which the API server connects for nobody.
fn own_address() -> IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: the system only chooses the address it would be sent from.
    socket.connect("198.51.100.1:9").expect("a network besides loopback, through which pods are reached");
    socket.local_addr().unwrap().ip()
}

/// A pod that no scheduler takes, with the status that it would have.
async fn pod(namespace: &TestNamespace, name: &str, status: serde_json::Value) {
    let pods: Api<Pod> = Api::namespaced(namespace.control_plane().admin(), namespace.name());
    let pod = json!({
        "metadata": {"name": name},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "c"}]},
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let status = json!({"status": status});
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
}

/// What the operator serves after a request that nobody answered.
async fn operators_page() -> String {
    let counter = cachelib::RequestCounter::default();
    let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
    let client = cachelib::clients(config, "test", &counter).unwrap().request;
    Api::<Secret>::namespaced(client, "ns").get("a").await.unwrap_err();
    trusted_operator::metrics::Metrics::new(counter, Arc::new(Vec::new), Default::default()).text()
}

async fn at(plugin: &Plugin, pod: &str, arguments: &[&str]) -> Ran {
    plugin.run(&[&["audit-api-calls", "snapshot", "--pod", pod], arguments].concat()).await
}

#[tokio::test]
async fn a_pod_is_read_through_the_api_server() {
    testenv::needs!(OwnCluster);
    let namespace = ControlPlane::shared().await.namespace("pods").await;
    let ours = operators_page().await;
    let open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let pages = Pages::serve_at(own_address(), move |path| match path {
        "/metrics" => Answer::of(open_metrics, &*ours),
        _ => Answer::page("").status(404),
    })
    .await;
    let ready = json!({"phase": "Running", "podIP": pages.address.ip(), "podIPs": [{"ip": pages.address.ip()}],
        "conditions": [{"type": "Ready", "status": "True"}]});
    pod(&namespace, "op", ready).await;
    pod(&namespace, "new", json!({"phase": "Pending"})).await;
    let admin = Plugin::as_user(&namespace, "admin");
    let target = format!("op:{}", pages.address.port());
    let document = at(&admin, &target, &["-o", "json"]).await.exits(0).json();
    assert_eq!(
        document["rows"],
        json!([{"verb": "get", "group": "", "resource": "secrets", "subresource": "", "code": 0, "count": 1}])
    );
    let url = format!("pod op in namespace {}", namespace.name());
    assert_eq!(
        (&document["source"], &document["instances"][0]["url"]),
        (&"client-metrics".into(), &url.into())
    );

    let says = |ran: Ran, words: &str| assert!(ran.exits(1).stderr.contains(words), "{words}");
    says(at(&admin, "no", &[]).await, "there is no pod \"no\" in namespace");
    says(at(&admin, "new:8080", &[]).await, "is not ready: its phase is Pending");
    // Nobody listens at port 1.
    says(at(&admin, "op:1", &[]).await, "does not answer there");
    let nobody = at(&Plugin::as_user(&namespace, "nobody"), &target, &[]).await.exits(1);
    assert!(nobody.stderr.starts_with("Error from server (Forbidden): "), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("the right to get the subresource pods/proxy"), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("kubectl auth can-i get pods --subresource=proxy"), "{}", nobody.stderr);
}

#[tokio::test]
async fn what_a_pod_answers_instead_of_metrics_is_told_apart() {
    testenv::needs!(OwnCluster);
    let namespace = ControlPlane::shared().await.namespace("odd-pods").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let open_metrics = "application/openmetrics-text; version=1.0.0";
    let cases = [
        (Answer::page("404 page not found\n").status(404), "it answers that it has no /metrics"),
        (Answer::page("Unauthorized\n").status(401), "the pod checks who asks"),
        (Answer::of("text/html", "<html></html>\n"), "is no page of metrics"),
        (Answer::page("web_requests_total 3\n"), "count no requests to the API server"),
        (Answer::of(open_metrics, "rest_client_requests_total 3\n"), "does not end with \"# EOF\""),
        (
            Answer::page("web_requests_total 3\nrest_client_requests_total{code=\"2"),
            "its last line has no end",
        ),
    ];
    for (number, (answer, words)) in cases.into_iter().enumerate() {
        let pages = Pages::serve_at(own_address(), move |_| answer.clone()).await;
        let name = format!("odd-{number}");
        let status = json!({"phase": "Running", "podIP": pages.address.ip(), "podIPs": [{"ip": pages.address.ip()}],
            "conditions": [{"type": "Ready", "status": "True"}]});
        pod(&namespace, &name, status).await;
        let ran = at(&admin, &format!("{name}:{}", pages.address.port()), &[]).await.exits(1);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}
