//! Readings of the API server's counters, and what was added between two of them.
//!
//! Owns the request for `/metrics`, the rights it needs, and what can be said of counters that know no client.

use futures::{AsyncBufReadExt, TryStreamExt};
use jiff::Timestamp;

use super::count::{Counts, Key};
use super::document::{Filter, Instance, Kind, Notes, Snapshot, Source, Window};
use super::metrics::Scrape;
use super::validity;
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};
use crate::output::progress::Progress;
use crate::session::Session;

const NO_CLIENTS: &str = "the API server's metrics count all clients together: they do not show who sent a request; \
     an audit log (--audit-log, --user) does";
const WATCH_AT_END: &str =
    "the metrics count a watch when it ends; those still open are listed beside the total";

/// An API server whose counters are read, and what of them.
pub(crate) struct Server {
    connection: Connection,
    api_group: Option<String>,
}

/// All counters at one time.
pub(crate) struct Reading {
    at: Timestamp,
    url: String,
    api_group: Option<String>,
    scrape: Scrape,
}

impl Server {
    pub(crate) async fn of(session: &Session, api_group: Option<String>) -> Result<Server> {
        let connection = session.connection.connect().await.map_err(|error| match &session.connection.user {
            Some(_) if error.class == Class::Kubeconfig => error.next(
                "without --audit-log, --user is a user of the kubeconfig; the metrics do not tell clients apart",
            ),
            _ => error,
        })?;
        Ok(Server { connection, api_group })
    }

    pub(crate) async fn reading(&self, session: &Session) -> Result<Reading> {
        let _progress = Progress::start(&session.screen, "reading the API server's metrics");
        let scrape = scrape(&self.connection, self.api_group.as_deref()).await?;
        let url = self.connection.url.clone();
        Ok(Reading { at: Timestamp::now(), url, api_group: self.api_group.clone(), scrape })
    }
}

impl Reading {
    /// All that was counted since the server started.
    pub(crate) fn since_start(self) -> Snapshot {
        let window = Window { from: self.scrape.process_start, to: Some(self.at) };
        let counts = self.scrape.counts.clone();
        self.snapshot(window, counts)
    }

    /// What was added since an earlier reading, without the readings that this program asked for in between.
    pub(crate) fn since(self, before: &Reading, own: u64) -> Snapshot {
        let window = Window { from: Some(before.at), to: Some(self.at) };
        let (mut counts, fallen) = self.scrape.counts.added_since(&before.scrape.counts);
        counts.subtract(&own_request(), own);
        let restarted = self.scrape.process_start != before.scrape.process_start;
        let mut snapshot = Snapshot { added: true, ..self.snapshot(window, counts) };
        snapshot.notes.extend(validity::of_window(&window, true));
        if restarted {
            snapshot.notes.invalidate(
                "the API server was restarted, or another instance behind the same address answered: the counters do \
                 not continue each other",
            );
        } else if fallen > 0 {
            snapshot
                .notes
                .invalidate(format!("{fallen} counters fell, which a counter of one server never does"));
        }
        if snapshot.total == 0 {
            snapshot.notes.invalidate("no request was counted: nothing was measured");
        }
        snapshot
    }

    fn snapshot(self, window: Window, counts: Counts) -> Snapshot {
        let scrape = self.scrape;
        let mut notes = Notes::default();
        notes.note(NO_CLIENTS);
        notes.note(WATCH_AT_END);
        if scrape.malformed > 0 {
            notes.doubt(format!("{} series could not be read and are not counted", scrape.malformed));
        }
        if scrape.series == 0 {
            notes.invalidate("the answer holds no apiserver_request_total: nothing was measured");
        }
        Snapshot {
            filter: Filter { api_group: self.api_group, ..Filter::default() },
            instance: Some(Instance { url: self.url, process_start: scrape.process_start }),
            open_watches: scrape.open_watches(),
            malformed_lines: scrape.malformed,
            notes,
            ..Snapshot::of(Source::ApiserverMetrics, window, counts)
        }
    }
}

/// A reading counts when it has been answered, so that the next one sees it.
fn own_request() -> Key {
    let kind = Kind { verb: "get".to_owned(), resource: "/metrics".to_owned(), ..Kind::default() };
    Key { kind, code: 200 }
}

async fn scrape(connection: &Connection, api_group: Option<&str>) -> Result<Scrape> {
    let attempt = Attempt::new("get", "/metrics");
    let request = http::Request::get("/metrics").body(Vec::new()).map_err(|error| {
        Error::new(Class::Server, "The request for /metrics cannot be made").why(error.to_string())
    })?;
    let answer = connection.client.request_stream(request).await.map_err(|error| {
        let error = attempt.failed(&error, &connection.url);
        match error.class {
            Class::Forbidden => error.next(
                "ask for the Role of auditors, which allows get on the non-resource URL /metrics \
                 (as system:monitoring does), or count an audit log with --audit-log",
            ),
            Class::NotFound | Class::NotInstalled => {
                Error::new(Class::NotFound, format!("{} serves no /metrics", connection.url))
                    .next("check that this is the address of an API server (--context, --server)")
            }
            _ => error,
        }
    })?;
    let mut lines = answer.lines();
    let mut scrape = Scrape::of_group(api_group);
    loop {
        match lines.try_next().await {
            Ok(Some(line)) => scrape.line(&line),
            Ok(None) => return Ok(scrape),
            Err(error) => {
                return Err(Error::new(
                    Class::Unreachable,
                    "The API server's metrics broke off while being read",
                )
                .why(error.to_string()));
            }
        }
    }
}
