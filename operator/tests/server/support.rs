//! A namespace with a running operator, and what tests ask of it.

use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use testenv::faults::FaultProxy;
use testenv::{ControlPlane, TestNamespace, eventually, objects, stores};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use trusted_crds::{
    ApprovalPolicy, AttestationKey, Condition, Decision, Delivered, HasConditions, Machine,
    TrustedExecutionCluster, condition, names,
};
use trusted_operator::{RunConfig, RunError};

pub const TIMEOUT: Duration = Duration::from_secs(30);
pub const CLUSTER: &str = "trusted";
/// How many stores an operator has.
const KINDS: usize = 8;

/// A namespace, and the operator that serves it while this lives.
pub struct Env {
    pub ns: TestNamespace,
    pub admin: Client,
    operator: Option<RunningOperator>,
}

pub struct RunningOperator {
    http: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<Result<(), RunError>>,
}

impl RunningOperator {
    pub async fn start(ns: &TestNamespace) -> Self {
        Self::with(RunConfig::new(ns.operator_config().await, ns.name()))
    }

    pub fn with(config: RunConfig) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let http = listener.local_addr().unwrap();
        let config = RunConfig { http: Some(listener), ..config };
        // RUST_LOG shows what the operators of a failing test say.
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
        let stop = CancellationToken::new();
        let run = trusted_operator::run(config, stop.clone().cancelled_owned());
        // A test that waits for an operator in vain shows why it ended.
        let task =
            tokio::spawn(async { run.await.inspect_err(|error| tracing::error!(%error, "operator ended")) });
        RunningOperator { http, stop, task }
    }

    /// The body of its answer to a GET, once there is one.
    pub async fn ask(&self, path: &str) -> Option<String> {
        let mut connection = TcpStream::connect(self.http).await.ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.http);
        connection.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.ok()?;
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
    }

    /// Ends it. Before that, every store must come to hold exactly what the API server holds.
    pub async fn stop(self) {
        let admin = ControlPlane::shared().await.admin();
        let stores = stores::equal_server(self.http, &admin, TIMEOUT).await.unwrap();
        assert_eq!(stores, KINDS);
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }

    /// How it ends by itself.
    pub async fn ended(self) -> Result<(), RunError> {
        tokio::time::timeout(TIMEOUT, self.task).await.unwrap().unwrap()
    }
}

impl Env {
    /// A namespace without operator or cluster.
    pub async fn bare(prefix: &str) -> Env {
        let cp = ControlPlane::shared().await;
        let ns = cp.namespace(prefix).await;
        Env { ns, admin: cp.admin(), operator: None }
    }

    /// A namespace with an operator and no cluster.
    pub async fn without_cluster(prefix: &str) -> Env {
        let mut env = Env::bare(prefix).await;
        env.start_operator().await;
        env
    }

    /// A namespace with an operator and an installed cluster of this policy.
    pub async fn with_policy(prefix: &str, policy: ApprovalPolicy) -> Env {
        let env = Env::without_cluster(prefix).await;
        env.install(policy).await;
        env
    }

    /// The same, whose operator reaches the API server through a proxy.
    pub async fn behind_proxy(prefix: &str, policy: ApprovalPolicy) -> (Env, FaultProxy) {
        let mut env = Env::bare(prefix).await;
        let proxy = FaultProxy::start(env.ns.control_plane());
        let config = proxy.config(&env.ns.operator_config().await);
        env.start_operator_as(config);
        env.install(policy).await;
        (env, proxy)
    }

    async fn install(&self, policy: ApprovalPolicy) {
        let mut cluster = objects::cluster(CLUSTER);
        cluster.spec.attestation_key_approval = Some(policy);
        self.create(&cluster).await;
        self.condition::<TrustedExecutionCluster>(CLUSTER, "Installed", "True").await;
    }

    pub async fn new(prefix: &str) -> Env {
        Env::with_policy(prefix, ApprovalPolicy::Automatic).await
    }

    pub async fn start_operator(&mut self) {
        self.operator = Some(RunningOperator::start(&self.ns).await);
    }

    /// An operator with a way of its own to the API server.
    pub fn start_operator_as(&mut self, kube: kube::Config) {
        self.operator = Some(RunningOperator::with(RunConfig::new(kube, self.ns.name())));
    }

    pub fn operator(&self) -> &RunningOperator {
        self.operator.as_ref().unwrap()
    }

    pub async fn stop_operator(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.stop().await;
        }
    }

    /// Ends a test: what the stores hold must be true.
    pub async fn finish(mut self) {
        self.stop_operator().await;
    }

    pub fn operator_user(&self) -> String {
        self.ns.service_account_user(names::OPERATOR_SERVICE_ACCOUNT)
    }

    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    {
        Api::namespaced(self.admin.clone(), self.ns.name())
    }

    pub async fn create<K>(&self, object: &K) -> K
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + Debug
            + Serialize
            + DeserializeOwned,
    {
        self.api::<K>().create(&PostParams::default(), object).await.unwrap()
    }

    pub async fn delete<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        self.api::<K>().delete(name, &DeleteParams::background()).await.unwrap();
    }

    pub async fn machine(&self, id: &str) -> Machine {
        self.create(&objects::machine(id, id)).await
    }

    /// A fresh key registered for `uuid`.
    pub async fn key(&self, name: &str, uuid: Option<&str>) -> AttestationKey {
        self.create(&objects::attestation_key(name, uuid, &objects::public_key())).await
    }

    /// Writes or removes a person's decision, as somebody who may.
    pub async fn decide(&self, key: &AttestationKey, decision: Option<Decision>) {
        let (approver, by) = (self.ns.as_user("approver"), self.ns.user_name("approver"));
        let approval = decision
            .map(|decision| json!({ "decision": decision, "fingerprint": fingerprint(key), "by": by }));
        let patch = json!({ "spec": { "approval": approval } });
        Api::<AttestationKey>::namespaced(approver, self.ns.name())
            .patch(&key.name_any(), &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .unwrap();
    }

    /// Waits for `Approved` with this reason.
    pub async fn approved(&self, name: &str, reason: &str) -> Condition {
        self.reason::<AttestationKey>(name, condition::APPROVED, reason).await
    }

    /// Waits for a condition with this reason.
    pub async fn reason<K>(&self, name: &str, type_: &str, reason: &str) -> Condition
    where
        K: Conditioned,
    {
        let api = self.api::<K>();
        eventually(&format!("{name}: {type_} with reason {reason}"), TIMEOUT, || async {
            let found = conditions(&api, name).await;
            let wanted = found.iter().find(|c| c.type_ == type_ && c.reason == reason).cloned();
            wanted.ok_or_else(|| format!("{found:?}"))
        })
        .await
    }

    /// Waits for a condition with this status.
    pub async fn condition<K>(&self, name: &str, type_: &str, status: &str) -> Condition
    where
        K: Conditioned,
    {
        let api = self.api::<K>();
        eventually(&format!("{name}: {type_} to be {status}"), TIMEOUT, || async {
            let found = conditions(&api, name).await;
            let wanted = found.iter().find(|c| c.type_ == type_ && c.status == status).cloned();
            wanted.ok_or_else(|| format!("{found:?}"))
        })
        .await
    }

    /// Waits until an object is gone.
    pub async fn gone<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let api = self.api::<K>();
        eventually(&format!("{} {name} to be gone", K::kind(&())), TIMEOUT, || async {
            api.get_opt(name).await.unwrap().is_none().then_some(())
        })
        .await;
    }

    /// Waits until `/readyz` or `/metrics` says this.
    pub async fn told(&self, path: &str, what: &str) -> String {
        eventually(&format!("{path} to say {what}"), TIMEOUT, || async {
            let text = self.operator().ask(path).await.ok_or("no answer")?;
            if text.contains(what) { Ok(text) } else { Err("something else") }
        })
        .await
    }

    /// Waits until a pass of this controller has ended so.
    pub async fn reconciled(&self, controller: &str, result: &str) {
        let series = format!(r#"reconciles_total{{controller="{controller}",result="{result}"}}"#);
        self.told("/metrics", &series).await;
    }

    pub async fn secret(&self, name: &str) -> Option<Secret> {
        self.api::<Secret>().get_opt(name).await.unwrap()
    }

    /// Waits until Trustee runs with exactly these keys.
    pub async fn delivered(&self, keys: &[&AttestationKey]) {
        let api = self.api::<Deployment>();
        eventually("Trustee to run with the keys", TIMEOUT, || async {
            let deployment = api.get_opt(names::TRUSTEE_DEPLOYMENT).await.unwrap().ok_or("no Deployment")?;
            let delivered = Delivered::read(&deployment);
            let held = |key: &&AttestationKey| delivered.has_key(&fingerprint(key).parse().unwrap());
            let all = keys.iter().all(held) && delivered.attestation_keys() == keys.len();
            let told = format!("rolled out: {}, {} keys", delivered.rolled_out, delivered.attestation_keys());
            (delivered.rolled_out && all).then_some(()).ok_or(told)
        })
        .await;
    }
}

/// A test that has passed has compared the stores with the API server.
impl Drop for Env {
    fn drop(&mut self) {
        let is_compared = self.operator.is_none() || std::thread::panicking();
        assert!(is_compared, "a test with an operator ends with Env::finish");
    }
}

/// A kind whose conditions tests wait for.
pub trait Conditioned:
    Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + HasConditions
{
}

impl Conditioned for TrustedExecutionCluster {}
impl Conditioned for Machine {}
impl Conditioned for AttestationKey {}

async fn conditions<K: Conditioned>(api: &Api<K>, name: &str) -> Vec<Condition> {
    api.get_opt(name).await.unwrap().map(|object| object.conditions().to_vec()).unwrap_or_default()
}

pub fn fingerprint(key: &AttestationKey) -> String {
    key.public_key().unwrap().fingerprint().to_string()
}
