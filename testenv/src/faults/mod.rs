//! A proxy in front of the API server that shows what a network or an API server may do.
//!
//! Purpose: put one process under test behind a [`FaultProxy`] and everybody else not, and say in the test what goes
//! wrong for that process:
//!
//! ```no_run
//! use testenv::{ControlPlane, faults::FaultProxy};
//!
//! # async fn test() -> Result<(), kube::Error> {
//! let control_plane = ControlPlane::shared().await;
//! let proxy = FaultProxy::start(control_plane);
//! let client = kube::Client::try_from(proxy.config(&control_plane.admin_config()))?;
//!
//! // ... the server goes down for whoever uses the client, and for nobody else ...
//! proxy.refuse_connections().await;
//! proxy.accept_again().await;
//! proxy.wait_for("the next try", |log| log.count("list", "machines") == 1).await;
//! # Ok(())
//! # }
//! ```
//!
//! Owns: one listener on loopback (plain HTTP), and a log of all requests. It ends with
//! its value, and so do its connections.
//!
//! Must not: make up what the real API server could have said, ever. Answers and events pass as they are; only compression is taken out. Upgraded connections (exec, port-forward) are not passed.

mod body;
mod call;
mod exchange;
mod log;
mod server;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use http::Uri;
use kube::{Client, Config};

pub use call::Call;
pub use log::{Entry, Log, Step};

use crate::{ControlPlane, Error};
use server::{Door, Server};

/// What the parts of a proxy share.
struct Shared {
    upstream: Client,
    book: log::Book,
}

impl Shared {
    fn new(config: Config) -> Result<Shared, Error> {
        Ok(Shared {
            upstream: Client::try_from(config).map_err(Error::kube("a client for the fault proxy"))?,
            book: log::Book::new(),
        })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// A proxy between one process and the API server. See the module.
#[derive(Debug)]
pub struct FaultProxy {
    // Dropped first: its task and connections use the rest.
    server: Server,
    shared: Arc<Shared>,
    upstream: String,
    url: Uri,
}

impl FaultProxy {
    /// Starts a proxy in the calling runtime. Panics when it cannot listen.
    #[expect(clippy::panic, reason = "a test without its proxy has failed; the panic says why")]
    pub fn start(control_plane: &ControlPlane) -> FaultProxy {
        match FaultProxy::try_start(control_plane) {
            Ok(proxy) => proxy,
            Err(error) => panic!("no fault proxy: {error}"),
        }
    }

    fn try_start(control_plane: &ControlPlane) -> Result<FaultProxy, Error> {
        // Requests bring their own tokens, and a failure is the client's to repeat.
        let mut config = control_plane.config_for_token("");
        config.auth_info.token = None;
        config.default_retry = false;
        let shared = Arc::new(Shared::new(config)?);
        let listening = || Error::io("the fault proxy's port on 127.0.0.1");
        let server = Server::start(Arc::clone(&shared)).map_err(listening())?;
        let url = format!("http://{}/", server.address).parse();
        let url = url.map_err(|error| listening()(io::Error::other(error)))?;
        Ok(FaultProxy { server, shared, upstream: control_plane.url(), url })
    }

    /// The proxy's address.
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// The same user and settings, through the proxy.
    pub fn config(&self, config: &Config) -> Config {
        let mut config = config.clone();
        config.cluster_url = self.url.clone();
        config.root_cert = None;
        config
    }

    /// A copy of a kubeconfig (see [`ControlPlane::kubeconfig`]) through the proxy, for a child process. It lies beside
    /// the original. For programs on kube-rs: those on client-go, kubectl too, send no token over plain HTTP.
    ///
    /// # Errors
    ///
    /// When the original cannot be read, is not about this control plane, or the copy cannot be written.
    pub fn kubeconfig(&self, original: &Path) -> Result<PathBuf, Error> {
        let text = fs::read_to_string(original).map_err(Error::io(original))?;
        if !text.contains(&self.upstream) {
            let what = format!("it is not about {}", self.upstream);
            return Err(Error::Manifest { name: original.display().to_string(), what });
        }
        let copy = original.with_extension(format!("{}.yaml", self.server.address.port()));
        let text = text.replace(&self.upstream, &self.url.to_string());
        fs::write(&copy, text).map_err(Error::io(&copy))?;
        Ok(copy)
    }

    /// Closes all connections, and nobody listens any more: who connects is refused by the system, and not counted.
    pub async fn refuse_connections(&self) {
        self.cut_all(Some(Door::Refusing)).await;
    }

    /// Closes all connections, and who connects is let in and reset at once. [`Log::resets`] counts them.
    pub async fn reset_connections(&self) {
        self.cut_all(Some(Door::Resetting)).await;
    }

    /// Serves again, at the same address.
    pub async fn accept_again(&self) {
        self.cut_all(Some(Door::Open)).await;
    }

    /// Closes all connections once; new ones are served as before.
    pub async fn cut_connections(&self) {
        self.cut_all(None).await;
    }

    #[expect(clippy::panic, reason = "a test whose fault did not happen has failed; the panic says so")]
    async fn cut_all(&self, door: Option<Door>) {
        if let Err(error) = self.server.cut_all(door).await {
            panic!("the fault proxy cannot listen again: {error}");
        }
    }

    /// What has happened so far.
    pub fn log(&self) -> Log {
        self.shared.book.snapshot()
    }

    /// Waits until a condition on the log holds. Panics after 60 s with `what` and the log.
    pub async fn wait_for(&self, what: &str, condition: impl FnMut(&Log) -> bool) -> Log {
        self.shared.book.wait_for(what, condition).await
    }
}
