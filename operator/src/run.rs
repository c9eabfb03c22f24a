//! `trusted-operator run`: preflight, stores, lease, controllers, and an orderly end.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use cachelib::{Options, RequestCounter, Running};
use kube::Config;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::context::{Context, Images};
use crate::controllers;
use crate::events::Events;
use crate::facts::Facts;
use crate::lease::{self, Leadership, Tenure};
use crate::metrics::Metrics;
use crate::preflight::PreflightError;
use crate::writer::Writer;
use crate::{admin, caches, preflight};

/// Sent with every request, so that the audit log can tell us apart.
pub const USER_AGENT: &str = concat!("trusted-operator/", env!("CARGO_PKG_VERSION"));

/// What `run` needs to know.
#[derive(Debug)]
pub struct RunConfig {
    /// How to reach the API server, and as whom.
    pub kube: Config,
    /// The one namespace that is served.
    pub namespace: String,
    /// How long the stores may take to fill before the cause is reported.
    pub sync_timeout: Duration,
    /// How often a watch has to prove that it still shows what happens, one kind after the other; `None` for never.
    pub canary_period: Option<Duration>,
    /// Where to serve health and metrics, if at all. It listens already: an address in use is told before all else,
    /// and whoever asked for any free port knows which it is.
    pub http: Option<TcpListener>,
    /// How long the lease lives without renewal; whole seconds, at least 3.
    pub lease_duration: Duration,
    /// Images of the workloads to install.
    pub images: Images,
}

impl RunConfig {
    /// The defaults of the command line, for `namespace`.
    pub fn new(kube: Config, namespace: impl Into<String>) -> Self {
        RunConfig {
            kube,
            namespace: namespace.into(),
            sync_timeout: DEFAULT_SYNC_TIMEOUT,
            canary_period: Some(DEFAULT_CANARY_PERIOD),
            http: None,
            lease_duration: lease::DURATION,
            images: Images::from_env(),
        }
    }
}

/// Long enough for 200,000 objects on a slow network.
pub const DEFAULT_SYNC_TIMEOUT: Duration = Duration::from_secs(120);

/// Twelve requests an hour.
pub const DEFAULT_CANARY_PERIOD: Duration = Duration::from_secs(300);

/// Why `run` ended, if not because it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    #[error("no client for the API server: {0}")]
    Client(#[from] cachelib::ClientError),
    #[error("stores: {0}")]
    Stores(#[from] cachelib::BuildError),
    #[error("cannot serve health and metrics: {0}")]
    Admin(#[source] std::io::Error),
    #[error("lease {name}: {0}", name = crate::lease::LEASE)]
    Lease(#[from] kube_lease_manager::LeaseManagerError),
    #[error("the lease was lost; another operator may be working. Ending, to be started anew as a standby")]
    LeaseLost,
    #[error("controller {0} ended by itself")]
    ControllerEnded(&'static str),
}

/// Serves `config.namespace` until `shutdown`.
pub async fn run(config: RunConfig, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
    let server = config.kube.cluster_url.to_string();
    let counter = RequestCounter::default();
    let clients = cachelib::clients(config.kube.clone(), USER_AGENT, &counter)?;
    preflight::check(&clients.request, &server, &config.namespace).await?;

    let (sync_timeout, canary) = (config.sync_timeout, config.canary_period);
    let options = Options { sync_timeout, canary, ..Options::default() };
    let (caches, streams) = caches::start(clients.watch.clone(), &config.namespace, options)?;
    let streams = Arc::new(streams);
    let stop = CancellationToken::new();
    let events = Events::start(clients.request.clone());
    let metrics = Metrics::new(counter, list_stores(&streams), events.dropped());
    serve_admin(config.http, &metrics, &streams, &stop).map_err(RunError::Admin)?;
    let tenure = Tenure::default();
    let writer = Writer::new(
        clients.request.clone(),
        config.namespace.clone(),
        caches.clone(),
        tenure.clone(),
        events,
    );
    let ctx = Arc::new(Context {
        caches,
        writer,
        facts: Facts::default(),
        namespace: config.namespace.clone(),
        images: config.images,
    });
    let mut leadership = None;
    let mut running = JoinSet::new();
    let lead = async {
        wait_for_stores(&streams).await;
        // A replica that cannot fill its stores must not keep the lease from one that can.
        let namespace = &config.namespace;
        let joined = Leadership::join(&clients, namespace, config.lease_duration, tenure).await?;
        lead(&ctx, leadership.insert(joined), &mut running, &metrics, &stop).await
    };
    let ended = tokio::select! {
        () = shutdown => Ok(()),
        ended = lead => ended,
    };
    tracing::info!("stopping");
    stop.cancel();
    while running.join_next().await.is_some() {}
    streams.shutdown();
    if let Some(leadership) = leadership {
        leadership.release().await;
    }
    ended
}

/// Waits for the lease, then works until it is lost. Ends only with an error.
async fn lead(
    ctx: &Arc<Context>,
    leadership: &mut Leadership,
    running: &mut JoinSet<&'static str>,
    metrics: &Metrics,
    stop: &CancellationToken,
) -> Result<(), RunError> {
    if !leadership.acquired().await? {
        return Err(RunError::LeaseLost);
    }
    tracing::info!("lease held, stores complete: working");
    metrics.leads(true);
    controllers::spawn(running, ctx, metrics, stop);
    tokio::select! {
        () = leadership.lost() => Err(RunError::LeaseLost),
        Some(ended) = running.join_next() => Err(RunError::ControllerEnded(ended.unwrap_or("after a panic"))),
    }
}

/// No controller runs on incomplete stores. The streams go on trying, however long it takes; what keeps them is
/// said each time the timeout has passed.
async fn wait_for_stores(streams: &Running) {
    while let Err(error) = streams.ready().await {
        tracing::error!(%error, "not ready: stores are incomplete, still trying");
    }
}

fn serve_admin(
    http: Option<TcpListener>,
    metrics: &Metrics,
    streams: &Arc<Running>,
    stop: &CancellationToken,
) -> std::io::Result<()> {
    let Some(listener) = http else { return Ok(()) };
    let server = admin::serve(listener, metrics.clone(), streams.clone(), stop.clone())?;
    tokio::spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "health and metrics are no longer served");
        }
    });
    Ok(())
}

fn list_stores(streams: &Arc<Running>) -> crate::metrics::ListStores {
    let streams = streams.clone();
    Arc::new(move || streams.kinds())
}
