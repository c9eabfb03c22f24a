//! A proxy in front of the API server that shows what a network or an API server may do.
//!
//! Purpose: put one process under test behind a [`FaultProxy`] and everybody else not, and say in the test what goes
//! wrong for that process:
//!
//! ```no_run
//! use testenv::{ControlPlane, faults::{Events, FaultProxy, Match}};
//!
//! # async fn test() -> Result<(), kube::Error> {
//! let control_plane = ControlPlane::shared().await;
//! let proxy = FaultProxy::start(control_plane);
//! let client = kube::Client::try_from(proxy.config(&control_plane.admin_config()))?;
//!
//! let _overload = proxy.on(Match::list("machines")).times(3).answer(429);
//! let _unseen = proxy.on(Events::deleted("machines").named("m-1")).lose();
//! let frozen = proxy.on(Events::all("secrets")).freeze();
//! // ... what happens now to who uses the client ...
//! proxy.wait_for("the third try", |log| log.count("list", "machines") == 3).await;
//! frozen.lift();
//! # Ok(())
//! # }
//! ```
//!
//! Owns: one listener on loopback (plain HTTP), the rules, and a log of all requests, events and faults. It ends with
//! its value, and so do its connections.
//!
//! Must not: make up what the real API server could have said, unless a rule asks for it. Without rules, answers and
//! events pass as they are; only compression is taken out. Upgraded connections (exec, port-forward) are not passed.

mod action;
mod body;
mod call;
mod event;
mod exchange;
mod log;
mod matching;
mod refusal;
mod rule;
mod server;
mod watch;

use std::{
    collections::HashMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::Uri;
use kube::{Client, Config};

pub use action::On;
pub use call::Call;
pub use log::{Entry, Log, Step};
pub use matching::{Events, Match};
pub use refusal::Refusal;
pub use rule::Rule;

use crate::{ControlPlane, Error};
use rule::{Core, Rules};
use server::{Door, Server};

/// The seed of proxies that are given none.
const SEED: u64 = 1;

/// What the parts of a proxy share.
struct Shared {
    upstream: Client,
    rules: Arc<Rules>,
    book: log::Book,
    /// The last answer to each question.
    recorded: Mutex<HashMap<String, Bytes>>,
    /// The rule that has stopped everything, see [`Shared::stand_still`].
    stopped: Mutex<Option<Arc<Core>>>,
}

impl Shared {
    fn new(config: Config, seed: u64) -> Result<Shared, Error> {
        Ok(Shared {
            upstream: Client::try_from(config).map_err(Error::kube("a client for the fault proxy"))?,
            rules: Arc::new(Rules::new(seed)),
            book: log::Book::new(),
            recorded: Mutex::default(),
            stopped: Mutex::default(),
        })
    }

    fn record(&self, question: String, answer: Bytes) {
        lock(&self.recorded).insert(question, answer);
    }

    fn recorded(&self) -> HashMap<String, Bytes> {
        lock(&self.recorded).clone()
    }

    /// From now on no request passes until the rule is lifted.
    fn stand_still(&self, core: &Arc<Core>) {
        *lock(&self.stopped) = Some(Arc::clone(core));
    }

    /// The rule that lets no request pass, if there is one.
    fn stopped(&self) -> Option<Arc<Core>> {
        lock(&self.stopped).clone().filter(|core| !core.is_lifted())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("rules", &self.rules).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Starts a proxy without rules, in the calling runtime. Panics when it cannot listen.
    pub fn start(control_plane: &ControlPlane) -> FaultProxy {
        FaultProxy::start_with_seed(control_plane, SEED)
    }

    /// Like [`FaultProxy::start`], with another seed for what is left to chance.
    #[expect(clippy::panic, reason = "a test without its proxy has failed; the panic says why")]
    pub fn start_with_seed(control_plane: &ControlPlane, seed: u64) -> FaultProxy {
        match FaultProxy::try_start(control_plane, seed) {
            Ok(proxy) => proxy,
            Err(error) => panic!("no fault proxy: {error}"),
        }
    }

    /// Like [`FaultProxy::start_with_seed`], with an error instead of a panic.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub fn try_start(control_plane: &ControlPlane, seed: u64) -> Result<FaultProxy, Error> {
        // Requests bring their own tokens, and a failure is the client's to repeat.
        let mut config = control_plane.config_for_token("");
        config.auth_info.token = None;
        config.default_retry = false;
        let shared = Arc::new(Shared::new(config, seed)?);
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
        let upstream = self.upstream.trim_end_matches('/');
        if !text.contains(upstream) {
            let what = format!("it is not about {upstream}");
            return Err(Error::Manifest { name: original.display().to_string(), what });
        }
        let copy = original.with_extension(format!("{}.yaml", self.server.address.port()));
        let text = text.replace(upstream, self.url.to_string().trim_end_matches('/'));
        fs::write(&copy, text).map_err(Error::io(&copy))?;
        Ok(copy)
    }

    /// Begins a rule about requests ([`Match`]) or events ([`Events`]).
    pub fn on<M>(&self, what: M) -> On<'_, M> {
        On::new(&self.shared, what)
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

    /// How long it has been there: the clock of the log.
    pub fn age(&self) -> Duration {
        self.shared.book.age()
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
