//! One LIST of each kind, all at the same time.
//!
//! Owns the way from cachelib's registration to an outcome in the words of this program.

use std::time::Duration;

use cachelib::{BuildError, Builder, Cache, Cached, ListError, Loaded, Options, Running, Source};

use super::Connection;
use crate::error::{Attempt, Class, Error, Result};

/// The kinds to be listed.
pub(crate) struct Lists<'a> {
    connection: &'a Connection,
    kinds: Builder,
}

/// What became of the lists.
pub(crate) struct Listed<'a> {
    connection: &'a Connection,
    loaded: Loaded,
}

impl Connection {
    /// Begins a registration of kinds.
    pub(crate) fn lists(&self) -> Lists<'_> {
        let list_timeout = self.request_timeout.unwrap_or(Duration::MAX);
        let options = Options { list_timeout, ..Options::default() };
        Lists { connection: self, kinds: Builder::new(self.client.clone(), options) }
    }
}

impl<'a> Lists<'a> {
    pub(crate) fn add<K: Cached>(&mut self, source: Source) -> Result<Cache<K>> {
        self.kinds.cache::<K>(source).build().map_err(|error| wrong(&error))
    }

    pub(crate) async fn load(self) -> Listed<'a> {
        Listed { connection: self.connection, loaded: self.kinds.load().await }
    }
}

impl Lists<'_> {
    /// Goes on watching them, until the value is told to stop.
    pub(crate) fn watch(self) -> Running {
        self.kinds.start()
    }
}

/// What cannot be asked for, such as the objects of a namespace without a name.
fn wrong(error: &BuildError) -> Error {
    Error::new(Class::Client, error.to_string()).next("choose a namespace with -n, or all with -A")
}

impl Listed<'_> {
    /// Why a kind is not in its cache.
    pub(crate) fn error<K: Cached>(&self, cache: &Cache<K>) -> Option<Error> {
        Some(match self.loaded.failure(cache)? {
            ListError::Request(error) => attempt(cache).failed(error, &self.connection.url),
            ListError::Deadline(_) => attempt(cache).too_slow(self.connection),
        })
    }
}

/// What was asked for.
pub(crate) fn attempt<K: Cached>(cache: &Cache<K>) -> Attempt {
    Attempt::on::<K>("list", cache.status().namespace.as_deref())
}
