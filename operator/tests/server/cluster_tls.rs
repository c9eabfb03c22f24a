//! TLS Secrets: nothing is served without the one that is named.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use testenv::audit::{Group, Window};
use testenv::eventually;
use trusted_crds::names::TLS_HASH_ANNOTATION;
use trusted_crds::{TrustedExecutionCluster, condition, reason};

use crate::children::{DEPLOYMENTS, certificate, cluster};
use crate::support::{CLUSTER, Env, TIMEOUT};

const SECRET: &str = "serving-cert";

async fn with_tls(prefix: &str) -> (Env, TrustedExecutionCluster) {
    let env = Env::without_cluster(prefix).await;
    let made = env
        .create(&cluster(CLUSTER, |spec| {
            for named in [
                &mut spec.trustee_secret,
                &mut spec.register_server_secret,
                &mut spec.attestation_key_register_secret,
            ] {
                *named = Some(SECRET.into());
            }
        }))
        .await;
    (env, made)
}

#[tokio::test]
async fn servers_wait_for_a_complete_secret_and_say_what_is_wrong() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let (env, made) = with_tls("tls").await;
    let started = Timestamp::now();
    let told =
        env.reason::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, reason::TLS_NOT_READY).await;
    assert!(told.message.contains("serving-cert named by trusteeSecret does not exist"), "{}", told.message);
    let told = env.reason::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, reason::INSTALLING).await;
    assert!(told.message.contains("registerServerSecret does not exist"), "{}", told.message);
    env.child_of::<Service>("kbs-service", &made).await;
    let configured = env.child_of::<ConfigMap>("trustee-data", &made).await.data.unwrap();
    assert!(!configured["kbs-config.toml"].contains("insecure_http"));
    assert_eq!(env.api::<Deployment>().list(&Default::default()).await.unwrap().items.len(), 0);

    let (certificate, key) = certificate();
    env.tls_secret(SECRET, &[("tls.crt", &certificate), ("tls.key", "not PEM")]).await;
    eventually("what is wrong with the Secret to be told", TIMEOUT, || async {
        let message = message(&env, condition::TRUSTEE_READY).await;
        message.contains("lacks ca.crt").then_some(()).ok_or(message)
    })
    .await;
    env.edit_secret(json!({"stringData": {"ca.crt": certificate}})).await;
    eventually("the bad PEM to be told", TIMEOUT, || async {
        let message = message(&env, condition::TRUSTEE_READY).await;
        message.contains("no usable PEM in tls.key").then_some(()).ok_or(message)
    })
    .await;
    assert_eq!(env.api::<Deployment>().list(&Default::default()).await.unwrap().items.len(), 0);

    env.edit_secret(json!({"stringData": {"tls.key": key}})).await;
    env.installed(&made).await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, "True").await;
    for name in DEPLOYMENTS {
        let deployment = env.deployment(name).await;
        assert!(
            deployment.to_string().contains(r#""secretName":"serving-cert""#),
            "{name} mounts the Secret"
        );
    }
    // Three versions of the Secret, each used in three places, cost three reads.
    let reads = eventually("the reads in the audit log", TIMEOUT, || async {
        let requests =
            env.ns.control_plane().audit().read(&env.operator_user(), Window::since(started)).unwrap();
        let reads = requests.of_group(Group::Verify).total();
        (reads >= 3).then_some(reads).ok_or_else(|| reads.to_string())
    })
    .await;
    assert_eq!(reads, 3);
    env.finish().await;
}

#[tokio::test]
async fn a_renewed_certificate_restarts_the_servers_and_a_lost_one_does_not() {
    testenv::needs!(SimulatedNodes);
    let (env, made) = with_tls("renewal").await;
    let (old, key) = certificate();
    env.tls_secret(SECRET, &[("tls.crt", &old), ("tls.key", &key), ("ca.crt", &old)]).await;
    env.installed(&made).await;
    let before = env.tls_hashes().await;
    let (new, key) = certificate();
    env.edit_secret(json!({"stringData": {"tls.crt": new, "tls.key": key, "ca.crt": new}})).await;
    eventually("new hashes on all pods", TIMEOUT, || async {
        let now = env.tls_hashes().await;
        now.iter()
            .zip(&before)
            .all(|(now, before)| now != before)
            .then_some(())
            .ok_or_else(|| format!("{now:?}"))
    })
    .await;

    let renewed = env.tls_hashes().await;
    env.delete::<k8s_openapi::api::core::v1::Secret>(SECRET).await;
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, reason::TLS_NOT_READY).await;
    // Keys are still delivered, to a Trustee that goes on with what it has.
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.delivered(&[&key]).await;
    assert_eq!(env.tls_hashes().await, renewed);
    env.finish().await;
}

async fn message(env: &Env, type_: &str) -> String {
    let status = env.cluster().await.status.unwrap_or_default();
    condition::find(&status.conditions, type_).map(|condition| condition.message.clone()).unwrap_or_default()
}

impl Env {
    async fn edit_secret(&self, patch: Value) {
        self.edit::<k8s_openapi::api::core::v1::Secret>(SECRET, patch).await;
    }

    async fn deployment(&self, name: &str) -> Value {
        serde_json::to_value(self.api::<Deployment>().get(name).await.unwrap()).unwrap()
    }

    async fn tls_hashes(&self) -> Vec<String> {
        let mut hashes = Vec::new();
        for name in DEPLOYMENTS {
            let deployment = self.deployment(name).await;
            let hash = &deployment["spec"]["template"]["metadata"]["annotations"][TLS_HASH_ANNOTATION];
            hashes.push(hash.as_str().unwrap().to_owned());
        }
        hashes
    }
}
