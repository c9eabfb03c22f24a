//! `scenario calls`: what the operator costs the API server.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use jiff::Timestamp;
use testenv::{
    audit::Window,
    faults::{FaultProxy, Match, Refusal},
    operator::{Operator, Usage},
    progress::Progress,
    shuffle,
};

use super::calls_report::{Measured, Phase, Report};
use crate::{
    bench::Bench,
    convergence::Convergence,
    failure::Failure,
    metrics, output,
    pairs::{self, Created, Pairs},
};

/// No write for this long ends a phase: a waiting status is written after 5 s without change.
const QUIET: Duration = Duration::from_secs(6);

/// How long the operator is watched after a restart.
const RESTART: Duration = Duration::from_secs(30);

/// How long its own counter may take to agree with the audit log, since both go on counting.
const AGREE_TIMEOUT: Duration = Duration::from_secs(10);

/// With `--paced`: a pair every two seconds, its key a second after the Machine.
const PACE: Duration = Duration::from_secs(2);
const PACE_GAP: Duration = Duration::from_secs(1);

/// Options of `scenario calls`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CallsArgs {
    /// Machines, each with a key.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Order of creation; the same seed gives the same order [default: from the clock].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// How long to watch the operator while nothing happens.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,
    /// Create one pair every 2 s, the key 1 s after its Machine, instead of all at once.
    #[arg(long)]
    paced: bool,
    /// After the idle time, replace a tenth of the pairs while every watch ends as expired once.
    #[arg(long)]
    churn: bool,
    /// Keep the API server's audit log of the run, for `kubectl trusted audit-api-calls`.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the scenario and reports.
pub(crate) async fn run(args: &CallsArgs) -> Result<ExitCode, Failure> {
    let seed = args.seed.unwrap_or_else(shuffle::some_seed);
    let bench = Bench::prepare("calls").await?;
    let measured = Run::new(&bench, args).measure(seed).await?;
    if let Some(file) = &args.audit_log {
        std::fs::copy(bench.control_plane.audit().path(), file)
            .map_err(Failure::io("the copy of the audit log"))?;
    }
    let report = Report::new(measured);
    if args.json {
        output::json(&report);
    } else {
        output::line(&report.in_words());
    }
    Ok(report.broken().report())
}

/// A run in progress.
struct Run<'a> {
    bench: &'a Bench,
    args: &'a CallsArgs,
    pairs: Pairs,
    convergence: Convergence,
    phases: Vec<Phase>,
    began: Timestamp,
    progress: Progress,
}

impl<'a> Run<'a> {
    fn new(bench: &'a Bench, args: &'a CallsArgs) -> Run<'a> {
        Run {
            bench,
            args,
            pairs: Pairs::prepare(&bench.admin, &bench.namespace, args.pairs.into()),
            convergence: Convergence::watch(&bench.admin, &bench.namespace, |_| ()),
            phases: Vec::new(),
            began: Timestamp::now(),
            progress: Progress::steps(if args.churn { 6 } else { 5 }, "measuring"),
        }
    }

    async fn measure(mut self, seed: u64) -> Result<Measured, Failure> {
        let pairs = self.pairs.count();
        self.bench.create_cluster().await?;
        self.begin("start");
        let started = Instant::now();
        let proxy = self.args.churn.then(|| FaultProxy::start(self.bench.control_plane));
        let operator = match &proxy {
            Some(proxy) => self.bench.start_operator_behind(proxy).await?,
            None => self.bench.start_operator().await?.0,
        };
        let timeout = Duration::from_secs(60);
        let mut converged = self.convergence.installed(timeout).await?;
        self.end("start", started.elapsed()).await?;

        let (created, registered, all) = self.register(seed).await?;
        converged &= all;
        let trustee_bytes = self.bench.trustee_bytes().await?;

        let streams = self.idle().await?;
        let doomed = pairs.div_ceil(10);
        if let Some(proxy) = &proxy {
            converged &= self.churn(proxy, &streams, (doomed, seed)).await?;
        }
        converged &= self.delete(doomed).await?;
        let (mut differences, first) = self.retire(operator).await?;
        let (more, second) = self.restart().await?;
        differences.extend(more);

        let requests = self.bench.requests(Window::since(self.began)).await?;
        self.progress.finish("measured");
        Ok(Measured {
            pairs,
            seed,
            converged,
            missing: self.convergence.missing(pairs - doomed),
            phases: self.phases,
            requests,
            streams,
            trustee_bytes,
            differences,
            usage: Usage {
                max_rss_bytes: first.max_rss_bytes.max(second.max_rss_bytes),
                rss_bytes: first.rss_bytes,
                cpu_seconds: first.cpu_seconds + second.cpu_seconds,
            },
            late: pairs::late(&created),
            register_seconds: registered.as_secs_f64(),
        })
    }

    /// Creates the pairs and waits for them. The phase goes on until nothing is written any more; its length is the
    /// time to convergence.
    async fn register(&mut self, seed: u64) -> Result<(Created, Duration, bool), Failure> {
        let began = Instant::now();
        self.begin("register");
        let created = match self.args.paced {
            true => self.pairs.paced(PACE, PACE_GAP).await?,
            false => self.pairs.burst(seed).await?,
        };
        let converged = self.convergence.settled(self.pairs.count(), self.timeout()).await?;
        let took = began.elapsed();
        self.end("register", took).await?;
        Ok((created, took, converged))
    }

    /// Watches the operator while nothing happens; returns its open watches at the end.
    async fn idle(&mut self) -> Result<BTreeMap<String, usize>, Failure> {
        let began = Instant::now();
        self.begin("idle");
        tokio::time::sleep(Duration::from_secs(self.args.idle)).await;
        self.phase("idle", began.elapsed());
        Ok(self.bench.requests(Window::since(self.began)).await?.open_watches())
    }

    async fn delete(&mut self, doomed: usize) -> Result<bool, Failure> {
        let began = Instant::now();
        self.begin("delete");
        self.pairs.delete_machines(doomed).await?;
        let converged = self.convergence.settled(self.pairs.count() - doomed, self.timeout()).await?;
        self.end("delete", began.elapsed()).await?;
        Ok(converged)
    }

    /// Starts the operator with everything in place, and watches and stops it.
    async fn restart(&mut self) -> Result<(Vec<String>, Usage), Failure> {
        let began = Instant::now();
        self.begin("restart");
        let (operator, _) = self.bench.start_operator().await?;
        tokio::time::sleep(RESTART).await;
        self.phase("restart", began.elapsed());
        self.retire(operator).await
    }

    /// Replaces some pairs; before they are made again, every watch of the operator ends, so that it lists everything
    /// anew.
    async fn churn(
        &mut self,
        proxy: &FaultProxy,
        streams: &BTreeMap<String, usize>,
        (count, seed): (usize, u64),
    ) -> Result<bool, Failure> {
        let began = Instant::now();
        self.begin("churn");
        self.pairs.delete_machines(count).await?;
        let mut converged = self.convergence.settled(self.pairs.count() - count, self.timeout()).await?;
        let expire =
            |resource: &String| proxy.on(Match::watch(resource)).times(1).error_event(Refusal::expired());
        // A rule ends with its value.
        let _rules: Vec<_> = streams.keys().map(expire).collect();
        self.pairs.burst_of_last(count, seed).await?;
        converged &= self.convergence.settled(self.pairs.count(), self.timeout()).await?;
        self.end("churn", began.elapsed()).await?;
        Ok(converged)
    }

    /// Compares the operator's counter with the audit log, reads what it used, and stops it.
    async fn retire(&self, operator: Operator) -> Result<(Vec<String>, Usage), Failure> {
        let deadline = Instant::now() + AGREE_TIMEOUT;
        let differences = loop {
            let own = metrics::requests(&operator.metrics().await?);
            let audited = metrics::audited(&self.bench.requests(Window::since(operator.started)).await?);
            let differences = metrics::differences(&own, &audited);
            if differences.is_empty() || Instant::now() >= deadline {
                break differences;
            }
        };
        let usage = operator.usage()?;
        operator.stop().await?;
        Ok((differences, usage))
    }

    fn begin(&mut self, name: &'static str) {
        self.progress.message(name);
        self.phases.push(Phase { name, from: Timestamp::now(), to: None, seconds: 0.0 });
    }

    /// Ends a phase now.
    fn phase(&mut self, name: &'static str, took: Duration) {
        if let Some(phase) = self.phases.iter_mut().find(|phase| phase.name == name) {
            phase.to = Some(Timestamp::now());
            phase.seconds = took.as_secs_f64();
        }
        self.progress.advance();
    }

    /// Ends a phase when nothing is written any more.
    async fn end(&mut self, name: &'static str, took: Duration) -> Result<(), Failure> {
        self.bench.silence(QUIET).await?;
        self.phase(name, took);
        Ok(())
    }

    /// Generous: whoever needs it has failed.
    fn timeout(&self) -> Duration {
        Duration::from_secs(60) + Duration::from_millis(200) * self.args.pairs.into()
    }
}
