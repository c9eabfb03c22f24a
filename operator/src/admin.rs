//! The operator's own HTTP endpoints: `/livez`, `/readyz` (names what is missing), `/metrics`, and `/diagnostics` (each
//! store's state and checksum as JSON, without content).

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use cachelib::Running;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// Content type of the Prometheus text format that prometheus-client writes.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves until `stop`.
pub fn serve(
    listener: std::net::TcpListener,
    metrics: Metrics,
    stores: Arc<Running>,
    stop: CancellationToken,
) -> std::io::Result<impl Future<Output = std::io::Result<()>> + Send> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    tracing::info!(address = %listener.local_addr()?, "serving /livez, /readyz, /metrics, /diagnostics");
    let watched = stores.clone();
    let router = Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(async move || readiness(&missing(&watched))))
        .route("/diagnostics", get(async move || Json(stores.diagnostics())))
        .route("/metrics", get(async move || ([(CONTENT_TYPE, METRICS_TYPE)], metrics.text())));
    let server = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
    Ok(async move { server.await })
}

/// What is missing before the operator is ready; nothing when it is.
fn missing(stores: &Running) -> Vec<String> {
    let unready = stores.kinds().into_iter().filter(|kind| kind.required && !kind.readiness.is_synced());
    unready.map(|kind| format!("{}: {}", kind.kind, kind.readiness)).collect()
}

fn readiness(missing: &[String]) -> impl IntoResponse + use<> {
    if missing.is_empty() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("not ready:\n{}\n", missing.join("\n")))
    }
}
