//! Counting of HTTP requests.
//!
//! Owns the figures and the layer that makes them. The layer belongs inside any retry layer, so that every request
//! that leaves the process is counted, not every call. Requests made by credential plugins and token refresh are
//! not seen by any layer.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use parking_lot::Mutex;
use tower::{Layer, Service};

use super::labels::RequestLabels;

/// Counts HTTP requests by verb, group, resource, subresource and code, as an audit log would.
///
/// Clones share the figures. A request is counted when the head of its answer arrives, a watch thus when it is
/// accepted, or with code 0 when it is given up before that.
#[derive(Clone, Debug, Default)]
pub struct RequestCounter {
    counts: Arc<Mutex<BTreeMap<RequestLabels, u64>>>,
}

impl RequestCounter {
    /// A counter at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// All figures at this moment, sorted by labels.
    pub fn snapshot(&self) -> Vec<(RequestLabels, u64)> {
        self.counts.lock().iter().map(|(labels, count)| (labels.clone(), *count)).collect()
    }

    /// Number of requests of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.lock().values().sum()
    }

    fn add(&self, labels: RequestLabels) {
        *self.counts.lock().entry(labels).or_default() += 1;
    }
}

impl<S> Layer<S> for RequestCounter {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { inner, counter: self.clone() }
    }
}

/// A service whose requests are counted. Made by [`RequestCounter`] as a layer.
#[derive(Clone, Debug)]
pub struct Counted<S> {
    inner: S,
    counter: RequestCounter,
}

impl<S, In, Out> Service<Request<In>> for Counted<S>
where
    S: Service<Request<In>, Response = Response<Out>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let labels = RequestLabels::of(request.method(), request.uri());
        let mut open = OpenRequest { counter: self.counter.clone(), labels: Some(labels) };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            if let Ok(response) = &answer {
                open.finish(response.status().as_u16());
            }
            answer
        })
    }
}

/// A request on its way. Dropped without an answer it is counted all the same: it may have reached the server.
struct OpenRequest {
    counter: RequestCounter,
    labels: Option<RequestLabels>,
}

impl OpenRequest {
    fn finish(&mut self, code: u16) {
        if let Some(labels) = self.labels.take() {
            self.counter.add(labels.answered(code));
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.finish(0);
    }
}
