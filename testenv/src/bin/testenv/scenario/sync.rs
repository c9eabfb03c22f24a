//! `scenario sync`: how the operator starts, and lists anew, where everything is in place already.

use std::{
    collections::BTreeMap,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use testenv::{
    audit::{Requests, Window},
    faults::{FaultProxy, Match, Refusal},
    operator::Operator,
    progress::Progress,
};

use super::{by_verb, in_words};
use crate::{
    bench::{Bench, Broken},
    convergence::Convergence,
    copies::Copies,
    failure::Failure,
    metrics, output,
    pairs::{Half, Pairs},
};

/// How long the operator is watched after it is ready: longer than any delay of its own.
const SETTLE: Duration = Duration::from_secs(15);

/// How long the operator may take to list everything anew.
const RELIST_TIMEOUT: Duration = Duration::from_secs(300);

/// Trustee's Deployment lists every Secret, and etcd takes no object of more than 1.5 MiB.
const DELIVERABLE: u32 = 20_000;

/// Objects in a page of a list, as the operator asks for them.
const PAGE: usize = 500;

/// Kinds the operator watches.
const KINDS: usize = 8;

/// Options of `scenario sync`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SyncArgs {
    /// Objects in all: a quarter each Machines, AttestationKeys, disk-key Secrets and binding Secrets.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..400_000))]
    objects: u32,
    /// Without a TrustedExecutionCluster, so that nothing is delivered to a Trustee; always so with more than 20,000
    /// objects, which no Deployment can list.
    #[arg(long)]
    no_cluster: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    objects: usize,
    /// Whether there is a TrustedExecutionCluster, and with it a Trustee that is given all keys.
    cluster: bool,
    ready_seconds: f64,
    requests: BTreeMap<String, usize>,
    max_rss_bytes: u64,
    rss_settled_bytes: u64,
    writes: usize,
    /// From the end of all watches to the last page of all lists.
    relist_seconds: f64,
    relist_max_rss_bytes: u64,
    rss_relisted_bytes: u64,
}

/// Runs the scenario and reports.
pub(crate) async fn run(args: &SyncArgs) -> Result<ExitCode, Failure> {
    let bench = Bench::prepare("sync").await?;
    let (pairs, cluster) = (args.objects as usize / 4, !args.no_cluster && args.objects <= DELIVERABLE);
    let mut broken = Broken::default();
    settle_one(&bench, cluster, &mut broken).await?;
    let progress = Progress::steps(1, "copying the settled pair");
    Copies::of_first(&bench.admin, &bench.as_operator().await?, &bench.namespace).await?.fill(pairs).await?;
    progress.finish("all copies are there");
    if cluster {
        deliver(&bench, pairs, &mut broken).await?;
    }

    let (operator, ready) = bench.start_operator().await?;
    tokio::time::sleep(SETTLE).await;
    let usage = operator.usage()?;
    let requests = bench.requests(Window::since(operator.started)).await?.work();
    operator.stop().await?;
    let relist = relist(&bench, &requests).await?;

    let report = Report {
        objects: pairs * 4,
        cluster,
        ready_seconds: ready.as_secs_f64(),
        requests: by_verb(&requests),
        max_rss_bytes: usage.max_rss_bytes,
        rss_settled_bytes: usage.rss_bytes,
        writes: requests.writes(),
        relist_seconds: relist.took.as_secs_f64(),
        relist_max_rss_bytes: relist.max_rss_bytes,
        rss_relisted_bytes: relist.rss_bytes,
    };
    check(&report, &mut broken);
    if args.json {
        output::json(&report);
    } else {
        output::line(&in_sentences(&report));
    }
    Ok(broken.report())
}

/// Lets an operator settle one pair. Without a cluster it then says of the pair what is to be said without one.
async fn settle_one(bench: &Bench, keep_cluster: bool, broken: &mut Broken) -> Result<(), Failure> {
    let pairs = Pairs::prepare(&bench.admin, &bench.namespace, 1);
    let progress = Progress::steps(1, "letting an operator settle one pair");
    let mut convergence = Convergence::watch(&bench.admin, &bench.namespace, |_| ());
    bench.create_cluster().await?;
    let (operator, _) = bench.start_operator().await?;
    for half in [Half::Machine, Half::Key] {
        pairs.create(0, half).await?;
    }
    let converged = convergence.settled(1, Duration::from_secs(60)).await?;
    broken.unless(converged, || format!("not settled; missing: {}", convergence.missing(1)));
    if !keep_cluster {
        bench.delete_cluster().await?;
    }
    bench.silence(Duration::from_secs(6)).await?;
    operator.stop().await?;
    progress.finish("one pair is settled");
    Ok(())
}

/// Lets an operator give all keys to Trustee.
async fn deliver(bench: &Bench, count: usize, broken: &mut Broken) -> Result<(), Failure> {
    let progress = Progress::steps(1, "letting an operator give all keys to Trustee");
    let mut convergence = Convergence::watch(&bench.admin, &bench.namespace, |_| ());
    let (operator, _) = bench.start_operator().await?;
    let converged = convergence.settled(count, Duration::from_secs(300)).await?;
    broken.unless(converged, || format!("not delivered; missing: {}", convergence.missing(count)));
    bench.silence(Duration::from_secs(6)).await?;
    operator.stop().await?;
    progress.finish("Trustee has all keys");
    Ok(())
}

struct Relist {
    took: Duration,
    max_rss_bytes: u64,
    rss_bytes: u64,
}

/// Ends all watches of an operator as expired, so that it lists everything anew while it holds what it has.
async fn relist(bench: &Bench, start: &Requests) -> Result<Relist, Failure> {
    let progress = Progress::steps(1, "letting an operator list everything anew");
    let proxy = FaultProxy::start(bench.control_plane);
    let operator = bench.start_operator_behind(&proxy).await?;
    tokio::time::sleep(SETTLE).await;
    let before = lists(&operator).await?;
    operator.forget_peak()?;
    let began = Instant::now();
    let watched = start.iter().filter(|request| request.verb == "watch").map(|request| &request.resource);
    let expire =
        |resource: &String| proxy.on(Match::watch(resource)).times(1).error_event(Refusal::expired());
    // A rule ends with its value.
    let _rules: Vec<_> = watched.map(expire).collect();
    while lists(&operator).await? < 2 * before {
        if began.elapsed() > RELIST_TIMEOUT {
            return Err(Failure::Unexpected(format!("no new list of everything within {RELIST_TIMEOUT:?}")));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = began.elapsed();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let usage = operator.usage()?;
    operator.stop().await?;
    progress.finish("everything was listed anew");
    Ok(Relist { took, max_rss_bytes: usage.max_rss_bytes, rss_bytes: usage.rss_bytes })
}

/// Pages of lists that the operator was given so far.
async fn lists(operator: &Operator) -> Result<u64, Failure> {
    let counts = metrics::requests(&operator.metrics().await?);
    Ok(counts.iter().filter(|((verb, ..), _)| verb == "list").map(|(_, count)| count).sum())
}

fn check(report: &Report, broken: &mut Broken) {
    broken.unless(report.writes == 0, || format!("{} writes where nothing had to change", report.writes));
    let pairs = report.objects / 4;
    let pages = [pairs, pairs, 2 * pairs].map(|count| count.div_ceil(PAGE).max(1)).iter().sum::<usize>();
    // The other kinds have a handful of objects, if any.
    let wanted = (pages + KINDS - 3, KINDS);
    let count = |verb: &str| report.requests.get(verb).copied().unwrap_or_default();
    let asked = (count("list"), count("watch"));
    broken.unless(asked == wanted, || {
        format!("{} lists and {} watches, where {} and {} do", asked.0, asked.1, wanted.0, wanted.1)
    });
}

fn in_sentences(report: &Report) -> String {
    let mebibytes = |bytes: u64| bytes as f64 / 1_048_576.0;
    let cluster = if report.cluster { "all keys in Trustee" } else { "no cluster, nothing delivered" };
    format!(
        "{} objects ({cluster}): ready after {:.2} s; {}; memory {:.1} MiB at most, {:.1} MiB settled; listed anew in \
         {:.2} s with {:.1} MiB at most, {:.1} MiB after it",
        report.objects,
        report.ready_seconds,
        in_words(&report.requests),
        mebibytes(report.max_rss_bytes),
        mebibytes(report.rss_settled_bytes),
        report.relist_seconds,
        mebibytes(report.relist_max_rss_bytes),
        mebibytes(report.rss_relisted_bytes)
    )
}
