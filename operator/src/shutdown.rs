//! How the process is asked to end, and how it says why it ended.

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};

/// Completes on SIGTERM or SIGINT.
pub async fn requested() {
    let wait = |kind| async move {
        match signal(kind) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(error) => {
                tracing::warn!(%error, "this signal cannot be waited for");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
    }
}

/// Writes an error and its causes to stderr, for the person who started the process.
pub fn report(error: &anyhow::Error) {
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(std::io::stderr(), "Error: {error:#}");
}
