//! What a network or an API server may do to a reflector, shown by a proxy in front of the real API server.
//!
//! Whatever happens, each test ends with a store that holds exactly what the API server holds; the comparison goes
//! around the proxy.

mod bad_objects;
mod expiry;
mod lists;
mod order;
mod outages;
mod streams;
mod told;
mod watches;

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use testenv::{
    eventually,
    faults::{Call, Entry, FaultProxy, Log, Match, Refusal, Rule, Step},
};

use crate::support::{LIMIT, READ, Scene};

/// The kind of most tests.
pub(crate) const MAPS: &str = "configmaps";

/// A scene whose caches reach the API server through a proxy. Its admin does not.
pub(crate) async fn behind_proxy(prefix: &str) -> (Scene, FaultProxy) {
    let mut scene = Scene::new(prefix, &[("", MAPS, READ)]).await;
    let proxy = FaultProxy::start(scene.control_plane);
    scene.config = proxy.config(&scene.config);
    // Kubernetes adds one of its own, which must not come in between.
    eventually("the namespace to be complete", LIMIT, || async {
        scene.admin::<ConfigMap>().get("kube-root-ca.crt").await.ok()
    })
    .await;
    (scene, proxy)
}

/// How many lists, each page of its own, and watches have arrived.
fn requests(proxy: &FaultProxy) -> (usize, usize) {
    let log = proxy.log();
    (log.count("list", MAPS), log.count("watch", MAPS))
}

fn query(call: &Call) -> &str {
    call.uri.query().unwrap_or_default()
}

/// Whether a list goes on after its first page.
fn is_continued(call: &Call) -> bool {
    query(call).contains("continue=")
}

/// Whether a watch begins with a list.
fn is_streamed_list(call: &Call) -> bool {
    query(call).contains("sendInitialEvents=true")
}

/// Ends the watch that is open, as a server may at any time.
async fn end_watch(proxy: &FaultProxy) {
    proxy.on(Match::watch(MAPS)).times(1).end_at_once().hit(1).await;
}

/// A watch that is held back and refused when it is let go.
struct HeldWatch {
    hang: Rule,
    refusal: Rule,
}

/// Ends the watch that is open and holds the one back that follows, to be refused later. What happens on the server
/// meanwhile is seen by no watch.
async fn hold_watch(proxy: &FaultProxy, refusal: Refusal) -> HeldWatch {
    let hang = proxy.on(Match::watch(MAPS)).times(1).hang();
    let refusal = proxy.on(Match::watch(MAPS)).times(1).answer(refusal);
    end_watch(proxy).await;
    hang.hit(1).await;
    HeldWatch { hang, refusal }
}

impl HeldWatch {
    async fn refuse(self) {
        self.hang.lift();
        self.refusal.hit(1).await;
    }
}

/// How long nothing was asked for after each watch that was answered with this code.
fn pauses_after(log: &Log, code: u16) -> Vec<Duration> {
    let entries = log.entries();
    let after = |(position, refused): (usize, &Entry)| {
        let next = entries[position..].iter().find(|entry| entry.step == Step::Received)?;
        Some(next.at - refused.at)
    };
    let refused = entries.iter().enumerate().filter(|(_, entry)| entry.step == Step::Answered(code));
    refused.filter_map(after).collect()
}
