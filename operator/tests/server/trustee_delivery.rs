//! What is delivered to Trustee, and how often it is restarted for it.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::jiff::Timestamp;
use testenv::audit::Window;
use testenv::eventually;
use trusted_crds::names::TRUSTEE_DEPLOYMENT;
use trusted_crds::{Decision, Delivered, Machine, reason};

use crate::children::{REPAIR, certificate, cluster};
use crate::support::{CLUSTER, Env, TIMEOUT, fingerprint};

#[tokio::test]
async fn keys_approved_before_there_is_a_trustee_are_in_it_when_it_appears() {
    testenv::needs!(SimulatedNodes);
    let env = Env::without_cluster("early").await;
    // Trustee waits for its certificate; the cluster is served all the same.
    env.create(&cluster(CLUSTER, |spec| spec.trustee_secret = Some("cert".into()))).await;
    let mut keys = Vec::new();
    for id in ["m1", "m2"] {
        env.machine(id).await;
        keys.push(env.key(id, Some(id)).await);
        env.approved(id, reason::MACHINE_CREATED).await;
    }
    let deployments = env.api::<Deployment>();
    assert!(deployments.get_opt(TRUSTEE_DEPLOYMENT).await.unwrap().is_none());
    let (certificate, key) = certificate();
    env.tls_secret("cert", &[("tls.crt", &certificate), ("tls.key", &key), ("ca.crt", &certificate)]).await;
    env.delivered(&[&keys[0], &keys[1]]).await;
    let deployment = deployments.get(TRUSTEE_DEPLOYMENT).await.unwrap();
    assert_eq!(deployment.metadata.generation, Some(1), "they were in it from the start");
    assert!(Delivered::read(&deployment).has_disk_key("m1"));
    env.finish().await;
}

#[tokio::test]
async fn a_burst_of_keys_costs_few_restarts() {
    testenv::needs!(AuditLog, SimulatedNodes);
    const PAIRS: usize = 40;
    /// A window of its own for every key would take forty.
    const FEW: usize = 10;
    let env = Env::new("burst").await;
    env.delivered(&[]).await;
    let started = Timestamp::now();
    let ids: Vec<String> = (0..PAIRS).map(|n| format!("m{n}")).collect();
    futures::future::join_all(ids.iter().map(|id| env.machine(id))).await;
    let keys = futures::future::join_all(ids.iter().map(|id| env.key(id, Some(id)))).await;
    env.delivered(&keys.iter().collect::<Vec<_>>()).await;
    let elapsed = Timestamp::now().duration_since(started).as_secs_f64();
    let deployment = env.api::<Deployment>().get(TRUSTEE_DEPLOYMENT).await.unwrap();
    assert_eq!(Delivered::read(&deployment).disk_keys(), PAIRS);
    let audit = env.ns.control_plane().audit();
    let requests = audit.read(&env.operator_user(), Window::since(started)).unwrap();
    let writes = requests.count("patch", "deployments");
    let windows = (elapsed / 0.5).ceil() as usize;
    assert!((1..=windows.min(FEW)).contains(&writes), "{writes} writes in {elapsed} s");
    assert_eq!((requests.answered(409), requests.answered(422)), (0, 0));
    assert_eq!(requests.work().count("get", "deployments"), 0);
    env.finish().await;
}

#[tokio::test]
async fn what_is_taken_back_leaves_trustee() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("takenback").await;
    let mut keys = Vec::new();
    for id in ["m1", "m2", "m3"] {
        env.machine(id).await;
        keys.push(env.key(id, Some(id)).await);
    }
    env.delivered(&[&keys[0], &keys[1], &keys[2]]).await;
    env.decide(&keys[0], Some(Decision::Denied)).await;
    env.delivered(&[&keys[1], &keys[2]]).await;
    env.delete::<Machine>("m2").await;
    env.delivered(&[&keys[2]]).await;
    let delivered = Delivered::read(&env.api::<Deployment>().get(TRUSTEE_DEPLOYMENT).await.unwrap());
    assert!(delivered.has_disk_key("m1"), "a denied key is no reason to lose the disk");
    assert!(!delivered.has_disk_key("m2"));
    env.finish().await;
}

#[tokio::test]
async fn a_deleted_trustee_comes_back_with_all_its_keys() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("comeback").await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.delivered(&[&key]).await;
    env.delete::<Deployment>(TRUSTEE_DEPLOYMENT).await;
    let api = env.api::<Deployment>();
    let first = eventually("Trustee to be made anew", REPAIR, || async {
        let deployment = api.get_opt(TRUSTEE_DEPLOYMENT).await.unwrap()?;
        deployment.metadata.deletion_timestamp.is_none().then_some(deployment)
    })
    .await;
    assert!(Delivered::read(&first).has_key(&fingerprint(&key).parse().unwrap()));
    assert!(Delivered::read(&first).has_disk_key("m"));
    env.finish().await;
}

#[tokio::test]
async fn a_rollout_that_hangs_does_not_hold_up_a_revocation_for_long() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("hanging").await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.delivered(&[&key]).await;
    // No node has what the new pods ask for, so no rollout comes to an end from here on.
    let selector = serde_json::json!({"spec": {"template": {"spec": {"nodeSelector": {"no": "such-node"}}}}});
    env.edit::<Deployment>(TRUSTEE_DEPLOYMENT, selector).await;
    env.machine("m2").await;
    let second = env.key("k2", Some("m2")).await;
    let in_template = |wanted: bool| {
        let (api, id) = (env.api::<Deployment>(), fingerprint(&second));
        async move {
            eventually("the template to follow", TIMEOUT, || async {
                let delivered = Delivered::read(&api.get(TRUSTEE_DEPLOYMENT).await.unwrap());
                (delivered.has_key(&id.parse().unwrap()) == wanted && !delivered.rolled_out).then_some(())
            })
            .await;
        }
    };
    in_template(true).await;
    let denied = std::time::Instant::now();
    env.decide(&second, Some(Decision::Denied)).await;
    in_template(false).await;
    assert!(denied.elapsed() < Duration::from_secs(8), "{:?}", denied.elapsed());
    env.finish().await;
}
