//! One list of each kind and no watch, for programs that look once and end.
//!
//! Owns the requests and what became of them, kind by kind: one that may not be listed leaves the others as they are.
//! Objects are taken in like those of a stream: parsed one by one, trimmed and indexed.

use std::{collections::HashMap, time::Duration};

use kube::{Client, api::ListParams};
use tokio::time::timeout;

use crate::{Cache, Cached, Options, Source, guard::Guard};

/// What became of the lists that [`Builder::load`](crate::Builder::load) has made.
#[derive(Debug)]
pub struct Loaded {
    pub(crate) failures: HashMap<(String, Source), ListError>,
}

impl Loaded {
    /// Why a kind could not be listed; its store is empty then. `None` where it was.
    pub fn failure<T: Send + Sync + 'static>(&self, cache: &Cache<T>) -> Option<&ListError> {
        self.failures.get(&cache.identity())
    }
}

/// A kind that could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// A request failed; [`Cause::of`](crate::Cause::of) tells what a person should mend.
    #[error("the request failed")]
    Request(#[source] Box<kube::Error>),
    /// A page was not complete within [`Options::list_timeout`].
    #[error("no answer within {0:?}")]
    Deadline(Duration),
}

/// Lists all objects of a kind, page by page.
///
/// A list whose continuation has expired is started anew once, since what was read so far is of an older state.
pub(crate) async fn list<K: Cached>(
    client: &Client,
    source: &Source,
    options: &Options,
) -> Result<Vec<Guard<K>>, ListError> {
    match pages(client, source, options).await {
        Err(ListError::Request(error)) if is_expired(&error) => pages(client, source, options).await,
        outcome => outcome,
    }
}

fn is_expired(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 410)
}

async fn pages<K: Cached>(
    client: &Client,
    source: &Source,
    options: &Options,
) -> Result<Vec<Guard<K>>, ListError> {
    let api = source.api::<K>(client.clone());
    let mut params = ListParams { label_selector: source.labels.clone(), ..ListParams::default() }
        .limit(options.page_size.max(1));
    let limit = options.list_timeout;
    let mut guards = Vec::new();
    loop {
        let page = timeout(limit, api.list(&params)).await.map_err(|_| ListError::Deadline(limit))?;
        let page = page.map_err(|error| ListError::Request(Box::new(error)))?;
        guards.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(guards),
        }
    }
}

#[cfg(test)]
mod tests;
