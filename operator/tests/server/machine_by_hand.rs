//! What a person decides.

use trusted_crds::{
    ApprovalPolicy, AttestationKey, Decision, Machine, TrustedExecutionCluster, condition, reason,
};

use crate::support::{CLUSTER, Env, fingerprint};

#[tokio::test]
async fn policy_manual_waits_for_a_person_and_obeys() {
    testenv::needs!(SimulatedNodes);
    let env = Env::with_policy("manual", ApprovalPolicy::Manual).await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.approved("k", reason::AWAITING_APPROVAL).await;
    env.reason::<Machine>("m", condition::ATTESTATION_KEY_BOUND, reason::AWAITING_APPROVAL).await;

    env.decide(&key, Some(Decision::Approved)).await;
    env.approved("k", reason::MANUALLY_APPROVED).await;
    env.delivered(&[&key]).await;
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::APPROVAL_PROTECTED, reason::ENFORCED).await;

    env.decide(&key, None).await;
    env.approved("k", reason::WITHDRAWN).await;
    env.delivered(&[]).await;
    assert!(env.secret("ak-m").await.is_none());
    env.finish().await;
}

#[tokio::test]
async fn a_denial_holds_under_any_name_and_survives_the_machine() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("denied").await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.approved("k", reason::MACHINE_CREATED).await;
    env.decide(&key, Some(Decision::Denied)).await;
    env.approved("k", reason::DENIED).await;
    env.delivered(&[]).await;

    // Renamed, and for another machine.
    env.machine("n").await;
    for (name, uuid) in [("again", Some("m")), ("elsewhere", Some("n")), ("nowhere", None)] {
        let copy = testenv::objects::attestation_key(name, uuid, &key.spec.public_key);
        env.create(&copy).await;
        env.approved(name, reason::DENIED).await;
    }
    env.delete::<Machine>("m").await;
    env.gone::<Machine>("m").await;
    let kept = env.api::<AttestationKey>().get("k").await.unwrap();
    assert_eq!(kept.metadata.owner_references.unwrap_or_default(), []);
    env.approved("k", reason::DENIED).await;
    env.finish().await;
}

#[tokio::test]
async fn a_persons_choice_displaces_the_first_key() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("displace").await;
    env.machine("m").await;
    env.key("first", Some("m")).await;
    env.approved("first", reason::MACHINE_CREATED).await;
    let second = env.key("second", Some("m")).await;
    env.approved("second", reason::CONFLICT).await;
    env.decide(&second, Some(Decision::Approved)).await;
    env.approved("second", reason::MANUALLY_APPROVED).await;
    env.approved("first", reason::SUPERSEDED).await;
    env.delivered(&[&second]).await;
    let bound = env.api::<Machine>().get("m").await.unwrap().status.unwrap().attestation_key.unwrap();
    assert_eq!(bound.fingerprint, fingerprint(&second));
    env.finish().await;
}

#[tokio::test]
async fn a_key_without_machine_is_trusted_by_hand() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("nomachine").await;
    let key = env.key("k", None).await;
    env.approved("k", reason::AWAITING_APPROVAL).await;
    let early = env.key("early", Some("not-yet")).await;
    env.decide(&key, Some(Decision::Approved)).await;
    env.decide(&early, Some(Decision::Approved)).await;
    env.approved("k", reason::MANUALLY_APPROVED).await;
    env.approved("early", reason::MANUALLY_APPROVED).await;
    env.delivered(&[&key, &early]).await;
    env.finish().await;
}
