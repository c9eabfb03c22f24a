use std::io::Write;
use std::sync::Arc;

use parking_lot::Mutex;

use super::*;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a line of code is of interest is remembered for the whole process while subscribers come and go.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What is said of some events if RUST_LOG asks for this.
fn said(asked: &str) -> String {
    let _alone = ONE_AT_A_TIME.lock();
    let lines = Lines::default();
    let writer = lines.clone();
    let logs = tracing_subscriber::registry()
        .with(filter(asked).unwrap().and_then(limits()))
        .with(fmt::layer().with_ansi(false).with_writer(move || writer.clone()));
    tracing::subscriber::with_default(logs, || {
        let request = tracing::info_span!(target: "kube_client::client", "HTTP");
        let _in_a_request = request.entered();
        tracing::warn!(target: "kube_client::client", "answer with everything");
        tracing::warn!(target: "kube_runtime::watcher", "event with everything");
        tracing::error!(target: "kube_client::client", "broken");
        tracing::info!(target: "kube_lease_manager", "still leader");
        tracing::info!(target: "trusted_operator::run", "working");
        tracing::debug!(target: "trusted_operator::writer", "written");
    });
    let bytes = lines.0.lock().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn answers_of_the_api_server_are_never_logged() {
    let all = [
        "",
        " ",
        "info",
        "trace",
        "debug,trusted_operator=trace",
        "kube_client=trace,kube_runtime=debug",
        "kube_client::client=warn,kube_runtime::watcher=trace",
        "[HTTP]=trace",
        "kube_client[HTTP]=trace",
    ];
    for asked in all {
        let said = said(asked);
        assert!(!said.contains("with everything"), "RUST_LOG={asked}: {said}");
    }
}

#[test]
fn the_rest_is_as_it_was_asked_for() {
    let default = said("");
    assert!(default.contains("working") && default.contains("broken"), "{default}");
    assert!(!default.contains("written") && !default.contains("still leader"), "{default}");
    assert!(said("trusted_operator=debug").contains("written"));
    assert!(said("trace").contains("still leader"));
    assert!(!said("error").contains("working"));
    assert!(filter("trusted_operator=loud").is_err());
}
