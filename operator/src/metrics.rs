//! What the operator tells of itself in Prometheus text format: requests it sent, what its stores hold, how its
//! reconciles went. The numbers are its own; the API server's audit log is the referee.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cachelib::{KindStatus, RequestCounter};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::error::Class;

/// Upper bounds of the buckets for durations: 1 ms and each twice the one before, up to 65 s.
const SHORTEST_BUCKET: f64 = 0.001;
const BUCKETS: u16 = 17;

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what there was to do.
    Success,
    /// A write failed.
    Failed(Class),
    /// It panicked.
    Panicked,
}

impl Outcome {
    const fn label(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Failed(class) => class.label(),
            Outcome::Panicked => "panic",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcileLabels {
    controller: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ControllerLabels {
    controller: &'static str,
}

/// Counters of one controller.
#[derive(Clone, Default)]
pub struct ReconcileMetrics {
    controller: &'static str,
    passes: Family<ReconcileLabels, Counter>,
    depth: Gauge,
    handled: Option<Histogram>,
}

impl ReconcileMetrics {
    /// Notes the end of a pass.
    pub fn finished(&self, outcome: Outcome) {
        let labels = ReconcileLabels { controller: self.controller, result: outcome.label() };
        self.passes.get_or_create(&labels).inc();
    }

    /// Notes that events were dealt with, the first of which came that long ago.
    pub fn handled(&self, after: Duration) {
        self.handled.iter().for_each(|handled| handled.observe(after.as_secs_f64()));
    }

    /// Notes how many keys are due and wait for a free place.
    pub fn depth(&self, ready: usize) {
        self.depth.set(i64::try_from(ready).unwrap_or(i64::MAX));
    }
}

/// All metrics of the process.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    passes: Family<ReconcileLabels, Counter>,
    depth: Family<ControllerLabels, Gauge>,
    handled: Family<ControllerLabels, Histogram>,
    leading: Gauge,
}

/// Tells the state of every store.
pub type ListStores = Arc<dyn Fn() -> Vec<KindStatus> + Send + Sync>;

impl Metrics {
    /// Registers everything there is to tell.
    pub fn new(requests: RequestCounter, stores: ListStores, dropped_events: Counter) -> Self {
        let mut all = Registry::default();
        // Under the name that all processes give it, by which tools tell that the counters began anew.
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        all.register_with_unit(
            "process_start_time",
            "When this process began to count, in seconds since 1970",
            Unit::Seconds,
            ConstGauge::new(started.as_secs_f64()),
        );
        let registry = all.sub_registry_with_prefix("trusted_operator");
        let passes = Family::<ReconcileLabels, Counter>::default();
        let depth = Family::<ControllerLabels, Gauge>::default();
        let handled = Family::<ControllerLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(SHORTEST_BUCKET, 2.0, BUCKETS))
        });
        let leading = Gauge::default();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "The running version", Info::new(version));
        registry.register("leading", "1 while this process holds the lease and works", leading.clone());
        registry.register_with_unit(
            "event_handling",
            "From an event to the end of the pass that dealt with it, statuses written",
            Unit::Seconds,
            handled.clone(),
        );
        registry.register("reconciles", "Passes by controller and result", passes.clone());
        registry.register("queue_depth", "Keys that are due and wait for a free place", depth.clone());
        registry.register(
            "events_dropped",
            "Events for people that were not sent because too many were waiting",
            dropped_events,
        );
        registry.register_collector(Box::new(Requests(requests)));
        registry.register_collector(Box::new(Stores(stores)));
        Metrics { registry: Arc::new(all), passes, depth, handled, leading }
    }

    /// The counters of one controller.
    pub fn of_controller(&self, controller: &'static str) -> ReconcileMetrics {
        let labels = ControllerLabels { controller };
        let depth = self.depth.get_or_create(&labels).clone();
        let handled = Some(self.handled.get_or_create(&labels).clone());
        ReconcileMetrics { controller, passes: self.passes.clone(), depth, handled }
    }

    /// Notes whether this process leads.
    pub fn leads(&self, leads: bool) {
        self.leading.set(leads.into());
    }

    /// Everything in Prometheus text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

struct Requests(RequestCounter);

impl std::fmt::Debug for Requests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Requests")
    }
}

impl Collector for Requests {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let counter = ConstCounter::new(0_u64);
        let mut family = encoder.encode_descriptor(
            "http_requests",
            "Requests sent to the API server, retries included",
            None,
            counter.metric_type(),
        )?;
        for (labels, count) in self.0.snapshot() {
            let code = labels.code.to_string();
            let labels = [
                ("verb", labels.verb.as_ref()),
                ("group", labels.group.as_str()),
                ("resource", labels.resource.as_str()),
                ("subresource", labels.subresource.as_str()),
                ("code", code.as_str()),
                // Part of the counter's key: without it two series would have the same labels.
                ("dry_run", if labels.dry_run { "true" } else { "false" }),
                ("canary", if labels.canary { "true" } else { "false" }),
            ];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

struct Stores(ListStores);

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stores")
    }
}

/// Name, meaning and value of a figure of one store; no value, no series.
type Figure<T> = (&'static str, &'static str, fn(&KindStatus) -> Option<T>);

const GAUGES: [Figure<i64>; 6] = [
    ("store_objects", "Objects held by a store", |store| i64::try_from(store.objects).ok()),
    ("store_malformed_objects", "Objects that cannot be read and are not served", |store| {
        i64::try_from(store.malformed.len()).ok()
    }),
    ("store_synced", "1 while a store is complete and kept up to date", |store| {
        Some(store.readiness.is_synced().into())
    }),
    ("store_subscribers", "Subscribers of a store", |store| i64::try_from(store.subscribers).ok()),
    ("store_resource_version", "Highest resource version that a store has seen", |store| {
        i64::try_from(store.version?).ok()
    }),
    ("store_last_event_timestamp_seconds", "When a store last took in an event or a list", |store| {
        Some(store.last_event?.as_second())
    }),
];

const COUNTERS: [Figure<u64>; 3] = [
    ("store_lists", "Complete lists taken in by a store", |store| Some(store.lists)),
    ("store_errors", "Failed tries to list or watch", |store| Some(store.errors)),
    ("store_reads", "Reads answered from memory instead of by the API server", |store| Some(store.reads)),
];

impl Collector for Stores {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let stores = (self.0)();
        for (name, help, value) in GAUGES {
            let kind = ConstGauge::new(0_i64).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (store, value) in stores.iter().filter_map(|store| Some((store, value(store)?))) {
                ConstGauge::new(value).encode(family.encode_family(&[("kind", store.kind.as_str())])?)?;
            }
        }
        for (name, help, value) in COUNTERS {
            let kind = ConstCounter::new(0_u64).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (store, value) in stores.iter().filter_map(|store| Some((store, value(store)?))) {
                ConstCounter::new(value).encode(family.encode_family(&[("kind", store.kind.as_str())])?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
