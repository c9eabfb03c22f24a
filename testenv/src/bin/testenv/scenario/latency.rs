//! `scenario latency`: from the creation of a pair to a watcher that sees the key approved.

use std::{
    collections::BTreeMap,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use clap::Args;
use kube::ResourceExt;
use serde::Serialize;
use testenv::{progress::Progress, shuffle::Shuffler};

use crate::{
    bench::{Bench, Broken},
    convergence::{Convergence, is_approved},
    failure::Failure,
    output,
    pairs::{Half, Pairs},
};

/// Time between two pairs.
const INTERVAL: Duration = Duration::from_millis(20);

/// Which half comes first is decided by chance, always by the same one.
const SEED: u64 = 20;

/// Options of `scenario latency`.
#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyArgs {
    /// Machines, each with a key, one pair every 20 ms.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    pairs: usize,
    event_to_status_ms: Percentiles,
}

#[derive(Debug, Serialize)]
struct Percentiles {
    p50: f64,
    p99: f64,
    max: f64,
}

/// When each key was first seen approved.
type Seen = Arc<Mutex<BTreeMap<String, Instant>>>;

/// Runs the scenario and reports.
pub(crate) async fn run(args: &LatencyArgs) -> Result<ExitCode, Failure> {
    let bench = Bench::prepare("latency").await?;
    let pairs = Pairs::prepare(&bench.admin, &bench.namespace, args.pairs.into());
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let mut convergence = Convergence::watch(&bench.admin, &bench.namespace, move |key| {
        if is_approved(key) {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.entry(key.name_any()).or_insert_with(Instant::now);
        }
    });
    bench.create_cluster().await?;
    let (operator, _) = bench.start_operator().await?;
    let mut broken = Broken::default();
    let installed = convergence.installed(Duration::from_secs(60)).await?;
    broken.unless(installed, || "the cluster was not installed within a minute".to_owned());
    bench.silence(Duration::from_secs(2)).await?;

    let progress = Progress::steps(1, "creating pairs");
    let created = create(&pairs).await?;
    let timeout = Duration::from_secs(60);
    let converged = convergence.settled(pairs.count(), timeout).await?;
    progress.finish("all pairs are there");
    broken.unless(converged, || format!("not converged; missing: {}", convergence.missing(pairs.count())));
    operator.stop().await?;

    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let latencies = created.iter().filter_map(|(pair, answered)| {
        // A watcher may be told before the API server's answer has come back; that is no time at all.
        seen.get(&Pairs::key_name(*pair)).map(|seen| seen.saturating_duration_since(*answered))
    });
    let report = Report { pairs: pairs.count(), event_to_status_ms: percentiles(latencies.collect()) };
    if args.json {
        output::json(&report);
    } else {
        let Percentiles { p50, p99, max } = report.event_to_status_ms;
        output::line(&format!("{} pairs: p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms", report.pairs));
    }
    Ok(broken.report())
}

/// Creates one pair every 20 ms; returns when the API server answered for the later half of each.
async fn create(pairs: &Pairs) -> Result<BTreeMap<usize, Instant>, Failure> {
    let mut shuffler = Shuffler::new(SEED);
    let mut ticks = tokio::time::interval(INTERVAL);
    let mut tasks = Vec::new();
    for pair in 0..pairs.count() {
        ticks.tick().await;
        let mut halves = [Half::Machine, Half::Key];
        shuffler.shuffle(&mut halves);
        let pairs = pairs.clone();
        let create = async move {
            pairs.create(pair, halves[0]).await?;
            pairs.create(pair, halves[1]).await
        };
        tasks.push((pair, tokio::spawn(create)));
    }
    let mut created = BTreeMap::new();
    for (pair, task) in tasks {
        let answered = task.await.map_err(|error| Failure::Unexpected(error.to_string()))??;
        created.insert(pair, answered);
    }
    Ok(created)
}

/// Nearest-rank percentiles.
fn percentiles(mut latencies: Vec<Duration>) -> Percentiles {
    latencies.sort_unstable();
    let rank = |percent: usize| {
        let index = (latencies.len() * percent).div_ceil(100).saturating_sub(1);
        latencies.get(index).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1000.0)
    };
    Percentiles { p50: rank(50), p99: rank(99), max: rank(100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let Percentiles { p50, p99, max } = percentiles((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!([p50, p99, max].map(f64::round), [100.0, 198.0, 200.0]);
        let one = percentiles(vec![Duration::from_millis(7)]);
        assert_eq!([one.p50, one.p99, one.max].map(f64::round), [7.0; 3]);
        assert!(percentiles(Vec::new()).p50.is_nan(), "nothing measured must not look like no time");
    }
}
