//! One running control plane.
//!
//! Purpose: start etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok on free loopback ports, or
//! take the cluster of `TRUSTED_TEST_KUBECONFIG` instead; with the manifests of `deploy/` in force; and hand out
//! identities for it.
//!
//! Owns: the processes, or what this process made in the cluster, and the data folder; all go when the value is
//! dropped or this process ends.
//!
//! Must not: keep a kube client. A client's worker lives in the runtime that made it, and each test has its own
//! runtime, so clients are built on request from a [`kube::Config`].

mod components;
mod existing;
mod install;
mod probe;
mod start;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    sync::{Mutex, OnceLock},
};

use kube::{Client, Config};

use crate::{
    Error, TestNamespace,
    assets::Assets,
    audit::AuditLog,
    deploy::Deploy,
    endpoint::{Endpoint, Given},
    existing_cluster,
    identities::{ADMIN, Run, Tokens},
    layout::Layout,
    process::{Afterwards, DataDir, Process},
};

/// A control plane. See the module for what it consists of.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: the processes end before their data goes.
    ground: Ground,
    kubectl: PathBuf,
    endpoint: Endpoint,
    run: Run,
    tokens: Tokens,
    deploy: Deploy,
    layout: Layout,
    _data: DataDir,
}

/// What a control plane stands on.
#[derive(Debug)]
enum Ground {
    /// Processes of our own.
    Own { processes: Mutex<Vec<Process>> },
    /// A cluster that was there before; what we make in it is removed at the end.
    Existing { given: Given, _removal: Afterwards },
}

impl ControlPlane {
    /// The control plane of this process, made ready by the first caller. Panics when there is none.
    #[expect(clippy::panic, reason = "a test without a control plane has failed; the panic says why")]
    pub async fn shared() -> &'static ControlPlane {
        match ControlPlane::try_shared().await {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("there is no control plane: {error}"),
        }
    }

    /// Like [`ControlPlane::shared`], with an error instead of a panic.
    pub async fn try_shared() -> Result<&'static ControlPlane, Error> {
        static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
        let (answer, ready) = tokio::sync::oneshot::channel();
        // Starting blocks and uses a runtime of its own, so it must not happen on a thread of the caller's.
        std::thread::spawn(move || {
            let _ = answer.send(SHARED.get_or_init(ControlPlane::start));
        });
        let shared = ready.await.map_err(|_| Error::Start("it was cut off by a panic".to_owned()))?;
        shared.as_ref().map_err(|error| Error::Start(error.to_string()))
    }

    /// Starts a control plane, or takes the one of `TRUSTED_TEST_KUBECONFIG`, and waits until it is ready. Blocks; call
    /// it outside of a runtime's own threads.
    pub fn start() -> Result<ControlPlane, Error> {
        // Another crate of the test binary may have installed a provider already; both are ring.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if let Some(kubeconfig) = existing_cluster() {
            return existing::connect(&kubeconfig);
        }
        let assets = Assets::find()?;
        match start::attempt(&assets) {
            // A free port may be taken by somebody else before the component binds it; that happens once in a
            // long while, so a second attempt settles it and a real defect shows itself again.
            Err(Error::Component { .. }) => start::attempt(&assets),
            outcome => outcome,
        }
    }

    /// A new client with all rights, for the calling runtime.
    #[expect(clippy::panic, reason = "a test without a client has failed; the panic says why")]
    pub fn admin(&self) -> Client {
        match Client::try_from(self.admin_config()) {
            Ok(client) => client,
            Err(error) => panic!("no client for the test control plane: {error}"),
        }
    }

    /// How to reach the API server with all rights.
    pub fn admin_config(&self) -> Config {
        self.endpoint.admin()
    }

    /// How to reach the API server with some token.
    pub fn config_for_token(&self, token: &str) -> Config {
        self.endpoint.with_token(token)
    }

    /// How one of [`crate::TEST_USERS`] reaches the API server. Panics on any other name.
    pub fn user_config(&self, user: &str) -> Config {
        if user == ADMIN { self.admin_config() } else { self.config_for_token(self.token(user)) }
    }

    /// What the API server calls one of [`crate::TEST_USERS`]. Other names are told as they are.
    pub fn user_name<'a>(&'a self, user: &'a str) -> &'a str {
        self.run.user_name(user)
    }

    /// A value for KUBECONFIG with which kubectl and our own programs act as one of [`crate::TEST_USERS`], in this
    /// namespace. `name` names a file, which goes with the control plane.
    pub fn user_kubeconfig(&self, name: &str, user: &str, namespace: &str) -> Result<OsString, Error> {
        match &self.ground {
            Ground::Existing { given, .. } if user == ADMIN => {
                given.in_namespace(&self.layout.kubeconfig(name), namespace)
            }
            _ => self.kubeconfig(name, self.token(user), namespace).map(PathBuf::into_os_string),
        }
    }

    /// Writes a kubeconfig for kubectl and for our own programs. The file goes with the control plane.
    pub fn kubeconfig(&self, name: &str, token: &str, namespace: &str) -> Result<PathBuf, Error> {
        let path = self.layout.kubeconfig(name);
        self.endpoint.write_kubeconfig(&path, token, namespace).map(|()| path)
    }

    #[expect(clippy::panic, reason = "an unknown test user is a mistake in the test")]
    fn token(&self, user: &str) -> &str {
        match self.tokens.get(user) {
            Some(token) => token,
            None => panic!("there is no test user {user:?}; see testenv::TEST_USERS"),
        }
    }

    /// The audit log, which knows every request. Panics where there is none; see [`crate::needs!`].
    #[expect(clippy::panic, reason = "a test that reads the audit log must say so; the panic says how")]
    pub fn audit(&self) -> AuditLog {
        match self.try_audit() {
            Some(audit) => audit,
            None => panic!("a cluster of others shows no audit log: say testenv::needs!(AuditLog)"),
        }
    }

    /// The audit log of a control plane of our own.
    pub fn try_audit(&self) -> Option<AuditLog> {
        matches!(self.ground, Ground::Own { .. }).then(|| AuditLog::new(self.layout.audit_log()))
    }

    /// kubectl, of the version of a control plane of our own.
    pub fn kubectl(&self) -> PathBuf {
        self.kubectl.clone()
    }

    /// The API server's address.
    pub fn url(&self) -> String {
        self.endpoint.admin().cluster_url.to_string()
    }

    /// The folder with the logs of all parts.
    pub fn logs(&self) -> PathBuf {
        self.layout.logs()
    }

    /// Process ids of all parts of our own, by name.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let Ground::Own { processes } = &self.ground else { return Vec::new() };
        let processes = processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        processes.iter().map(|process| (process.name().to_owned(), process.pid())).collect()
    }

    /// A namespace for one test, with the ServiceAccounts, Roles and RoleBindings of `deploy/rbac`. Panics when it
    /// cannot be made.
    #[expect(clippy::panic, reason = "a test without its namespace has failed; the panic says why")]
    pub async fn namespace(&'static self, prefix: &str) -> TestNamespace {
        match self.try_namespace(prefix).await {
            Ok(namespace) => namespace,
            Err(error) => panic!("no namespace for the test: {error}"),
        }
    }

    /// Like [`ControlPlane::namespace`], with an error instead of a panic.
    pub async fn try_namespace(&'static self, prefix: &str) -> Result<TestNamespace, Error> {
        TestNamespace::create(self, prefix).await
    }

    /// A namespace for a demo or a measurement: of exactly this name on a control plane of our own; in a cluster of
    /// others, where it may be taken, with a random end.
    pub async fn named_namespace(&'static self, name: &str) -> Result<TestNamespace, Error> {
        match self.ground {
            Ground::Own { .. } => TestNamespace::create_named(self, name.to_owned()).await,
            Ground::Existing { .. } => TestNamespace::create(self, name).await,
        }
    }

    /// Labels for what a test makes outside of its namespace, so that it goes with this process in any case.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.run.labels()
    }

    pub(crate) fn deploy(&self) -> &Deploy {
        &self.deploy
    }
}

/// A runtime for the time until the control plane is ready.
fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().map_err(Error::io("a runtime for the start"))
}
