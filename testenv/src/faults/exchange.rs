//! One request and its answer.

use std::{fmt::Display, sync::Arc};

use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response,
    header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING},
};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kube::client::Body;

use super::{
    Shared,
    body::{AnswerBody, BoxError, Cut},
    call::Call,
    log::Step,
};

/// Headers about one hop, not about the request.
const HOP: [HeaderName; 4] = [CONNECTION, HOST, CONTENT_LENGTH, TRANSFER_ENCODING];

/// A request that is being answered.
pub(super) struct Exchange {
    shared: Arc<Shared>,
    call: Arc<Call>,
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
        let response = exchange.forward().await?;
        exchange.note(Step::Answered(response.status().as_u16()));
        Ok(response)
    }

    /// Asks the API server.
    async fn forward(&self) -> Result<Response<AnswerBody>, Cut> {
        let response = match self.shared.upstream.send(self.request()).await {
            Ok(response) => response,
            Err(error) => return Err(self.failed(&error)),
        };
        let (mut head, body) = response.into_parts();
        head.headers.remove(CONNECTION);
        head.headers.remove(TRANSFER_ENCODING);
        let body = body.map_err(BoxError::from).boxed_unsync();
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

    /// A client whose API server fails sees what it would see without the proxy.
    fn failed(&self, error: &dyn Display) -> Cut {
        self.note(Step::Failed(error.to_string()));
        Cut
    }

    fn note(&self, step: Step) {
        self.shared.book.note(&self.call, self.number, step);
    }
}
