//! The two clients of a process.
//!
//! Owns the choice of layers. Watches and requests need opposite things: a watch must fail at once so that its cause
//! is seen, and may be silent for minutes; a request should survive a short overload, and must end. Both count into
//! one [`RequestCounter`]. Must never repeat a request that may have had an effect.

use std::time::Duration;

use bytes::Bytes;
use http::{
    Method, Request, Response,
    header::{CONTENT_TYPE, HeaderValue, InvalidHeaderValue, USER_AGENT},
};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, retry::RetryPolicy},
};
use tokio::time::Sleep;
use tower::{
    BoxError, Service,
    buffer::BufferLayer,
    retry::{Policy, RetryLayer, backoff::InvalidBackoff},
    timeout::TimeoutLayer,
};

mod counter;
pub(crate) mod labels;

pub use counter::{Counted, RequestCounter};
pub use labels::RequestLabels;

use labels::is_watch;

/// Longest silence on a connection that carries a watch: above the server's 290 s limit of a watch and kube's own
/// limit of 295 s, so that it only ends what nothing else has ended.
const WATCH_READ_TIMEOUT: Duration = Duration::from_secs(300);

/// Longest time for one request with all its repetitions, until the head of the answer.
const REQUEST_DEADLINE: Duration = Duration::from_secs(30);

/// Requests that may wait for the connection pool at the same time; the figure kube's own client uses.
const BUFFER: usize = 1024;

/// The clients made by [`clients`].
#[derive(Clone)]
pub struct Clients {
    /// For [`Builder`](crate::Builder): no retries, so that causes surface at once; a connection may be silent for
    /// as long as a watch lasts. The caches add back-off, and at least 1 s between two starts of the same watch.
    pub watch: Client,
    /// For everything else: 30 s for a request; GET and server-side apply are repeated up to three times when the
    /// server answers 429, 503 or 504, everything else never.
    pub request: Client,
}

/// The clients could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The User-Agent is no valid header value.
    #[error("the user agent is no valid header value")]
    UserAgent(#[source] InvalidHeaderValue),
    /// The configuration does not give a client: certificates, credentials or proxy.
    #[error("the Kubernetes client cannot be set up: {0}")]
    Config(#[source] Box<kube::Error>),
    /// The retry delays are not accepted.
    #[error("the retry delays are not valid")]
    Retry(#[source] InvalidBackoff),
}

/// Makes the two clients of a process over one counter. Must be called within a Tokio runtime.
///
/// Sets rustls' provider for this process to ring if none is set.
///
/// # Errors
///
/// When the user agent is no header value or the configuration does not give a client.
pub fn clients(config: Config, user_agent: &str, counter: &RequestCounter) -> Result<Clients, ClientError> {
    // Fails only when a provider is set already, and then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let agent = HeaderValue::from_str(user_agent).map_err(ClientError::UserAgent)?;
    let mut config = config;
    config.headers.retain(|(name, _)| name != USER_AGENT);
    config.headers.push((USER_AGENT, agent));
    let watch = stack(config.clone(), WATCH_READ_TIMEOUT)?;
    let request = stack(config, REQUEST_DEADLINE)?;
    Ok(Clients {
        watch: watch.with_layer(counter).build(),
        request: with_deadline_and_retries(request, counter).map_err(ClientError::Retry)?,
    })
}

/// The layers of the request client. The counter is innermost, so that it sees every repetition.
fn with_deadline_and_retries<S, B>(
    stack: ClientBuilder<S>,
    counter: &RequestCounter,
) -> Result<Client, InvalidBackoff>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError> + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Ok(stack
        .with_layer(counter)
        .with_layer(&BufferLayer::new(BUFFER))
        .with_layer(&RetryLayer::new(Repeat::new()?))
        .with_layer(&TimeoutLayer::new(REQUEST_DEADLINE))
        .build())
}

type Stack =
    ClientBuilder<tower::util::BoxService<Request<Body>, Response<Box<kube::client::DynBody>>, BoxError>>;

/// kube's own layers without its retries, which repeat POSTs too.
fn stack(mut config: Config, read_timeout: Duration) -> Result<Stack, ClientError> {
    config.default_retry = false;
    config.read_timeout = Some(read_timeout);
    // Otherwise the time a pooled connection was idle counts against the next answer.
    config.reset_reader_on_write = true;
    ClientBuilder::try_from(config).map_err(|error| ClientError::Config(Box::new(error)))
}

/// Repeats requests that can be repeated without a second effect, when the server says that it is overloaded.
#[derive(Clone)]
struct Repeat(RetryPolicy);

impl Repeat {
    fn new() -> Result<Self, InvalidBackoff> {
        RetryPolicy::new(Duration::from_millis(500), Duration::from_secs(5), 3, true).map(Self)
    }

    fn may_repeat(request: &Request<Body>) -> bool {
        match *request.method() {
            Method::GET | Method::HEAD => !is_watch(request.method(), request.uri()),
            // Server-side apply states the whole intent of its manager; doing it twice is doing it once.
            Method::PATCH => request
                .headers()
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"application/apply-patch")),
            _ => false,
        }
    }
}

impl<B> Policy<Request<Body>, Response<B>, BoxError> for Repeat {
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        result: &mut Result<Response<B>, BoxError>,
    ) -> Option<Sleep> {
        if Self::may_repeat(request) { self.0.retry(request, result) } else { None }
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        if !Self::may_repeat(request) {
            return None;
        }
        <RetryPolicy as Policy<Request<Body>, Response<B>, BoxError>>::clone_request(&mut self.0, request)
    }
}

#[cfg(test)]
mod tests;
