//! Many at once: rivals for a hundred machines, keys that nobody expects, a namespace that ends.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use testenv::{eventually, objects};
use trusted_crds::{AttestationKey, HasConditions, Machine, condition, names, reason};

use crate::support::{Env, TIMEOUT};

const MACHINES: usize = 100;
/// Requests of the test under way at once.
const AT_ONCE: usize = 16;

fn id(n: usize) -> String {
    format!("m-{n}")
}

/// Carries out what a test asks for, a few at once.
async fn all<F: Future<Output = ()>>(requests: impl Iterator<Item = F>) {
    stream::iter(requests).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// Names of the keys that are trusted, by machine; `Err` while one is undecided or a machine has none or two.
async fn trusted(env: &Env) -> Result<BTreeMap<String, String>, String> {
    let keys = env.api::<AttestationKey>().list(&ListParams::default()).await.unwrap();
    let mut trusted = BTreeMap::new();
    for key in keys {
        let (name, machine) = (key.name_any(), key.spec.uuid.clone().unwrap_or_default());
        match key.condition(condition::APPROVED).map(|approved| approved.reason.as_str()) {
            Some(reason::MACHINE_CREATED) => {
                let other = trusted.insert(machine.clone(), name.clone());
                assert_eq!(other, None, "{machine} trusts {name} as well");
            }
            Some(reason::CONFLICT) => {}
            other => return Err(format!("{name}: {other:?}")),
        }
    }
    (trusted.len() == MACHINES).then_some(()).ok_or(format!("{} machines have a key", trusted.len()))?;
    Ok(trusted)
}

#[tokio::test]
async fn of_rivals_for_a_hundred_machines_one_each_is_trusted_for_good() {
    let mut env = Env::new("crowd-rivals").await;
    // Machine, first and second key of each in turn, so that which comes first differs from machine to machine.
    let creates = (0..3 * MACHINES).map(|n| {
        let (env, machine) = (&env, id(n / 3));
        async move {
            match (n + n / 3) % 3 {
                0 => drop(env.machine(&machine).await),
                side => drop(env.key(&format!("{machine}-{side}"), Some(&machine)).await),
            }
        }
    });
    all(creates).await;
    let winners = eventually("one trusted key a machine", 2 * TIMEOUT, || trusted(&env)).await;

    // The same after another one took over.
    env.stop_operator().await;
    env.start_operator().await;
    let sentinel = env.machine("sentinel").await;
    env.condition::<Machine>(&sentinel.name_any(), condition::KEY_READY, "True").await;
    assert_eq!(trusted(&env).await.unwrap(), winners);

    // A rival never follows, not even when the winner goes.
    env.delete::<AttestationKey>(&winners[&id(0)]).await;
    env.gone::<Secret>(&names::binding_secret(&id(0))).await;
    env.reason::<Machine>(&id(0), condition::ATTESTATION_KEY_BOUND, reason::CONFLICT).await;
    env.finish().await;
}

#[tokio::test]
async fn a_namespace_with_a_hundred_machines_goes_within_a_minute() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("crowd-end").await;
    let pairs = (0..MACHINES).map(|n| {
        let (env, machine) = (&env, id(n));
        async move {
            env.machine(&machine).await;
            env.key(&machine, Some(&machine)).await;
        }
    });
    all(pairs).await;
    eventually("one trusted key a machine", 2 * TIMEOUT, || trusted(&env)).await;

    // The operator runs on: it makes nothing anew in a namespace that ends, and keeps nothing from going.
    let namespaces = Api::<Namespace>::all(env.admin.clone());
    namespaces.delete(env.ns.name(), &DeleteParams::background()).await.unwrap();
    eventually("the namespace to be gone", Duration::from_secs(60), || async {
        let left = namespaces.get_opt(env.ns.name()).await.unwrap();
        let told = left.map(|namespace| format!("{:?}", namespace.status));
        told.map_or(Ok(()), Err)
    })
    .await;
    env.finish().await;
}

#[tokio::test]
async fn keys_for_machines_that_nobody_knows_are_not_trusted_and_not_delivered() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("crowd-unknown").await;
    let flood = (0..MACHINES).map(|n| {
        let (env, name) = (&env, format!("flood-{n}"));
        let key = objects::attestation_key(&name, Some(&format!("nobody-{n}")), &objects::public_key());
        async move { drop(env.create(&key).await) }
    });
    all(flood).await;
    env.machine("honest").await;
    let honest = env.key("honest", Some("honest")).await;
    env.approved("honest", reason::MACHINE_CREATED).await;
    env.approved("flood-0", reason::AWAITING_MACHINE).await;
    env.delivered(&[&honest]).await;
    let secrets = env.api::<Secret>().list(&ListParams::default()).await.unwrap();
    let bindings = secrets.iter().filter(|secret| names::is_binding(&secret.name_any())).count();
    assert_eq!(bindings, 1, "nothing is made for keys that nobody expects");
    env.finish().await;
}
