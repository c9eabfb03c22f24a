//! Until when nobody else can be working.
//!
//! The library that holds the lease tells when it is lost as soon as it learns so, which a process that was stopped,
//! or is cut off from the API server, does not. What such a process still knows is when it last renewed: nobody else
//! gets the lease before it has run out since. That is measured here, on a clock that goes on while a process is
//! stopped, and asked before each write.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::pending;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::{Body, ClientBuilder};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Our time with the lease. Clones share it.
#[derive(Clone, Debug)]
pub struct Tenure(Arc<watch::Sender<Option<Instant>>>);

impl Default for Tenure {
    fn default() -> Self {
        Tenure(Arc::new(watch::Sender::new(None)))
    }
}

impl Tenure {
    /// Ends, as far as is known now, at `until`.
    pub fn lasts(&self, until: Instant) {
        self.0.send_replace(Some(until));
    }

    /// Whether nobody else can be working at this moment.
    pub fn is_ours(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until a tenure that has begun is over.
    pub async fn over(&self) {
        let mut changes = self.0.subscribe();
        loop {
            let until = *changes.borrow_and_update();
            let run_out = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = run_out => return,
                _ = changes.changed() => {}
            }
        }
    }

    fn lost(&self) {
        self.0.send_if_modified(|until| {
            let ours = until.is_some_and(|until| Instant::now() < until);
            if ours {
                *until = Some(Instant::now());
            }
            ours
        });
    }

    /// A client for the lease that learns from the answers to its requests.
    pub(super) fn watched(&self, client: Client, identity: &str) -> Client {
        let namespace = client.default_namespace().to_owned();
        let (tenure, identity) = (self.clone(), identity.to_owned());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, tenure, identity) = (client.clone(), tenure.clone(), identity.clone());
            async move {
                let sent = Instant::now();
                let (head, body) = client.send(request).await?.into_parts();
                let body = body.collect().await?.to_bytes();
                if head.status.is_success() {
                    tenure.learn(&body, &identity, sent);
                }
                Ok::<_, kube::Error>(Response::from_parts(head, Full::new(body)))
            }
        });
        ClientBuilder::new(service, namespace).build()
    }

    /// What is left of the lease is counted from when the request was sent, and is never more than the whole: neither
    /// a slow answer nor a clock that is set back prolongs it.
    fn learn(&self, body: &Bytes, identity: &str, sent: Instant) {
        let Some(lease) = serde_json::from_slice::<Lease>(body).ok().and_then(|lease| lease.spec) else {
            return;
        };
        match lease.holder_identity.as_deref() {
            Some(holder) if holder == identity => {
                if let Some(left) = left(&lease, Timestamp::now()) {
                    self.lasts(sent + left);
                }
            }
            Some(_) => self.lost(),
            None => {}
        }
    }
}

fn left(lease: &LeaseSpec, now: Timestamp) -> Option<Duration> {
    let whole = Duration::from_secs(u64::try_from(lease.lease_duration_seconds?).ok()?);
    let age = now.duration_since(lease.renew_time.as_ref()?.0);
    Some(whole.saturating_sub(Duration::try_from(age).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn lease(holder: &str, renewed: Timestamp) -> Bytes {
        let spec =
            json!({"holderIdentity": holder, "leaseDurationSeconds": 60, "renewTime": renewed.to_string()});
        Bytes::from(json!({"metadata": {"name": "l"}, "spec": spec}).to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn it_lasts_until_the_lease_has_run_out_since_the_request() {
        let tenure = Tenure::default();
        assert!(!tenure.is_ours(), "not before the lease is held");
        let sent = Instant::now();
        // The answer takes ten seconds.
        tokio::time::advance(Duration::from_secs(10)).await;
        tenure.learn(&lease("us", Timestamp::now() + Duration::from_secs(3600)), "us", sent);
        assert!(tenure.is_ours());
        tenure.over().await;
        assert_eq!(sent.elapsed(), MINUTE, "a clock that was set back does not prolong it");
        assert!(!tenure.is_ours());
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_back_under_the_same_name_has_what_is_left() {
        let tenure = Tenure::default();
        let begun = Instant::now();
        tenure.learn(&lease("us", Timestamp::now() - Duration::from_secs(40)), "us", begun);
        tenure.over().await;
        let lasted = begun.elapsed();
        assert!((Duration::from_secs(18)..=Duration::from_secs(20)).contains(&lasted), "{lasted:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_when_another_holder_is_seen() {
        let tenure = Tenure::default();
        let mut over = Box::pin(tenure.over());
        tenure.learn(&lease("them", Timestamp::now()), "us", Instant::now());
        assert!(futures::poll!(&mut over).is_pending(), "what has not begun is not over");
        tenure.lasts(Instant::now() + MINUTE);
        assert!(futures::poll!(&mut over).is_pending());
        tenure.learn(&lease("them", Timestamp::now()), "us", Instant::now());
        over.await;
        assert!(!tenure.is_ours());
    }
}
