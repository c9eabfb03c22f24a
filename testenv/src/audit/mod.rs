//! Counting requests from the API server's audit log.
//!
//! Purpose: what a process costs the API server, told by the API server itself.
//!
//! Owns: reading the log, and the grouping into what is work and what is not. Which event of a request counts is the
//! rule of `auditlog`, which the plug-in follows too.
//!
//! Must not: trust a count that the process under test keeps.

mod group;
mod requests;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use auditlog::{Filter, Tally};
use jiff::Timestamp;

pub use group::Group;
pub use requests::{Request, Requests, Row};

use crate::Error;

/// How long a request that has been answered may take to appear in the log.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);

/// A stretch of time, by when the API server received a request. No end means: up to now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// The first moment that counts.
    pub from: Option<Timestamp>,
    /// The first moment that does not count any more.
    pub to: Option<Timestamp>,
}

impl Window {
    /// Everything.
    pub const ALL: Window = Window { from: None, to: None };

    /// From one moment on.
    pub fn since(from: Timestamp) -> Window {
        Window { from: Some(from), to: None }
    }

    /// From one moment until another.
    pub fn between(from: Timestamp, to: Timestamp) -> Window {
        Window { from: Some(from), to: Some(to) }
    }

    fn contains(&self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| moment >= from) && self.to.is_none_or(|to| moment < to)
    }
}

/// The audit log of one API server.
#[derive(Clone, Debug)]
pub struct AuditLog {
    path: PathBuf,
}

impl AuditLog {
    /// The log in this file.
    pub fn new(path: impl Into<PathBuf>) -> AuditLog {
        AuditLog { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The requests of one user within a window.
    pub fn read(&self, user: &str, window: Window) -> Result<Requests, Error> {
        let file = File::open(&self.path).map_err(Error::io(&self.path))?;
        let filter =
            Filter { user: Some(user.to_owned()), since: window.from, until: window.to, ..Filter::default() };
        let mut tally = Tally::new(filter, Requests::default());
        for line in BufReader::new(file).lines() {
            let line = line.map_err(Error::io(&self.path))?;
            // A cheap look before parsing: most lines belong to other users. The last line may be half written.
            if line.contains(user) {
                tally.line(line.as_bytes());
            }
        }
        Ok(tally.into_sink())
    }

    /// The requests of one user within a window, once the log stands still: the API server writes an event after it
    /// has sent the answer, so that the last events may come a moment after the answers.
    pub async fn settled(&self, user: &str, window: Window) -> Result<Requests, Error> {
        let deadline = tokio::time::Instant::now() + SETTLE_TIMEOUT;
        let mut before: Option<BTreeSet<String>> = None;
        loop {
            let requests = self.read(user, window)?;
            let now: BTreeSet<String> = requests.iter().map(|request| request.audit_id.clone()).collect();
            if before.as_ref() == Some(&now) || tokio::time::Instant::now() >= deadline {
                return Ok(requests);
            }
            before = Some(now);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[cfg(test)]
mod tests;
