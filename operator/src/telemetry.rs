//! Structured logs on stderr: one line per decision, with object and reason, never a key or a document.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{EnvFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

/// What is said unless RUST_LOG asks for something else.
const DEFAULT: &str = "info,kube_lease_manager=warn";

/// Crates that log whole answers of the API server at WARN when they cannot read them, and more below. Whatever
/// RUST_LOG asks for, they are kept to errors.
const KEPT_TO_ERRORS: [&str; 2] = ["kube_client", "kube_runtime"];

/// Starts logging; RUST_LOG overrides what is said.
pub fn start() {
    let asked = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let asked_filter = filter(&asked);
    let unreadable = asked_filter.as_ref().err().map(ToString::to_string);
    let logs = tracing_subscriber::registry()
        .with(asked_filter.unwrap_or_else(|_| EnvFilter::new(DEFAULT)).and_then(limits()));
    let lines = fmt::layer().with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        logs.with(lines.with_target(false)).init();
    } else {
        logs.with(lines.json().flatten_event(true)).init();
    }
    if let Some(error) = unreadable {
        tracing::warn!(error, "RUST_LOG is no filter and is passed over");
    }
}

/// What RUST_LOG, or its absence, asks for.
fn filter(asked: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::try_new(if asked.trim().is_empty() { DEFAULT } else { asked })
}

/// What is not said whatever is asked for. A filter of its own, since a directive of RUST_LOG that names a module or
/// a span would be more special than any added to it.
fn limits() -> impl Layer<Registry> {
    Targets::new()
        .with_default(LevelFilter::TRACE)
        .with_targets(KEPT_TO_ERRORS.map(|target| (target, LevelFilter::ERROR)))
}

#[cfg(test)]
mod tests;
