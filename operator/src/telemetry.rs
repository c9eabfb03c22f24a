//! Structured logs on stderr: one line per decision, with object and reason, never a key or a document.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts logging; RUST_LOG overrides what is said. kube logs whole answers of the API server at WARN when it
/// cannot read them, so its client is kept to errors.
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        EnvFilter::new("info,kube_client=error,kube_runtime=error,kube_lease_manager=warn")
    });
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        logs.with_target(false).init();
    } else {
        logs.json().flatten_event(true).init();
    }
}
