//! First key wins.

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use kube::{Resource, ResourceExt};
use serde_json::json;
use testenv::audit::Window;
use testenv::{eventually, objects};
use trusted_crds::{AttestationKey, Machine, condition, names, reason};

use crate::support::{Env, TIMEOUT, fingerprint};

#[tokio::test]
async fn machine_and_key_in_either_order_are_bound_owned_and_delivered() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("binding").await;
    let machine = env.machine("m1").await;
    let key = env.key("k1", Some("m1")).await;
    let early = env.key("k2", Some("m2")).await;
    env.approved("k2", reason::AWAITING_MACHINE).await;
    env.machine("m2").await;
    for (name, id) in [("k1", "m1"), ("k2", "m2")] {
        env.approved(name, reason::MACHINE_CREATED).await;
        env.condition::<Machine>(id, condition::KEY_READY, "True").await;
        env.reason::<Machine>(id, condition::ATTESTATION_KEY_BOUND, reason::BOUND).await;
    }
    env.delivered(&[&key, &early]).await;

    // Who owns a key is written after its status.
    let stored = eventually("the key belongs to its Machine", TIMEOUT, async || {
        let stored = env.api::<AttestationKey>().get("k1").await.unwrap();
        let owners: Vec<_> = stored.owner_references().iter().map(|owner| owner.uid.clone()).collect();
        (owners == [machine.uid().unwrap()]).then_some(stored)
    })
    .await;
    assert_eq!(stored.status.unwrap().fingerprint, Some(fingerprint(&key)));
    let mirrored = env.api::<Machine>().get("m1").await.unwrap().status.unwrap().attestation_key.unwrap();
    assert_eq!((mirrored.name.as_str(), mirrored.fingerprint), ("k1", fingerprint(&key)));

    let binding = env.secret("ak-m1").await.unwrap();
    assert_eq!(binding.annotations()[names::FINGERPRINT_ANNOTATION], fingerprint(&key));
    assert_eq!(binding.owner_references()[0].uid, stored.metadata.uid.unwrap());
    assert_eq!(binding.immutable, None);
    env.finish().await;
}

#[tokio::test]
async fn a_second_key_is_refused_for_good_even_when_the_first_goes() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("second").await;
    env.machine("m").await;
    let first = env.key("first", Some("m")).await;
    env.approved("first", reason::MACHINE_CREATED).await;
    env.key("second", Some("m")).await;
    let conflict = env.approved("second", reason::CONFLICT).await;
    assert!(conflict.message.contains(&fingerprint(&first)), "{}", conflict.message);

    env.delete::<AttestationKey>("first").await;
    env.gone::<AttestationKey>("first").await;
    env.reason::<Machine>("m", condition::ATTESTATION_KEY_BOUND, reason::CONFLICT).await;
    env.delivered(&[]).await;
    assert!(env.secret("ak-m").await.is_none());
    // A fresh key takes the place that the refused one never gets.
    let third = env.key("third", Some("m")).await;
    env.approved("third", reason::MACHINE_CREATED).await;
    env.delivered(&[&third]).await;
    env.approved("second", reason::CONFLICT).await;
    env.finish().await;
}

#[tokio::test]
async fn of_two_keys_at_once_exactly_one_is_trusted() {
    let env = Env::new("race").await;
    let ids: Vec<String> = (0..10).map(|n| format!("m{n}")).collect();
    let pair = |id: &str| [format!("a-{id}"), format!("b-{id}")];
    let create = ids.iter().flat_map(|id| {
        pair(id).map(|name| {
            let env = &env;
            async move { env.key(&name, Some(id)).await }
        })
    });
    futures::future::join_all(create).await;
    futures::future::join_all(ids.iter().map(|id| env.machine(id))).await;
    for id in &ids {
        let bound = env.reason::<Machine>(id, condition::ATTESTATION_KEY_BOUND, reason::BOUND).await;
        let [a, b] = pair(id);
        let api = env.api::<AttestationKey>();
        let reasons = eventually("both keys to be decided", TIMEOUT, || async {
            let told = |key: AttestationKey| {
                condition::find(&key.status?.conditions, "Approved").map(|c| c.reason.clone())
            };
            let mut told = vec![told(api.get(&a).await.unwrap())?, told(api.get(&b).await.unwrap())?];
            told.sort();
            (told == [reason::CONFLICT, reason::MACHINE_CREATED]).then_some(told)
        })
        .await;
        assert_eq!(reasons.len(), 2, "{bound:?}");
    }
    env.finish().await;
}

#[tokio::test]
async fn one_key_serves_one_machine() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("onekey").await;
    env.machine("m1").await;
    env.machine("m2").await;
    let pem = objects::public_key();
    let first = env.create(&objects::attestation_key("k1", Some("m1"), &pem)).await;
    env.approved("k1", reason::MACHINE_CREATED).await;
    env.create(&objects::attestation_key("k2", Some("m2"), &pem)).await;
    let conflict = env.approved("k2", reason::CONFLICT).await;
    assert!(conflict.message.contains("ak-m1"), "{}", conflict.message);
    env.delivered(&[&first]).await;
    env.finish().await;
}

#[tokio::test]
async fn one_key_for_two_machines_at_once_is_bound_once() {
    testenv::needs!(AuditLog);
    let env = Env::new("onekeyrace").await;
    let ids: Vec<[String; 2]> = (0..8).map(|n| [format!("a{n}"), format!("b{n}")]).collect();
    futures::future::join_all(ids.iter().flatten().map(|id| env.machine(id))).await;
    let pems: Vec<String> = ids.iter().map(|_| objects::public_key()).collect();
    let both = ids.iter().zip(&pems).flat_map(|(pair, pem)| pair.iter().map(move |id| (id, pem)));
    let keys = both.map(|(id, pem)| objects::attestation_key(id, Some(id), pem)).collect::<Vec<_>>();
    futures::future::join_all(keys.iter().map(|key| env.create(key))).await;
    let api = env.api::<AttestationKey>();
    for [a, b] in &ids {
        eventually("one to be trusted and one refused", TIMEOUT, || async {
            let told = |key: AttestationKey| {
                condition::find(&key.status?.conditions, "Approved").map(|c| c.reason.clone())
            };
            let mut told = [told(api.get(a).await.unwrap()), told(api.get(b).await.unwrap())];
            told.sort();
            let wanted = [reason::CONFLICT, reason::MACHINE_CREATED].map(|reason| Some(reason.to_owned()));
            (told == wanted).then_some(()).ok_or(format!("{told:?}"))
        })
        .await;
    }
    let work =
        env.ns.control_plane().audit().settled(&env.operator_user(), Window::default()).await.unwrap().work();
    assert_eq!(
        work.count("create", "secrets"),
        16 + 8,
        "a disk key for each machine, one binding for each key"
    );
    assert_eq!(work.count("delete", "secrets"), 0);
    env.finish().await;
}

#[tokio::test]
async fn a_foreign_secret_in_the_place_of_a_binding_is_told_and_left_alone() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("foreignak").await;
    let owner = env
        .create(&objects::approved_image("owner", &format!("example.com/i@sha256:{}", "0".repeat(64))))
        .await;
    for (name, owners) in [("ak-m1", vec![]), ("ak-m2", vec![owner.controller_owner_ref(&()).unwrap()])] {
        let metadata = kube::api::ObjectMeta {
            name: Some(name.into()),
            owner_references: Some(owners),
            ..Default::default()
        };
        env.create(&Secret { metadata, ..Default::default() }).await;
    }
    for id in ["m1", "m2"] {
        env.machine(id).await;
        env.key(id, Some(id)).await;
        let told = env.approved(id, reason::FOREIGN_SECRET).await;
        assert!(told.message.contains(&format!("ak-{id} exists but is not managed")), "{}", told.message);
    }
    env.delivered(&[]).await;

    // It was in the way, and refused nothing.
    env.delete::<Secret>("ak-m1").await;
    env.approved("m1", reason::MACHINE_CREATED).await;
    env.finish().await;
}

#[tokio::test]
async fn a_key_that_is_no_key_is_named_invalid() {
    let env = Env::new("invalid").await;
    env.machine("m").await;
    env.create(&objects::attestation_key("junk", Some("m"), "this is no PEM")).await;
    env.approved("junk", reason::INVALID_KEY).await;
    env.create(&objects::attestation_key("stray", None, "nor is this")).await;
    env.approved("stray", reason::INVALID_KEY).await;
    let bound = env.reason::<Machine>("m", condition::ATTESTATION_KEY_BOUND, reason::NO_KEY).await;
    assert_eq!(bound.status, "False");
    env.finish().await;
}

#[tokio::test]
async fn everything_of_a_machine_goes_with_it_and_comes_back_with_the_next() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("recreate").await;
    for _ in 0..3 {
        let machine = env.machine("m").await;
        let key = env.key("k", Some("m")).await;
        env.approved("k", reason::MACHINE_CREATED).await;
        env.delivered(&[&key]).await;
        env.delete::<Machine>("m").await;
        env.gone::<Machine>("m").await;
        env.gone::<AttestationKey>("k").await;
        env.gone::<Secret>("ak-m").await;
        env.gone::<Secret>("luks-m").await;
        assert!(machine.finalizers().is_empty());
    }
    env.delivered(&[]).await;
    env.finish().await;
}

#[tokio::test]
async fn of_two_machines_with_one_id_the_second_is_told() {
    let env = Env::new("duplicate").await;
    env.create(&objects::machine("first", "same-id")).await;
    env.condition::<Machine>("first", condition::KEY_READY, "True").await;
    env.create(&objects::machine("second", "same-id")).await;
    let told = env.reason::<Machine>("second", condition::KEY_READY, reason::DUPLICATE_ID).await;
    assert!(told.message.contains("first"), "{}", told.message);
    env.delete::<Machine>("first").await;
    env.condition::<Machine>("second", condition::KEY_READY, "True").await;
    env.finish().await;
}

#[tokio::test]
async fn conditions_of_others_stay() {
    let env = Env::new("foreign").await;
    env.machine("m").await;
    let patch = json!({
        "apiVersion": trusted_crds::API_VERSION, "kind": "AttestationKey",
        "status": { "conditions": [{
            "type": "Audited", "status": "True", "reason": "ByHand", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z" }] },
    });
    env.key("k", Some("m")).await;
    let api = env.api::<AttestationKey>();
    api.patch_status("k", &PatchParams::apply("auditor"), &Patch::Apply(&patch)).await.unwrap();
    env.approved("k", reason::MACHINE_CREATED).await;
    let conditions = api.get("k").await.unwrap().status.unwrap().conditions;
    assert!(conditions.iter().any(|condition| condition.type_ == "Audited"), "{conditions:?}");
    env.finish().await;
}
