//! What the stores hold, what is told on their ground, and that nothing is done before they are complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Router, http};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use kube::{Client, Config, ResourceExt};
use serde_json::json;
use testenv::{eventually, objects};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trusted_crds::{ApprovalPolicy, DiskKeyRetention, TrustedExecutionCluster, names};
use trusted_operator::context::{Context, Images};
use trusted_operator::events::Events;
use trusted_operator::facts::{Facts, ServedCluster};
use trusted_operator::lease::{LEASE, Tenure};
use trusted_operator::metrics::Metrics;
use trusted_operator::writer::Writer;
use trusted_operator::{RunConfig, caches, controllers};

use crate::support::{CLUSTER, Env, RunningOperator, TIMEOUT};

/// The surroundings of the controllers, with complete stores.
pub async fn context(env: &Env, tenure: Tenure) -> (Arc<Context>, cachelib::Running) {
    let counter = cachelib::RequestCounter::default();
    let config = env.ns.operator_config().await;
    let clients = cachelib::clients(config, trusted_operator::USER_AGENT, &counter).unwrap();
    let namespace = env.ns.name().to_owned();
    let (caches, streams) = caches::start(clients.watch, &namespace, cachelib::Options::default()).unwrap();
    streams.ready().await.unwrap();
    let events = Events::start(clients.request.clone());
    let writer = Writer::new(clients.request, namespace.clone(), caches.clone(), tenure, events);
    let images = Images::from_env();
    (Arc::new(Context { caches, writer, facts: Facts::default(), namespace, images }), streams)
}

/// For the whole of a test.
fn leading() -> Tenure {
    let tenure = Tenure::default();
    tenure.lasts(Instant::now() + 10 * TIMEOUT);
    tenure
}

#[tokio::test]
async fn of_the_annotations_of_secrets_only_ours_are_stored() {
    let env = Env::bare("annotations").await;
    let secret: Secret = serde_json::from_value(json!({
        "metadata": {"name": "s", "annotations": {
            names::FINGERPRINT_ANNOTATION: "sha256:ab",
            "example.com/copy-of-the-data": "hunter2",
            "trusted-execution-clusters.io.example.com/x": "y",
        }},
    }))
    .unwrap();
    env.create(&secret).await;
    let (ctx, streams) = context(&env, leading()).await;
    let stored = ctx.caches.secrets.find("s").unwrap();
    assert_eq!(stored.fingerprint_text(), Some("sha256:ab"));
    assert!(!format!("{stored:?}").contains("hunter2"), "{stored:?}");
    streams.equals_server(&env.admin, TIMEOUT).await.unwrap();
}

#[tokio::test]
async fn the_others_are_told_which_cluster_is_served_and_how() {
    let env = Env::bare("told").await;
    let (ctx, streams) = context(&env, leading()).await;
    let mut told = ctx.facts.watch_served_cluster();
    assert_eq!(*told.borrow(), ServedCluster::NotYet, "no controller has looked");
    let (mut running, stop) = (JoinSet::new(), CancellationToken::new());
    let metrics = Metrics::new(cachelib::RequestCounter::default(), Arc::new(Vec::new), Default::default());
    controllers::spawn(&mut running, &ctx, &metrics, &stop);
    let mut until = async |what: &str, wanted: &dyn Fn(&ServedCluster) -> bool| {
        let reached = tokio::time::timeout(TIMEOUT, told.wait_for(wanted)).await;
        reached.unwrap_or_else(|_| panic!("{what}: still {:?}", ctx.facts.served_cluster())).unwrap().clone()
    };
    until("no cluster", &|told| *told == ServedCluster::None).await;

    let cluster = env.create(&objects::cluster(CLUSTER)).await;
    let uid = cluster.uid().unwrap();
    until("installed", &|told| *told == ServedCluster::Uid(uid.clone())).await;
    let served = || ctx.served_cluster().expect("something is known").map(|cluster| cluster.spec.clone());
    assert_eq!(served().unwrap().approval_policy(), ApprovalPolicy::Automatic);
    let patch = json!({"spec": {"attestationKeyApproval": "Manual", "diskKeyRetention": "Retain"}});
    env.edit::<TrustedExecutionCluster>(CLUSTER, patch).await;
    eventually("another policy", TIMEOUT, || async {
        let spec = served().ok_or("no cluster")?;
        let told = (spec.approval_policy(), spec.retention());
        (told == (ApprovalPolicy::Manual, DiskKeyRetention::Retain)).then_some(()).ok_or("the former one")
    })
    .await;
    env.api::<TrustedExecutionCluster>().delete(CLUSTER, &DeleteParams::background()).await.unwrap();
    until("gone", &|told| *told == ServedCluster::None).await;

    stop.cancel();
    while running.join_next().await.is_some() {}
    streams.equals_server(&env.admin, TIMEOUT).await.unwrap();
    streams.shutdown();
}

/// A way to the API server on which lists of ConfigMaps are refused for a while.
#[derive(Clone)]
struct Detour {
    server: Client,
    blocked: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
}

impl Detour {
    async fn start(env: &Env) -> (Detour, Config) {
        let server = Client::try_from(env.ns.operator_config().await).unwrap();
        let detour = Detour { server, blocked: Arc::new(AtomicBool::new(true)), refused: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(forward).with_state(detour.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (detour, Config::new(format!("http://{address}").parse().unwrap()))
    }
}

async fn forward(State(detour): State<Detour>, request: Request) -> Response {
    if request.uri().path().ends_with("/configmaps") && detour.blocked.load(Ordering::SeqCst) {
        detour.refused.fetch_add(1, Ordering::SeqCst);
        return http::StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let (mut head, body) = request.into_parts();
    for hop in [http::header::HOST, http::header::CONNECTION, http::header::ACCEPT_ENCODING] {
        head.headers.remove(hop);
    }
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let request = http::Request::from_parts(head, kube::client::Body::from(body.to_vec()));
    match detour.server.send(request).await {
        Ok(answer) => answer.map(axum::body::Body::new),
        Err(_) => http::StatusCode::BAD_GATEWAY.into_response(),
    }
}

#[tokio::test]
async fn a_replica_whose_stores_do_not_fill_does_not_take_the_lease() {
    let env = Env::bare("unsynced").await;
    let (detour, kube) = Detour::start(&env).await;
    let config = RunConfig { sync_timeout: Duration::from_secs(1), ..RunConfig::new(kube, env.ns.name()) };
    let operator = RunningOperator::with(config);
    // The second try comes almost a second after the first one; all other stores are complete long before.
    eventually("ConfigMaps to be asked for in vain", TIMEOUT, || async {
        let refused = detour.refused.load(Ordering::SeqCst);
        (refused >= 3).then_some(()).ok_or(refused)
    })
    .await;
    let leases = env.api::<Lease>();
    let lease = leases.get_opt(LEASE).await.unwrap();
    assert!(lease.is_none(), "taken without complete stores: {:?}", lease.and_then(|lease| lease.spec));

    detour.blocked.store(false, Ordering::SeqCst);
    eventually("the lease to be taken", TIMEOUT, || async {
        let spec = leases.get_opt(LEASE).await.unwrap().and_then(|lease| lease.spec);
        spec.and_then(|spec| spec.holder_identity).filter(|holder| !holder.is_empty()).ok_or("no holder")
    })
    .await;
    operator.stop().await;
}
