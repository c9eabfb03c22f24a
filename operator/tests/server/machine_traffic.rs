//! What the operator costs the API server.

use jiff::Timestamp;
use testenv::audit::Window;
use trusted_crds::{Machine, condition, reason};

use crate::support::Env;

const PAIRS: usize = 20;

#[tokio::test]
async fn a_pair_costs_its_five_writes_and_no_read() {
    let mut env = Env::new("traffic").await;
    let from = Timestamp::now();
    let ids: Vec<String> = (0..PAIRS).map(|n| format!("m{n}")).collect();
    let create = ids.iter().map(async |id| {
        env.machine(id).await;
        env.key(&format!("key-{id}"), Some(id)).await
    });
    let keys = futures::future::join_all(create).await;
    for id in &ids {
        env.reason::<Machine>(id, condition::ATTESTATION_KEY_BOUND, reason::BOUND).await;
    }
    env.delivered(&keys.iter().collect::<Vec<_>>()).await;

    let audit = env.ns.control_plane().audit();
    let work = audit.settled(&env.operator_user(), Window::since(from)).await.unwrap().work();
    let rows = work.by_resource();
    assert_eq!(work.count("get", "*") + work.count("list", "*") + work.count("watch", "*"), 0, "{rows:?}");
    assert_eq!(work.answered(409) + work.answered(422), 0, "{rows:?}");
    assert_eq!(work.count("create", "secrets"), 2 * PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "attestationkeys"), PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "attestationkeys/status"), PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "machines/status"), PAIRS, "{rows:?}");

    // Everything is in place: a restart reads each kind once and writes nothing.
    env.stop_operator().await;
    let from = Timestamp::now();
    env.start_operator().await;
    env.machine("after-restart").await;
    env.condition::<Machine>("after-restart", condition::KEY_READY, "True").await;
    let requests = audit.settled(&env.operator_user(), Window::since(from)).await.unwrap();
    let work = requests.work();
    let rows = work.by_resource();
    assert_eq!(work.count("patch", "attestationkeys/status"), 0, "{rows:?}");
    assert_eq!(work.count("create", "secrets"), 1, "the new disk key alone: {rows:?}");
    let streams = requests.open_watches();
    assert!(streams.values().all(|open| *open == 1), "{streams:?}");
    assert_eq!(streams.len(), 8, "{streams:?}");
}
