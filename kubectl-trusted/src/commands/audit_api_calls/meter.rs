//! Counters that can be read again and again: of an API server, of one of its clients, of a FlowSchema.
//!
//! Owns the requests, and the count of those, which are taken out of what they read.

pub(crate) mod pod;
mod server;
pub(crate) mod url;

use jiff::Timestamp;
use kube::Client;

pub(crate) use self::pod::Pod;
pub(crate) use self::url::Address;
use super::count::Key;
use super::document::{Filter, Instance, Kind, Notes, OpenWatches, Source};
use super::instances::Part;
use super::metrics::fetch::{Failure, Target, fetch};
use super::metrics::{Family, Scrape, Series};
use super::reading::Reading;
use crate::connect::Connection;
use crate::error::{Class, Error, Result};

/// How many times in a row a reading may meet an instance that was seen already, for each instance that is looked for.
const PATIENCE: usize = 10;

/// Where the page with the counters is.
pub(crate) enum Place {
    Server(Connection),
    Pod(Connection, Pod),
    Address(Client, Address),
}

/// A place, which of its counters are read, and how often they were.
pub(crate) struct Meter {
    place: Place,
    series: Series,
    /// How many processes are expected behind the place.
    instances: usize,
    own: Vec<(Instance, u64)>,
    /// Nobody asked for this one, and nobody has been told so far.
    untold: bool,
}

/// What one page says.
struct Page {
    part: Part,
    family: Family,
    open: Vec<OpenWatches>,
    malformed: u64,
}

impl Meter {
    pub(crate) fn new(place: Place, series: Series, instances: usize) -> Meter {
        Meter { place, series, instances, own: Vec::new(), untold: false }
    }

    /// Nobody has named it.
    pub(crate) fn chosen_by_us(self) -> Meter {
        Meter { untold: true, ..self }
    }

    /// Whether it has to be said now which one was chosen; that is once.
    pub(crate) fn is_to_be_told(&mut self) -> bool {
        std::mem::take(&mut self.untold)
    }

    /// One page of each instance.
    pub(crate) async fn read(&mut self) -> Result<Reading> {
        let mut pages: Vec<Page> = Vec::new();
        let mut in_vain = 0;
        while pages.len() < self.instances && in_vain < PATIENCE * self.instances {
            let page = self.page().await?;
            match pages.iter_mut().find(|seen| seen.part.instance.is(&page.part.instance)) {
                Some(seen) => {
                    *seen = page;
                    in_vain += 1;
                }
                None => pages.push(page),
            }
        }
        self.reading(pages)
    }

    async fn page(&mut self) -> Result<Page> {
        let (client, path, limit) = match &self.place {
            Place::Server(connection) => (&connection.client, "/metrics", connection.request_timeout),
            Place::Pod(connection, pod) => (&connection.client, pod.path(), connection.request_timeout),
            Place::Address(client, address) => (client, address.path(), address.limit()),
        };
        let target = Target { path, limit, alone: self.instances > 1 };
        match fetch(client, target, self.series.clone()).await {
            Ok(scrape) => self.taken(scrape),
            Err(failure) => Err(self.failed(&failure).await),
        }
    }

    fn taken(&mut self, mut scrape: Scrape) -> Result<Page> {
        let instance = Instance {
            url: self.name(),
            process_start: scrape.process_start,
            clock: scrape.clock,
            id: scrape.id.clone(),
            ..Instance::default()
        };
        let Some((family, mut counts)) = scrape.counts() else { return Err(self.no_counters()) };
        if matches!(self.place, Place::Server(_)) {
            counts.subtract(&own_request(), self.own_readings_of(&instance));
        }
        let malformed = scrape.malformed + scrape.lines.foreign();
        Ok(Page { part: Part { instance, counts }, family, open: scrape.open_watches(), malformed })
    }

    /// How many pages this instance has given us before. A reading counts when it has been answered, so that only the
    /// next one sees it.
    fn own_readings_of(&mut self, instance: &Instance) -> u64 {
        match self.own.iter_mut().find(|(seen, _)| seen.is(instance)) {
            Some((_, readings)) => {
                *readings += 1;
                *readings - 1
            }
            None => {
                self.own.push((instance.clone(), 1));
                0
            }
        }
    }

    fn reading(&self, pages: Vec<Page>) -> Result<Reading> {
        let mut notes = Notes::default();
        if pages.len() < self.instances {
            notes.doubt(format!(
                "of the {} instances that were asked for, {} answered; with fewer instances, give that number",
                self.instances,
                pages.len()
            ));
        }
        let family = pages.first().map(|page| page.family);
        if let Some(limits) = family.and_then(Family::limits) {
            notes.note(limits);
        }
        let filter = self.filter();
        if filter.api_group.is_some() && matches!(family, Some(Family::ClientGo | Family::Kubert)) {
            return Err(Error::usage("The counters of this client know no API groups")
                .next("leave out --api-group, or count an audit log with --audit-log"));
        }
        Ok(Reading {
            at: Timestamp::now(),
            source: self.source(),
            filter,
            open_watches: pages.iter().flat_map(|page| page.open.iter().cloned()).collect(),
            malformed: pages.iter().map(|page| page.malformed).sum(),
            parts: pages.into_iter().map(|page| page.part).collect(),
            notes,
        })
    }

    pub(crate) fn source(&self) -> Source {
        match &self.series {
            Series::ApiServer { .. } => Source::ApiserverMetrics,
            Series::FlowSchema { .. } => Source::FlowSchema,
            Series::Client { .. } => Source::ClientMetrics,
        }
    }

    /// What of the counters is read.
    fn filter(&self) -> Filter {
        let (user, api_group) = match &self.series {
            Series::ApiServer { group } | Series::Client { group } => (None, group.clone()),
            Series::FlowSchema { user, .. } => (Some(user.clone()), None),
        };
        Filter { user, api_group, ..Filter::default() }
    }

    /// Where the counters are, as documents name it.
    fn name(&self) -> String {
        match &self.place {
            Place::Server(connection) => connection.url.clone(),
            Place::Pod(_, pod) => pod.to_string(),
            Place::Address(_, address) => address.to_string(),
        }
    }

    async fn failed(&self, failure: &Failure) -> Error {
        match &self.place {
            Place::Server(connection) => server::failed(connection, failure),
            Place::Pod(connection, pod) => pod.failed(connection, failure).await,
            Place::Address(_, address) => address.failed(failure),
        }
    }

    /// A page of metrics, but not of what was asked for.
    fn no_counters(&self) -> Error {
        match &self.place {
            Place::Server(connection) => server::is_none(&connection.url, "its /metrics has no apiserver_request_total"),
            Place::Pod(..) | Place::Address(..) => {
                Error::new(Class::Input, format!("The metrics of {} count no requests to the API server", self.name()))
                    .why("there is no rest_client_requests_total of client-go, and no counter of kubert or trusted-operator")
                    .next("name the pod and port that serve the client's metrics, or count an audit log with --audit-log")
            }
        }
    }
}

/// What our own readings count as.
fn own_request() -> Key {
    let kind = Kind { verb: "get".to_owned(), resource: "/metrics".to_owned(), ..Kind::default() };
    Key { kind, code: 200 }
}

/// What is wrong with an answer that is no page, or not all of one. `whose` begins the sentence.
fn not_whole(whose: &str, failure: &Failure) -> Option<Error> {
    Some(match failure {
        Failure::BrokeOff(why) => {
            Error::new(Class::Unreachable, format!("{whose} broke off while being read")).why(why).next("try again")
        }
        Failure::CutShort(sign) => {
            Error::new(Class::Server, format!("{whose} were cut short: {sign}")).next(
                "try again; if it stays so, look at what is between this program and them: proxies, load balancers",
            )
        }
        Failure::Request(_) | Failure::TooSlow | Failure::NoPage(_) => return None,
    })
}
