//! What the operator tells of itself in Prometheus text format: requests it sent, what its stores hold, how its
//! reconciles went. The numbers are its own; the API server's audit log is the referee.

use std::sync::Arc;

use cachelib::{KindStatus, RequestCounter};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use crate::error::Class;

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
}

impl ReconcileMetrics {
    /// Notes the end of a pass.
    pub fn finished(&self, outcome: Outcome) {
        let labels = ReconcileLabels { controller: self.controller, result: outcome.label() };
        self.passes.get_or_create(&labels).inc();
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
}

/// Tells the state of every store.
pub type ListStores = Arc<dyn Fn() -> Vec<KindStatus> + Send + Sync>;

impl Metrics {
    /// Registers everything there is to tell.
    pub fn new(requests: RequestCounter, stores: ListStores, dropped_events: Counter) -> Self {
        let mut registry = Registry::with_prefix("trusted_operator");
        let passes = Family::<ReconcileLabels, Counter>::default();
        let depth = Family::<ControllerLabels, Gauge>::default();
        registry.register("reconciles", "Passes by controller and result", passes.clone());
        registry.register("queue_depth", "Keys that are due and wait for a free place", depth.clone());
        registry.register(
            "events_dropped",
            "Events for people that were not sent because too many were waiting",
            dropped_events,
        );
        registry.register_collector(Box::new(Requests(requests)));
        registry.register_collector(Box::new(Stores(stores)));
        Metrics { registry: Arc::new(registry), passes, depth }
    }

    /// The counters of one controller.
    pub fn of_controller(&self, controller: &'static str) -> ReconcileMetrics {
        let depth = self.depth.get_or_create(&ControllerLabels { controller }).clone();
        ReconcileMetrics { controller, passes: self.passes.clone(), depth }
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

const COUNTERS: [Figure<u64>; 2] = [
    ("store_lists", "Complete lists taken in by a store", |store| Some(store.lists)),
    ("store_errors", "Failed tries to list or watch", |store| Some(store.errors)),
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
mod tests {
    use std::collections::HashSet;

    use k8s_openapi::api::core::v1::Secret;
    use kube::api::{Api, Patch, PatchParams};
    use kube::{Client, Config};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_dry_run_is_a_series_of_its_own() {
        let counter = RequestCounter::default();
        // Nothing listens there; a request without an answer is counted with code 0.
        let config = Config::new("http://127.0.0.1:1".parse().unwrap());
        let client: Client = cachelib::clients(config, "test", &counter).unwrap().request;
        for dry_run in [false, true, true] {
            let params = PatchParams { dry_run, ..PatchParams::default() };
            let secrets = Api::<Secret>::namespaced(client.clone(), "ns");
            secrets.patch("a", &params, &Patch::Merge(json!({}))).await.unwrap_err();
        }
        let text = Metrics::new(counter, Arc::new(Vec::new), Counter::default()).text();
        let series: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("trusted_operator_http_requests_total")?.rsplit_once(' '))
            .collect();
        let labels = |dry_run: &str| {
            format!(
                r#"{{verb="patch",group="",resource="secrets",subresource="",code="0",dry_run="{dry_run}"}}"#
            )
        };
        let named: HashSet<&str> = series.iter().map(|(labels, _)| *labels).collect();
        assert_eq!(named.len(), series.len(), "series with equal labels: {text}");
        assert!(
            series.contains(&(&labels("false"), "1")) && series.contains(&(&labels("true"), "2")),
            "{text}"
        );
    }
}
