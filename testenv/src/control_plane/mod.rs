//! One running control plane.
//!
//! Purpose: start etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok on free loopback ports,
//! with the manifests of `deploy/` in force, and hand out identities for it.
//!
//! Owns: the processes and the data folder; both go when the value is dropped or this process ends.
//!
//! Must not: keep a kube client. A client's worker lives in the runtime that made it, and each test has its own
//! runtime, so clients are built on request from a [`kube::Config`].

mod components;
mod install;
mod probe;
mod start;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock},
};

use kube::{Client, Config};

use crate::{
    Error, TestNamespace,
    assets::{Assets, Program},
    audit::AuditLog,
    deploy::Deploy,
    identities::Tokens,
    layout::Layout,
    process::{DataDir, Process},
};

/// A control plane of our own. See the module for what it consists of.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: the processes end before their data goes.
    processes: Mutex<Vec<Process>>,
    assets: Assets,
    endpoint: Endpoint,
    tokens: Tokens,
    deploy: Deploy,
    layout: Layout,
    _data: DataDir,
}

/// Where the API server listens, and whom to trust there.
#[derive(Clone, Debug)]
struct Endpoint {
    url: http::Uri,
    authority: Vec<u8>,
}

impl Endpoint {
    fn config(&self, token: &str) -> Config {
        let mut config = Config::new(self.url.clone());
        config.root_cert = Some(vec![self.authority.clone()]);
        config.auth_info.token = Some(token.to_owned().into());
        config
    }
}

impl ControlPlane {
    /// The control plane of this process, started by the first caller. Panics when it cannot be started.
    #[expect(clippy::panic, reason = "a test without a control plane has failed; the panic says why")]
    pub async fn shared() -> &'static ControlPlane {
        match ControlPlane::try_shared().await {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("the control plane cannot be started: {error}"),
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

    /// Starts a control plane and waits until it is ready. Blocks; call it outside of a runtime's own threads.
    pub fn start() -> Result<ControlPlane, Error> {
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
        self.config_for_token(self.user("admin"))
    }

    /// How to reach the API server with some token.
    pub fn config_for_token(&self, token: &str) -> Config {
        self.endpoint.config(token)
    }

    /// The token of one of [`crate::TEST_USERS`]. Panics on any other name.
    #[expect(clippy::panic, reason = "an unknown test user is a mistake in the test")]
    pub fn user(&self, name: &str) -> &str {
        match self.tokens.get(name) {
            Some(token) => token,
            None => panic!("there is no test user {name:?}; see testenv::TEST_USERS"),
        }
    }

    /// Writes a kubeconfig for kubectl and for our own programs. The file goes with the control plane.
    pub fn kubeconfig(&self, name: &str, token: &str, namespace: &str) -> Result<PathBuf, Error> {
        write_kubeconfig(&self.layout, &self.endpoint, name, token, namespace)
    }

    /// The audit log, which knows every request.
    pub fn audit(&self) -> AuditLog {
        AuditLog::new(self.layout.audit_log())
    }

    /// kubectl of the version of this control plane.
    pub fn kubectl(&self) -> PathBuf {
        self.assets.path(Program::Kubectl).to_owned()
    }

    /// The folder with kubectl, for a PATH.
    pub fn assets(&self) -> &Path {
        self.assets.dir()
    }

    /// The API server's address.
    pub fn url(&self) -> String {
        self.endpoint.url.to_string()
    }

    /// The folder with the logs of all parts.
    pub fn logs(&self) -> PathBuf {
        self.layout.logs()
    }

    /// Process ids of all parts, by name.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let processes = self.processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        processes.iter().map(|process| (process.name().to_owned(), process.pid())).collect()
    }

    /// A namespace for one test, with the ServiceAccounts, Roles and RoleBindings of `deploy/rbac`. Panics when it
    /// cannot be made.
    #[expect(clippy::panic, reason = "a test without its namespace has failed; the panic says why")]
    pub async fn namespace(&'static self, prefix: &str) -> TestNamespace {
        match TestNamespace::create(self, prefix).await {
            Ok(namespace) => namespace,
            Err(error) => panic!("no namespace for the test: {error}"),
        }
    }

    /// A namespace of exactly this name, for a demo or a measurement.
    pub async fn named_namespace(&'static self, name: &str) -> Result<TestNamespace, Error> {
        TestNamespace::create_named(self, name.to_owned()).await
    }

    pub(crate) fn deploy(&self) -> &Deploy {
        &self.deploy
    }
}

/// Writes a kubeconfig with one context. Names and tokens are ours and need no quoting beyond JSON's.
fn write_kubeconfig(
    layout: &Layout,
    endpoint: &Endpoint,
    name: &str,
    token: &str,
    namespace: &str,
) -> Result<PathBuf, Error> {
    let path = layout.kubeconfig(name);
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: testenv\nclusters:\n- name: testenv\n  cluster:\n    \
         server: {server}\n    certificate-authority: {authority}\nusers:\n- name: user\n  user:\n    \
         token: {token}\ncontexts:\n- name: testenv\n  context:\n    cluster: testenv\n    user: user\n    \
         namespace: {namespace}\n",
        server = endpoint.url,
        authority = layout.authority().display(),
    );
    fs::write(&path, text).map_err(Error::io(path.clone()))?;
    Ok(path)
}
