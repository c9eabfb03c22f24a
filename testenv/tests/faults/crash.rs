//! The moment after a write in which a process dies.

use kube::api::PostParams;
use testenv::{ControlPlane, faults::Match};

use crate::support::{SILENCE, Scene, client, names, secret};

#[tokio::test]
async fn a_process_dies_after_its_second_write_and_leaves_exactly_two() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("crash").await;
    let crash = scene.proxy.on(Match::write("secrets")).nth(2).crash_point();
    let api = scene.api.clone();
    let process = tokio::spawn(async move {
        for name in ["a", "b", "c", "d"] {
            api.create(&PostParams::default(), &secret(name)).await.unwrap();
        }
    });
    crash.hit(1).await;
    assert!(!process.is_finished(), "the second answer is withheld");
    let written =
        || async { names(&scene.direct.list(&kube::api::ListParams::default()).await.unwrap().items) };
    assert_eq!(written().await, ["a", "b"]);

    // Another request of the process does not get through any more.
    let control_plane = ControlPlane::shared().await;
    let other = kube::Api::namespaced(client(&scene.proxy, control_plane), scene.namespace.name());
    let late = tokio::spawn(async move { other.create(&PostParams::default(), &secret("late")).await });
    scene.proxy.wait_for("the late request", |log| log.count("create", "secrets") == 3).await;
    tokio::time::sleep(SILENCE).await;
    assert!(!late.is_finished());

    process.abort();
    crash.lift();
    late.await.unwrap().expect_err("what was kept is cut, not sent");
    assert_eq!(written().await, ["a", "b"]);
    scene.api.create(&PostParams::default(), &secret("c")).await.expect("the next process gets through");
    assert_eq!(written().await, ["a", "b", "c"]);
}
