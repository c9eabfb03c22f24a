//! What `scenario calls` found, as JSON and in words, and which promises it breaks.

use std::{collections::BTreeMap, fmt::Write as _};

use jiff::Timestamp;
use serde::Serialize;
use testenv::{
    audit::{Group, Requests, Row, Window},
    operator::Usage,
};
use trusted_crds::names::TRUSTEE_DEPLOYMENT;

use super::{by_verb, in_words};
use crate::bench::Broken;

/// Writes of a pair that cannot be avoided: disk-key Secret, binding, ownership, and a status for each object.
const WRITES_PER_PAIR: usize = 5;

/// A window of Trustee's writer, in seconds, and its writes per window.
const TRUSTEE_WINDOW: f64 = 0.5;
const WRITES_PER_WINDOW: usize = 2;

/// How far register's writes may lie above the floor.
const MAX_RATIO: f64 = 1.05;

/// The same of churn, in the middle of which everything is listed anew.
const MAX_CHURN_RATIO: f64 = 1.15;

/// A stretch of the run.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) from: Timestamp,
    pub(super) to: Option<Timestamp>,
    pub(super) seconds: f64,
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) pairs: usize,
    pub(super) seed: u64,
    pub(super) converged: bool,
    pub(super) missing: String,
    pub(super) phases: Vec<Phase>,
    pub(super) requests: Requests,
    pub(super) streams: BTreeMap<String, usize>,
    pub(super) trustee_bytes: usize,
    pub(super) differences: Vec<String>,
    pub(super) usage: Usage,
    pub(super) late: usize,
    pub(super) register_seconds: f64,
}

/// The document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pairs: usize,
    seed: u64,
    converged: bool,
    phases: BTreeMap<&'static str, PhaseReport>,
    streams: BTreeMap<String, usize>,
    trustee_deployment_writes: usize,
    trustee_deployment_bytes: usize,
    own_counter_agrees: bool,
    operator: OperatorReport,
    lease_requests: usize,
    event_requests: usize,
    preflight_requests: usize,
    verify_reads: usize,
    canary_requests: usize,
    floor: Floor,
    /// Of the phase churn.
    #[serde(skip_serializing_if = "Option::is_none")]
    churn_floor: Option<Floor>,
    #[serde(skip)]
    missing: String,
    #[serde(skip)]
    differences: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PhaseReport {
    seconds: f64,
    requests: BTreeMap<String, usize>,
    by_resource: Vec<Row>,
    conflicts_409: usize,
    invalid_422: usize,
    trustee_deployment_writes: usize,
    writes: usize,
}

#[derive(Debug, Serialize)]
struct OperatorReport {
    max_rss_bytes: u64,
    rss_settled_bytes: u64,
    cpu_seconds: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Floor {
    requests: usize,
    ratio: f64,
}

impl Report {
    /// Sorts the requests into phases and groups.
    pub(super) fn new(measured: Measured) -> Report {
        let work = measured.requests.work();
        let phases: BTreeMap<_, _> =
            measured.phases.iter().map(|phase| (phase.name, PhaseReport::new(phase, &work))).collect();
        let floor = Floor::new(&measured, phases.get("register").map_or(0, |register| register.writes));
        let churn_floor = phases.get("churn").map(|churn| Floor::of_churn(measured.pairs, churn));
        let group = |group| measured.requests.of_group(group).total();
        Report {
            pairs: measured.pairs,
            seed: measured.seed,
            converged: measured.converged,
            streams: measured.streams,
            trustee_deployment_writes: trustee_writes(&work),
            trustee_deployment_bytes: measured.trustee_bytes,
            own_counter_agrees: measured.differences.is_empty(),
            operator: OperatorReport {
                max_rss_bytes: measured.usage.max_rss_bytes,
                rss_settled_bytes: measured.usage.rss_bytes,
                cpu_seconds: measured.usage.cpu_seconds,
            },
            lease_requests: group(Group::Lease),
            event_requests: group(Group::Event),
            preflight_requests: group(Group::Preflight),
            verify_reads: group(Group::Verify),
            canary_requests: group(Group::Canary),
            floor,
            churn_floor,
            phases,
            missing: measured.missing,
            differences: measured.differences,
        }
    }

    /// The promises that do not hold.
    pub(super) fn broken(&self) -> Broken {
        let mut broken = Broken::default();
        broken.unless(self.converged, || format!("not converged; missing: {}", self.missing));
        for (name, phase) in &self.phases {
            let count = |verb: &str| phase.requests.get(verb).copied().unwrap_or_default();
            let reads = count("get") + count("list");
            let reads_allowed = matches!(*name, "start" | "churn" | "restart");
            broken.unless(reads_allowed || reads == 0, || {
                format!("{reads} GET or LIST requests in phase {name}")
            });
            let conflicts = phase.conflicts_409;
            broken.unless(conflicts == 0, || format!("{conflicts} conflicts (409) in phase {name}"));
        }
        if let Some(register) = self.phases.get("register") {
            let (writes, invalid) = (register.trustee_deployment_writes, register.invalid_422);
            broken.unless(invalid == 0, || format!("{invalid} invalid writes (422) in phase register"));
            let windows = windows(register.seconds) + 1;
            broken.unless(writes <= windows, || {
                format!("{writes} writes of the Trustee Deployment in {windows} windows")
            });
        }
        let restart = self.phases.get("restart").map_or(0, |phase| phase.writes);
        broken.unless(restart == 0, || format!("{restart} writes in phase restart"));
        broken.unless(!self.streams.is_empty(), || "no open watch at the end of idle".to_owned());
        for (resource, count) in &self.streams {
            broken.unless(*count == 1, || format!("{count} open watches on {resource}"));
        }
        for difference in &self.differences {
            broken.unless(false, || format!("the counters disagree: {difference}"));
        }
        let Floor { requests, ratio } = self.floor;
        broken.unless(ratio <= MAX_RATIO, || {
            format!("register wrote {ratio:.3} times the floor of {requests}")
        });
        if let Some(Floor { requests, ratio }) = self.churn_floor {
            broken.unless(ratio <= MAX_CHURN_RATIO, || {
                format!("churn wrote {ratio:.3} times the floor of {requests}")
            });
        }
        broken
    }

    /// For people.
    pub(super) fn in_words(&self) -> String {
        let mut text = format!("{} pairs, seed {}, converged: {}\n\n", self.pairs, self.seed, self.converged);
        let _ = writeln!(text, "{:<10}{:>9}  requests", "phase", "seconds");
        for name in ["start", "register", "idle", "churn", "delete", "restart"] {
            let Some(phase) = self.phases.get(name) else { continue };
            let _ = writeln!(text, "{name:<10}{:>9.2}  {}", phase.seconds, in_words(&phase.requests));
        }
        let mebibytes = |bytes: u64| bytes as f64 / 1_048_576.0;
        let streams: Vec<String> =
            self.streams.iter().map(|(resource, count)| format!("{resource} {count}")).collect();
        let OperatorReport { max_rss_bytes, rss_settled_bytes, cpu_seconds } = self.operator;
        let _ = writeln!(text, "\nopen watches: {}", streams.join(", "));
        let _ = writeln!(
            text,
            "apart from these: {} lease, {} event, {} preflight, {} canary requests, {} verify reads",
            self.lease_requests,
            self.event_requests,
            self.preflight_requests,
            self.canary_requests,
            self.verify_reads
        );
        let _ = writeln!(
            text,
            "writes of the Trustee Deployment: {}; its size with all keys: {} bytes",
            self.trustee_deployment_writes, self.trustee_deployment_bytes
        );
        let _ = writeln!(text, "own counter agrees with the audit log: {}", self.own_counter_agrees);
        let _ = writeln!(
            text,
            "memory: {:.1} MiB at most, {:.1} MiB settled; CPU: {cpu_seconds:.2} s",
            mebibytes(max_rss_bytes),
            mebibytes(rss_settled_bytes)
        );
        let _ =
            write!(text, "register's writes: {:.3} x the floor of {}", self.floor.ratio, self.floor.requests);
        if let Some(Floor { requests, ratio }) = self.churn_floor {
            let _ = write!(text, "\nchurn's writes: {ratio:.3} x the floor of {requests}");
        }
        text
    }
}

impl PhaseReport {
    fn new(phase: &Phase, work: &Requests) -> PhaseReport {
        let requests = work.within(Window { from: Some(phase.from), to: phase.to });
        PhaseReport {
            seconds: phase.seconds,
            requests: by_verb(&requests),
            by_resource: requests.by_resource(),
            conflicts_409: requests.answered(409),
            invalid_422: requests.answered(422),
            trustee_deployment_writes: trustee_writes(&requests),
            writes: requests.writes(),
        }
    }
}

impl Floor {
    /// What cannot be done with fewer writes.
    fn new(measured: &Measured, writes: usize) -> Floor {
        let windows = windows(measured.register_seconds);
        let requests = WRITES_PER_PAIR * measured.pairs + measured.late + WRITES_PER_WINDOW * windows;
        Floor { requests, ratio: writes as f64 / requests as f64 }
    }

    /// A tenth of the pairs is made again; before that, their keys leave Trustee.
    fn of_churn(pairs: usize, churn: &PhaseReport) -> Floor {
        let requests = WRITES_PER_PAIR * pairs.div_ceil(10) + WRITES_PER_WINDOW * windows(churn.seconds);
        Floor { requests, ratio: churn.writes as f64 / requests as f64 }
    }
}

/// Windows of Trustee's writer within a time.
fn windows(seconds: f64) -> usize {
    (seconds / TRUSTEE_WINDOW).ceil() as usize
}

fn trustee_writes(requests: &Requests) -> usize {
    let ours = |request: &testenv::audit::Request| {
        request.resource == "deployments" && request.name == TRUSTEE_DEPLOYMENT && request.is_write()
    };
    requests.filter(ours).total()
}
