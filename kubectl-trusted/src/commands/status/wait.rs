//! `status --wait`: looks again whenever something changes, until what is waited for is so or the time is up.
//!
//! Owns the wait. After the first lists it reads from caches, so that waiting long costs no more requests than waiting
//! shortly. What may not be seen cannot be waited for.

use std::time::Duration;

use cachelib::{KindStatus, Running, Subscription};
use jiff::Timestamp;
use tokio::time::Instant;
use trusted_crds::health::Verdict;

use super::collect::{Kinds, Seen};
use super::document::{self, Status};
use crate::connect::Connection;
use crate::error::Result;

/// Changes that come together are looked at together.
const GATHERING: Duration = Duration::from_millis(100);

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum For {
    Healthy,
    /// Trustee has this key, or all keys of this machine.
    Delivered(String),
}

impl For {
    pub(crate) fn parse(text: &str) -> std::result::Result<For, String> {
        match text.split_once('=') {
            None if text == "healthy" => Ok(For::Healthy),
            Some(("delivered", name)) if !name.is_empty() => Ok(For::Delivered(name.to_owned())),
            _ => Err(format!("\"{text}\" cannot be waited for; write healthy or delivered=NAME")),
        }
    }

    fn is_reached(&self, status: &Status) -> bool {
        match self {
            For::Healthy => status.verdict == Verdict::Healthy,
            For::Delivered(name) => {
                let mut machines = status.machines.iter().filter(|row| row.name == *name || row.id == *name);
                let mut keys = status.attestation_keys.iter().filter(|row| row.name == *name);
                machines.any(|row| row.delivered == Some(true)) || keys.any(|row| row.delivered == Some(true))
            }
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            For::Healthy => "healthy".to_owned(),
            For::Delivered(name) => format!("{name} delivered"),
        }
    }
}

/// Where is looked, and how suggested commands get there.
pub(super) struct Place<'a> {
    pub(super) connection: &'a Connection,
    pub(super) namespaces: &'a [String],
    pub(super) flags: &'a str,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    Late,
    /// What may not be seen does not become visible by waiting.
    NotVisible,
}

impl Place<'_> {
    pub(super) fn status(&self, seens: &[Seen]) -> Status {
        document::of(seens, self.namespaces, self.flags, Timestamp::now())
    }

    pub(super) async fn wait(
        &self,
        seens: &mut [Seen],
        what: &For,
        limit: Duration,
    ) -> Result<(Status, End)> {
        let deadline = Instant::now() + limit;
        let mut watched = None;
        loop {
            let status = self.status(seens);
            if what.is_reached(&status) {
                return Ok((status, End::Reached));
            }
            if !status.incomplete.is_empty() {
                return Ok((status, End::NotVisible));
            }
            let watched = match &mut watched {
                Some(watched) => watched,
                none => none.insert(Watched::start(self.connection, self.namespaces)?),
            };
            if !watched.next(seens, deadline).await {
                return Ok((status, End::Late));
            }
        }
    }
}

/// The caches of every namespace that is looked at.
pub(super) struct Watched {
    places: Vec<(Kinds, Running)>,
    changes: Vec<Subscription<()>>,
}

impl Watched {
    pub(super) fn start(connection: &Connection, namespaces: &[String]) -> Result<Watched> {
        let all = [None];
        let named: Vec<_> = namespaces.iter().map(|namespace| Some(namespace.as_str())).collect();
        let mut watched = Watched { places: Vec::new(), changes: Vec::new() };
        for namespace in if named.is_empty() { &all[..] } else { &named } {
            let mut lists = connection.lists();
            let kinds = Kinds::register(&mut lists, *namespace)?;
            watched.changes.extend(kinds.subscriptions());
            watched.places.push((kinds, lists.watch()));
        }
        Ok(watched)
    }

    /// Waits for a change and brings what was seen up to it; false when the time is up.
    pub(super) async fn next(&mut self, seens: &mut [Seen], deadline: Instant) -> bool {
        let changed = self.changes.iter_mut().map(|change| Box::pin(change.next()));
        let change = futures::future::select_all(changed);
        if tokio::time::timeout_at(deadline, change).await.is_err() {
            return false;
        }
        tokio::time::sleep(GATHERING).await;
        for change in &mut self.changes {
            while change.try_next().is_some() {}
        }
        for ((kinds, _), seen) in self.places.iter().zip(seens) {
            kinds.refresh(seen);
        }
        true
    }
}

impl Watched {
    /// The kinds that were seen and are not followed at the moment, each with the cause.
    pub(super) fn interrupted(&self, seens: &[Seen]) -> Vec<String> {
        let is_hidden = |kind: &KindStatus| {
            seens.iter().flat_map(|seen| &seen.incomplete).any(|hidden| hidden.resource == kind.kind)
        };
        let kinds = self.places.iter().flat_map(|(_, running)| running.kinds());
        let behind = kinds.filter(|kind| kind.readiness.cause().is_some() && !is_hidden(kind));
        behind.map(|kind| format!("{}: {}", kind.kind, kind.readiness)).collect()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.places.iter().for_each(|(_, running)| running.shutdown());
    }
}
