//! When another operator gives the lease back.
//!
//! The library that holds the lease looks again only when the lease it saw would have run out. Who gives it back on a
//! clean stop does so long before, so a standby watches the one Lease, and a rollout goes on within a second.

use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::{WatchEvent, WatchParams};
use tokio::time::sleep;

use super::LEASE;

/// A lease that is free is taken in less, and then there is nothing to wait for.
const UNDECIDED: Duration = Duration::from_secs(1);
/// Between two tries to watch. Whoever watches nothing still takes over when the lease has run out.
const AGAIN: Duration = Duration::from_secs(5);

/// One item each time the lease, which somebody else has or we would have taken it, turns out to have no holder.
pub(super) fn vacancies(leases: Api<Lease>) -> impl Stream<Item = ()> {
    let watches =
        stream::once(sleep(UNDECIDED)).chain(stream::repeat_with(|| sleep(AGAIN)).then(|pause| pause));
    let events = watches.then(move |()| watch(leases.clone())).flatten();
    events
        .scan(true, |taken, event| {
            let was_taken = std::mem::replace(taken, is_held(&event));
            std::future::ready(Some(was_taken && !*taken))
        })
        .filter_map(|vacant| std::future::ready(vacant.then_some(())))
}

/// Begins with the Lease as it is: any version will do, since what matters comes after it.
async fn watch(leases: Api<Lease>) -> BoxStream<'static, WatchEvent<Lease>> {
    let this = WatchParams::default().fields(&format!("metadata.name={LEASE}"));
    match leases.watch(&this, "0").await {
        Ok(events) => events.filter_map(|event| std::future::ready(event.ok())).boxed(),
        Err(error) => {
            tracing::debug!(%error, "the lease is not watched; it is taken when it has run out");
            stream::empty().boxed()
        }
    }
}

fn is_held(event: &WatchEvent<Lease>) -> bool {
    let (WatchEvent::Added(lease) | WatchEvent::Modified(lease)) = event else { return false };
    lease.spec.as_ref().is_some_and(|spec| spec.holder_identity.is_some())
}
