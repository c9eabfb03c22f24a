//! `scenario sync`: how the operator starts where everything is in place already.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use clap::Args;
use serde::Serialize;
use testenv::{audit::Window, progress::Progress};

use super::{by_verb, in_words};
use crate::{
    bench::{Bench, Broken},
    convergence::Convergence,
    failure::Failure,
    output,
    pairs::Pairs,
};

/// How long the operator is watched after it is ready: longer than any delay of its own.
const SETTLE: Duration = Duration::from_secs(15);

/// Options of `scenario sync`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SyncArgs {
    /// Objects in all: a quarter each Machines, AttestationKeys, disk-key Secrets and binding Secrets.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..))]
    objects: u32,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    objects: usize,
    ready_seconds: f64,
    requests: BTreeMap<String, usize>,
    max_rss_bytes: u64,
    rss_settled_bytes: u64,
    writes: usize,
}

/// Runs the scenario and reports.
pub(crate) async fn run(args: &SyncArgs) -> Result<ExitCode, Failure> {
    let bench = Bench::prepare("sync").await?;
    let pairs = Pairs::prepare(&bench.admin, &bench.namespace, args.objects as usize / 4);
    let mut convergence = Convergence::watch(&bench.admin, &bench.namespace, |_| ());
    let mut broken = Broken::default();

    let progress = Progress::steps(1, "letting an operator settle everything");
    bench.create_cluster().await?;
    let (first, _) = bench.start_operator().await?;
    pairs.burst(1).await?;
    let timeout = Duration::from_secs(60) + Duration::from_millis(50) * args.objects;
    let converged = convergence.settled(pairs.count(), timeout).await?;
    broken.unless(converged, || format!("not settled; missing: {}", convergence.missing(pairs.count())));
    bench.silence(Duration::from_secs(6)).await?;
    first.stop().await?;
    progress.finish("everything is settled");

    let (operator, ready) = bench.start_operator().await?;
    tokio::time::sleep(SETTLE).await;
    let usage = operator.usage()?;
    let requests = bench.requests(Window::since(operator.started)).await?.work();
    operator.stop().await?;

    let report = Report {
        objects: pairs.count() * 4,
        ready_seconds: ready.as_secs_f64(),
        requests: by_verb(&requests),
        max_rss_bytes: usage.max_rss_bytes,
        rss_settled_bytes: usage.rss_bytes,
        writes: requests.writes(),
    };
    broken.unless(report.writes == 0, || format!("{} writes where nothing had to change", report.writes));
    if args.json {
        output::json(&report);
    } else {
        let mebibytes = |bytes: u64| bytes as f64 / 1_048_576.0;
        output::line(&format!(
            "{} objects: ready after {:.2} s; {}; memory {:.1} MiB at most, {:.1} MiB settled",
            report.objects,
            report.ready_seconds,
            in_words(&report.requests),
            mebibytes(report.max_rss_bytes),
            mebibytes(report.rss_settled_bytes)
        ));
    }
    Ok(broken.report())
}
