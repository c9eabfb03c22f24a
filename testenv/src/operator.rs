//! A running trusted-operator.
//!
//! Purpose: run the release build as a user would, as its ServiceAccount, and read off what it uses and tells.
//!
//! Owns: the process; it ends with the value.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Seek, SeekFrom},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Client, Config};
use serde::Deserialize;

use crate::{Error, TestNamespace, faults::FaultProxy, poll, process::Process, stores};

/// How long it may take to become ready, and to stop.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// How long its stores may take to equal the API server, of which nothing more is asked then.
const EQUAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Ticks a second in /proc, the same on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// How many lines of its log are shown when it fails.
const LOG_LINES: usize = 15;

/// How an operator is started, as often as it has to be.
#[derive(Clone)]
pub struct Launch {
    program: PathBuf,
    namespace: String,
    kubeconfig: PathBuf,
    log: PathBuf,
    pod: Option<String>,
    lease: Option<Duration>,
    admin: Client,
}

impl Launch {
    /// In a namespace, as the ServiceAccount of `deploy/rbac`.
    ///
    /// # Errors
    ///
    /// When there is no token for it, or the kubeconfig cannot be written.
    pub async fn prepare(program: &Path, namespace: &TestNamespace) -> Result<Launch, Error> {
        let control_plane = namespace.control_plane();
        let token = namespace.try_service_account_token("trusted-operator").await?;
        let name = format!("{}-trusted-operator", namespace.name());
        Ok(Launch {
            program: program.to_owned(),
            namespace: namespace.name().to_owned(),
            kubeconfig: control_plane.kubeconfig(&name, &token, namespace.name())?,
            log: control_plane.logs().join(format!("{name}.log")),
            pod: None,
            lease: None,
            admin: control_plane.admin(),
        })
    }

    /// Through a fault proxy.
    ///
    /// # Errors
    ///
    /// When the kubeconfig for it cannot be written.
    pub fn through(self, proxy: &FaultProxy) -> Result<Launch, Error> {
        let kubeconfig = proxy.kubeconfig(&self.kubeconfig)?;
        Ok(Launch { kubeconfig, ..self })
    }

    /// As a pod of this name. What is started anew as the same pod, as a container is, has its lease back at once.
    #[must_use]
    pub fn pod(self, name: &str) -> Launch {
        let log = self.log.with_extension(format!("{name}.log"));
        Launch { pod: Some(name.to_owned()), log, ..self }
    }

    /// With another duration of the lease, in whole seconds.
    #[must_use]
    pub fn lease(self, duration: Duration) -> Launch {
        Launch { lease: Some(duration), ..self }
    }

    /// Where the output of all that are started goes.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn start(&self) -> Result<Operator, Error> {
        let mut command = Command::new(&self.program);
        command.args(["run", "--namespace", &self.namespace, "--http-addr", "127.0.0.1:0"]);
        if let Some(lease) = self.lease {
            command.args(["--lease-duration", &format!("{}s", lease.as_secs())]);
        }
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        if let Some(pod) = &self.pod {
            command.env("POD_NAME", pod);
        }
        command.envs(memory_settings()?);
        let started = Timestamp::now();
        let spawned = Instant::now();
        let log_from = fs::metadata(&self.log).map_or(0, |log| log.len());
        let process = Process::start("trusted-operator", &command, &self.log)?;
        Ok(Operator { process, log_from, admin: self.admin.clone(), started, spawned })
    }
}

/// The operator as a process. Dropped, it is killed.
pub struct Operator {
    process: Process,
    /// Where its own lines begin in a log that those before it may have written to, in bytes.
    log_from: u64,
    admin: Client,
    /// When it was started: its requests are those since then.
    pub started: Timestamp,
    spawned: Instant,
}

/// What a process has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// The most memory it ever had.
    pub max_rss_bytes: u64,
    /// The memory it has now.
    pub rss_bytes: u64,
    /// Processor time.
    pub cpu_seconds: f64,
}

impl Operator {
    /// Waits until it says that it is ready; returns how long that took from its start.
    ///
    /// # Errors
    ///
    /// When it ends, or is not ready within two minutes.
    pub async fn ready(&mut self) -> Result<Duration, Error> {
        let answer = poll("trusted-operator to be ready", READY_TIMEOUT, || {
            let ended = self.process.ended();
            let address = self.address();
            async move {
                match ended {
                    Some(status) => Ok(Err(format!("ended ({status})"))),
                    None => get(address?, "/readyz").await.map(Ok),
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
        Err(Error::Component { component: "trusted-operator".to_owned(), what: problem, log })
    }

    /// Its metrics, as Prometheus text.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn metrics(&self) -> Result<String, Error> {
        let failed = |last| Error::Timeout { what: "the operator's metrics".to_owned(), last };
        let answer = async { get(self.address()?, "/metrics").await };
        answer.await.map_err(failed)
    }

    /// Lets it stand still (SIGSTOP), as a process on a machine that is suspended.
    ///
    /// # Errors
    ///
    /// When `kill` cannot be run.
    pub fn pause(&self) -> Result<(), Error> {
        self.process.signal("STOP")
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When `kill` cannot be run.
    pub fn resume(&self) -> Result<(), Error> {
        self.process.signal("CONT")
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.process.ended().is_some()
    }

    /// Lets the peak of its memory begin anew.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn forget_peak(&self) -> Result<(), Error> {
        // 5 sets VmHWM to what is resident now; see proc_pid_clear_refs(5).
        let path = format!("/proc/{}/clear_refs", self.process.pid());
        fs::write(&path, "5").map_err(Error::io(path))
    }

    /// What it has used so far.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn usage(&self) -> Result<Usage, Error> {
        let read = |file: &str| {
            let path = format!("/proc/{}/{file}", self.process.pid());
            fs::read_to_string(&path).map_err(Error::io(path))
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

    /// Waits until its stores equal the API server, asks it to stop and waits.
    ///
    /// # Errors
    ///
    /// When its stores do not, or it had to be killed.
    pub async fn stop(self) -> Result<(), Error> {
        let told = poll("trusted-operator to tell its address", READY_TIMEOUT, async || self.address());
        stores::equal_server(told.await?, &self.admin, EQUAL_TIMEOUT).await?;
        let process = self.process;
        let stopped = tokio::task::spawn_blocking(move || process.stop(STOP_TIMEOUT)).await;
        match stopped {
            Ok(true) => Ok(()),
            _ => Err(Error::Timeout {
                what: format!("trusted-operator to stop ({STOP_TIMEOUT:?} after SIGTERM)"),
                last: "it still ran".to_owned(),
            }),
        }
    }

    /// Where it serves. It takes a free port by itself, since one chosen for it could be taken before it starts; which
    /// it is, its log tells.
    fn address(&self) -> Result<SocketAddr, String> {
        let text = |error: std::io::Error| format!("{}: {error}", self.process.log().display());
        let mut log = File::open(self.process.log()).map_err(text)?;
        log.seek(SeekFrom::Start(self.log_from)).map_err(text)?;
        let lines = BufReader::new(log).lines().map_while(Result::ok);
        let told = lines.filter_map(|line| serde_json::from_str::<Served>(&line).ok()).next();
        told.map(|served| served.address).ok_or_else(|| "its log tells no address yet".to_owned())
    }
}

/// The line of its log that tells where it serves.
#[derive(Deserialize)]
struct Served {
    address: SocketAddr,
}

async fn get(operator: SocketAddr, path: &str) -> Result<String, String> {
    let url = format!("http://{operator}").parse().map_err(|error| format!("{operator}: {error}"))?;
    let client = Client::try_from(Config::new(url)).map_err(|error| error.to_string())?;
    let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
    client.request_text(request).await.map_err(|error| error.to_string())
}

/// How `deploy/operator` sets the memory allocator.
fn memory_settings() -> Result<Vec<(String, String)>, Error> {
    const MANIFEST: &str = include_str!("../../deploy/operator/deployment.yaml");
    let deployment: Deployment = serde_saphyr::from_str(MANIFEST)
        .map_err(|error| Error::Start(format!("deploy/operator/deployment.yaml: {error}")))?;
    let containers = deployment.spec.template.spec.into_iter().flat_map(|pod| pod.containers);
    let set = containers.flat_map(|container| container.env.unwrap_or_default());
    let memory = set.filter(|set| set.name.starts_with("MALLOC_"));
    Ok(memory.filter_map(|set| Some((set.name, set.value?))).collect())
}
