//! The operator as a process, with faults between it and the API server: a selection of `cargo scenario faults`.

use std::path::Path;

use testenv::{ControlPlane, plans, shuffle};

#[tokio::test]
async fn whatever_happens_on_the_way_the_end_is_the_same() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let operator = Path::new(env!("CARGO_BIN_EXE_trusted-operator"));
    let seed = shuffle::some_seed();
    let report = plans::selection(ControlPlane::shared().await, operator, seed).await.unwrap();
    assert!(report.holds(), "{report}");
}
