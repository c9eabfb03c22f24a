//! A running trusted-operator.
//!
//! Purpose: run the release build as a user would, as its ServiceAccount, and read off what it uses and tells.
//!
//! Owns: the process; it ends with the value.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kube::{Client, Config};
use testenv::{TestNamespace, poll, process::Process, stores};

use crate::{failure::Failure, metrics};

/// How long it may take to become ready, and to stop.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// How long its stores may take to equal the API server, of which nothing more is asked then.
const EQUAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Ticks a second in /proc, the same on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// How many lines of its log are shown when it fails.
const LOG_LINES: usize = 15;

/// The operator as a process.
pub(crate) struct Operator {
    process: Process,
    http: SocketAddr,
    admin: Client,
    /// When it was started: its requests are those since then.
    pub(crate) started: Timestamp,
    spawned: Instant,
}

/// What a process has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) max_rss_bytes: u64,
    pub(crate) rss_bytes: u64,
    pub(crate) cpu_seconds: f64,
}

impl Operator {
    /// Starts it in a namespace, as the ServiceAccount of `deploy/rbac`.
    pub(crate) async fn start(program: &Path, namespace: &TestNamespace) -> Result<Operator, Failure> {
        let control_plane = namespace.control_plane();
        let token = namespace.try_service_account_token("trusted-operator").await?;
        let kubeconfig = control_plane.kubeconfig("trusted-operator", &token, namespace.name())?;
        let http = stores::free_address().map_err(Failure::io("a free port on 127.0.0.1"))?;
        let mut command = Command::new(program);
        command.args([
            "run",
            "--namespace",
            namespace.name(),
            "--http-addr",
            &http.to_string(),
            "--kubeconfig",
        ]);
        command.arg(kubeconfig);
        let log = control_plane.logs().join("trusted-operator.log");
        let started = Timestamp::now();
        let spawned = Instant::now();
        let process = Process::start("trusted-operator", &command, &log)?;
        Ok(Operator { process, http, admin: control_plane.admin(), started, spawned })
    }

    /// Waits until it says that it is ready; returns how long that took from its start.
    pub(crate) async fn ready(&mut self) -> Result<Duration, Failure> {
        let config = self.http_config()?;
        let client = Client::try_from(config).map_err(Failure::kube("a client for the operator"))?;
        let process = &mut self.process;
        let answer = poll("trusted-operator to be ready", READY_TIMEOUT, || {
            let ended = process.ended();
            let client = client.clone();
            async move {
                match ended {
                    Some(status) => Ok(Err(format!("ended ({status})"))),
                    None => get(&client, "/readyz").await.map(Ok),
                }
            }
        })
        .await;
        let took = self.spawned.elapsed();
        let problem = match answer {
            Ok(Ok(_)) => return Ok(took),
            Ok(Err(ended)) => ended,
            Err(error) => error.to_string(),
        };
        let log = self.process.log_tail(LOG_LINES);
        Err(Failure::Unexpected(format!("trusted-operator: {problem}; the end of its log:\n{log}")))
    }

    /// Its own request counter.
    pub(crate) async fn own_counter(&self) -> Result<BTreeMap<metrics::Key, u64>, Failure> {
        let client =
            Client::try_from(self.http_config()?).map_err(Failure::kube("a client for the operator"))?;
        let text = get(&client, "/metrics").await.map_err(Failure::Unexpected)?;
        Ok(metrics::requests(&text))
    }

    /// What it has used so far.
    pub(crate) fn usage(&self) -> Result<Usage, Failure> {
        let read = |file: &str| {
            let path = format!("/proc/{}/{file}", self.process.pid());
            fs::read_to_string(&path).map_err(Failure::io(path))
        };
        let status = read("status")?;
        let bytes = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
            let kibibytes = line.split_whitespace().find_map(|word| word.parse::<u64>().ok());
            kibibytes.unwrap_or_default() * 1024
        };
        let stat = read("stat")?;
        // The second field is the name in brackets, which may hold spaces; user and system time are the 14th and 15th.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks =
            after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok());
        Ok(Usage {
            max_rss_bytes: bytes("VmHWM:"),
            rss_bytes: bytes("VmRSS:"),
            cpu_seconds: ticks.sum::<f64>() / TICKS,
        })
    }

    /// Waits until its stores equal the API server, asks it to stop, and waits; an operator whose stores do not, or
    /// that has to be killed, is a failure.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        stores::equal_server(self.http, &self.admin, EQUAL_TIMEOUT).await?;
        let process = self.process;
        let stopped = tokio::task::spawn_blocking(move || process.stop(STOP_TIMEOUT)).await;
        match stopped {
            Ok(true) => Ok(()),
            _ => Err(Failure::Unexpected(format!(
                "trusted-operator did not stop within {STOP_TIMEOUT:?} of SIGTERM"
            ))),
        }
    }

    fn http_config(&self) -> Result<Config, Failure> {
        let url = format!("http://{}", self.http);
        let url = url.parse().map_err(|error| Failure::Unexpected(format!("{url}: {error}")))?;
        Ok(Config::new(url))
    }
}

async fn get(client: &Client, path: &str) -> Result<String, String> {
    let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
    client.request_text(request).await.map_err(|error| error.to_string())
}
