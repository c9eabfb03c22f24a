//! One request and its answer.

use std::{fmt::Display, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING},
};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kube::client::Body;
use serde_json::Value;
use tokio::time::sleep;

use super::{
    Shared,
    action::{CallAction, OnAnswer, OnRequest},
    body::{self, AnswerBody, BoxError, Cut, Early},
    call::Call,
    event::{Event, Lines},
    log::Step,
    rule::CallRule,
    watch::WatchStream,
};

/// Headers about one hop, not about the request.
const HOP: [HeaderName; 4] = [CONNECTION, HOST, CONTENT_LENGTH, TRANSFER_ENCODING];

/// A request that is being answered.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    pub(super) call: Arc<Call>,
    number: u64,
}

impl Exchange {
    /// Reads a request and answers it. An error cuts the connection.
    pub(super) async fn serve(
        shared: Arc<Shared>,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, BoxError> {
        let call = Arc::new(Call::read(request).await?);
        let number = shared.book.received(&call);
        let exchange = Exchange { shared, call, number };
        let response = exchange.answer().await?;
        exchange.note(Step::Answered(response.status().as_u16()));
        Ok(response)
    }

    async fn answer(&self) -> Result<Response<AnswerBody>, Cut> {
        let (rules, newest) = self.shared.rules.about(&self.call);
        if let Some(response) = self.before(&rules).await? {
            self.after(&rules, response, OnAnswer::is_for_any_answer).await
        } else {
            let response = self.forward(newest).await?;
            // A watch has no whole body to work on.
            let fits = |action: &OnAnswer| !self.call.is_watch() || !action.is_for_whole_bodies();
            self.after(&rules, response, fits).await
        }
    }

    /// What rules do before the API server sees the request; an answer if it is not to see it.
    async fn before(&self, rules: &[CallRule]) -> Result<Option<Response<AnswerBody>>, Cut> {
        for rule in rules {
            let CallAction::Request(action) = &rule.action else { continue };
            if !rule.core.fires() {
                continue;
            }
            self.fault(action.name(), None);
            match action {
                OnRequest::Hang => rule.core.lifted().await,
                OnRequest::Answer(refusal) => return Ok(Some(refusal.response())),
                OnRequest::ErrorEvent(refusal) => return Ok(Some(json(refusal.event().line))),
                OnRequest::EndAtOnce => return Ok(Some(json(Bytes::new()))),
                OnRequest::Cut => return Err(Cut),
            }
        }
        Ok(None)
    }

    /// What rules do with an answer, those whose action `fits`.
    async fn after(
        &self,
        rules: &[CallRule],
        mut response: Response<AnswerBody>,
        fits: impl Fn(&OnAnswer) -> bool,
    ) -> Result<Response<AnswerBody>, Cut> {
        for rule in rules {
            let CallAction::Answer(action) = &rule.action else { continue };
            if fits(action) && rule.core.fires() {
                self.fault(action.name(), None);
                response = self.damage(rule, action, response).await?;
            }
        }
        Ok(response)
    }

    async fn damage(
        &self,
        rule: &CallRule,
        action: &OnAnswer,
        response: Response<AnswerBody>,
    ) -> Result<Response<AnswerBody>, Cut> {
        let (mut head, body) = response.into_parts();
        if matches!(action, OnAnswer::OlderAnswer(_) | OnAnswer::Rewrite(_) | OnAnswer::Truncate(_)) {
            head.headers.remove(CONTENT_LENGTH);
        }
        let body = match action {
            OnAnswer::LoseAnswer => return Err(Cut),
            OnAnswer::Crash => {
                self.shared.stand_still(&rule.core);
                rule.core.lifted().await;
                return Err(Cut);
            }
            OnAnswer::OlderAnswer(recorded) => match recorded.get(&self.call.question()) {
                Some(older) => body::full(older.clone()),
                None => body,
            },
            OnAnswer::Rewrite(change) => {
                let bytes = self.collect(body).await?;
                let rewritten = serde_json::from_slice::<Value>(&bytes).map(|mut value| {
                    (change.0)(&mut value);
                    value.to_string().into()
                });
                body::full(rewritten.unwrap_or(bytes))
            }
            OnAnswer::Delay(delay) => {
                sleep(*delay).await;
                body
            }
            OnAnswer::Truncate(bytes) => body::first_bytes(body, *bytes, Early::Clean),
            OnAnswer::CutAfter(bytes) => body::first_bytes(body, *bytes, Early::Cut),
            OnAnswer::Slow(bytes, pause) => body::slow(body, *bytes, *pause),
            OnAnswer::Silence => body::silent(body),
        };
        Ok(Response::from_parts(head, body))
    }

    /// Asks the API server. `newest` is the newest rule that has been considered for this request.
    async fn forward(&self, newest: u64) -> Result<Response<AnswerBody>, Cut> {
        if let Some(stopped) = self.shared.stopped() {
            self.fault(OnAnswer::Crash.name(), None);
            stopped.lifted().await;
            // It is the request of a process that is taken to be dead, so it must not pass later.
            return Err(Cut);
        }
        let response = match self.shared.upstream.send(self.request()).await {
            Ok(response) => response,
            Err(error) => return Err(self.failed(&error)),
        };
        let (mut head, body) = response.into_parts();
        head.headers.remove(CONNECTION);
        head.headers.remove(TRANSFER_ENCODING);
        let body = if head.status != StatusCode::OK {
            body.map_err(BoxError::from).boxed_unsync()
        } else if self.call.is_watch() {
            WatchStream::new(self.clone(), Lines::new(body), newest).into_body()
        } else if self.call.is_read() {
            let bytes = self.collect(body).await?;
            self.shared.record(self.call.question(), bytes.clone());
            body::full(bytes)
        } else {
            body.map_err(BoxError::from).boxed_unsync()
        };
        Ok(Response::from_parts(head, body))
    }

    /// The request as the API server gets it: as it came, but never compressed, so that the answer can be read.
    fn request(&self) -> Request<Body> {
        let mut headers: HeaderMap = self.call.headers.clone();
        for name in HOP {
            headers.remove(name);
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut request = Request::new(Body::from(self.call.body.clone()));
        *request.method_mut() = self.call.method.clone();
        *request.uri_mut() = self.call.uri.clone();
        *request.headers_mut() = headers;
        request
    }

    async fn collect<B>(&self, body: B) -> Result<Bytes, Cut>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: Display,
    {
        match body.collect().await {
            Ok(collected) => Ok(collected.to_bytes()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// A client whose API server fails sees what it would see without the proxy.
    fn failed(&self, error: &dyn Display) -> Cut {
        self.note(Step::Failed(error.to_string()));
        Cut
    }

    /// Notes a fault to one of the events, or to the request itself.
    pub(super) fn fault(&self, name: &'static str, event: Option<&Event>) {
        self.note(Step::Fault(name, event.map(ToString::to_string).unwrap_or_default()));
    }

    pub(super) fn note(&self, step: Step) {
        self.shared.book.note(&self.call, self.number, step);
    }
}

fn json(bytes: Bytes) -> Response<AnswerBody> {
    let mut response = Response::new(body::full(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
