//! Reads a page over HTTP.
//!
//! Owns what must be so before a page is believed: an answer that is one, and all of it. Must not word errors: whose
//! page it is, the caller knows.

use std::time::Duration;

use futures::{AsyncBufReadExt, AsyncReadExt, TryStreamExt};
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, DATE};
use http::{HeaderMap, HeaderName};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::core::Status;

use super::{Scrape, Series};

/// OpenMetrics first: its pages say where they end.
const FORMATS: &str = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.9,*/*;q=0.1";

/// More than the page of any API server; what goes on beyond it is none.
const LARGEST_PAGE: u64 = 256 * 1024 * 1024;

/// As much of a refusal as is read.
const LARGEST_REFUSAL: u64 = 64 * 1024;

/// Where the page is, and how it is read.
#[derive(Clone, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) path: &'a str,
    pub(crate) limit: Option<Duration>,
    /// Over a connection that is used once, so that a load balancer may choose anew.
    pub(crate) alone: bool,
}

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Failure {
    Request(kube::Error),
    TooSlow,
    BrokeOff(String),
    /// The end is missing; how that is known.
    CutShort(&'static str),
    /// The answer is something else; of what type.
    NoPage(String),
}

pub(crate) async fn fetch(client: &Client, target: Target<'_>, series: Series) -> Result<Scrape, Failure> {
    let limit = target.limit;
    let reading = read(client, target, series);
    match limit {
        None => reading.await,
        Some(limit) => tokio::time::timeout(limit, reading).await.unwrap_or(Err(Failure::TooSlow)),
    }
}

async fn read(client: &Client, target: Target<'_>, series: Series) -> Result<Scrape, Failure> {
    let mut request = http::Request::get(target.path).header(ACCEPT, FORMATS);
    if target.alone {
        request = request.header(CONNECTION, "close");
    }
    let request =
        request.body(Body::empty()).map_err(|error| Failure::Request(kube::Error::HttpError(error)))?;
    let answer = client.send(request).await.map_err(Failure::Request)?;
    let status = answer.status();
    let content_type = header(answer.headers(), CONTENT_TYPE).unwrap_or("unknown").to_owned();
    let date = header(answer.headers(), DATE).and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let body = answer.into_body().into_data_stream().map_err(std::io::Error::other).into_async_read();
    if !status.is_success() {
        let mut text = Vec::new();
        // What has come of a refusal tells more than that its rest has not.
        let _ = body.take(LARGEST_REFUSAL).read_to_end(&mut text).await;
        return Err(Failure::Request(refusal(status, &String::from_utf8_lossy(&text))));
    }
    let mut scrape = Scrape::of(series);
    scrape.clock = date.map(|date| date.timestamp());
    let mut body = body.take(LARGEST_PAGE);
    let mut line = Vec::new();
    loop {
        line.clear();
        match body.read_until(b'\n', &mut line).await {
            Ok(0) => break,
            Ok(_) => scrape.line(&String::from_utf8_lossy(&line)),
            Err(error) => return Err(Failure::BrokeOff(error.to_string())),
        }
    }
    whole(scrape, &content_type)
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn whole(scrape: Scrape, content_type: &str) -> Result<Scrape, Failure> {
    if !scrape.lines.is_page() {
        return Err(Failure::NoPage(content_type.to_owned()));
    }
    match scrape.lines.cut(content_type.starts_with("application/openmetrics-text")) {
        Some(sign) => Err(Failure::CutShort(sign)),
        None => Ok(scrape),
    }
}

/// As kube reads it: a Status, or whatever text somebody on the way has sent.
fn refusal(status: http::StatusCode, text: &str) -> kube::Error {
    let told = serde_json::from_str::<Status>(text).ok().filter(|told| told.code != 0);
    let told = told.unwrap_or_else(|| {
        Status::failure(text.lines().next().unwrap_or_default().trim(), FOREIGN).with_code(status.as_u16())
    });
    kube::Error::Api(Box::new(told))
}

/// The reason of a refusal that is no Status of an API server.
pub(crate) const FOREIGN: &str = "NoStatus";
