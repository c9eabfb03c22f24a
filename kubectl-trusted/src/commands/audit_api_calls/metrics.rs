//! Pages of counters in the Prometheus text format: those of an API server, and those of its clients.
//!
//! Owns which series of a page count. What they mean is below: of an API server's, of clients of several makes.

mod apiserver;
mod client;
pub(crate) mod fetch;
mod text;

use std::collections::BTreeMap;

use jiff::Timestamp;

use self::text::{Labels, Lines, count, sample, timestamp};
use super::count::{Counts, Key};
use super::document::OpenWatches;

const PROCESS_START: &str = "process_start_time_seconds";

/// Some series of an API server bear a name of its own, whose hash tells instances apart beside their start.
const INSTANCE_LABEL: &str = "apiserver_id_hash=\"";

/// Which series of a page count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Series {
    /// All that an API server has answered; only for one API group, if one is named.
    ApiServer { group: Option<String> },
    /// What an API server let in by this FlowSchema, which is for this user.
    FlowSchema { name: String, user: String },
    /// What a client has sent; only for one API group, if one is named.
    Client { group: Option<String> },
}

/// Whose counters these are, and thereby what they know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    ApiServer,
    FlowSchema,
    /// Of trusted-operator: verb, resource and code.
    Operator,
    /// Of client-go and all that is built on it: HTTP method and code.
    ClientGo,
    /// Of kubert, for kube-rs: HTTP method and code.
    Kubert,
}

impl Family {
    /// What is to be known of numbers that do not know verbs or resources.
    pub(crate) fn limits(self) -> Option<&'static str> {
        match self {
            Family::ApiServer | Family::Operator => None,
            Family::FlowSchema => Some(
                "a FlowSchema counts requests and knows neither verbs nor resources; requests that are exempt, such as \
                 health checks, are not among them",
            ),
            Family::ClientGo | Family::Kubert => Some(
                "the client's counters know HTTP methods and codes, no resources: GET stands for get, list and watch",
            ),
        }
    }
}

/// What one page says.
#[derive(Debug)]
pub(crate) struct Scrape {
    series: Series,
    families: BTreeMap<Family, Counts>,
    open: BTreeMap<(String, String), u64>,
    pub(crate) lines: Lines,
    pub(crate) process_start: Option<Timestamp>,
    /// What time it was for who answered.
    pub(crate) clock: Option<Timestamp>,
    /// The instance's own name, hashed, where the page has it.
    pub(crate) id: Option<String>,
    /// Series with a known name that could not be read.
    pub(crate) malformed: u64,
}

impl Scrape {
    pub(crate) fn of(series: Series) -> Scrape {
        Scrape {
            series,
            families: BTreeMap::new(),
            open: BTreeMap::new(),
            lines: Lines::default(),
            process_start: None,
            clock: None,
            id: None,
            malformed: 0,
        }
    }

    pub(crate) fn line(&mut self, line: &str) {
        let Some(name) = self.lines.name(line) else { return };
        if self.id.is_none() {
            self.id = id(line);
        }
        let meaning = match &self.series {
            Series::ApiServer { .. } => apiserver::meaning(name),
            Series::FlowSchema { .. } => apiserver::meaning_of_flows(name),
            Series::Client { .. } => client::meaning(name),
        };
        if meaning.is_none() && name != PROCESS_START {
            return;
        }
        match (sample(line.trim().get(name.len()..).unwrap_or_default()), meaning) {
            (None, _) => self.malformed += 1,
            (Some((_, value)), None) => self.process_start = timestamp(value),
            (Some((labels, value)), Some(meaning)) => self.sample(meaning, labels, count(value)),
        }
    }

    fn sample(&mut self, meaning: Meaning, labels: Labels, value: u64) {
        let is_other = match (&self.series, meaning) {
            (Series::FlowSchema { name, .. }, _) => labels.get("flow_schema") != Some(name),
            (_, Meaning::Requests(Family::Kubert)) => !labels.contains_key("cluster_url"),
            _ => false,
        };
        if is_other {
            return;
        }
        let is_counted = self.is_of_group(meaning, &labels);
        match meaning {
            Meaning::OpenRequests => {
                let open = apiserver::open_watches(labels, value).filter(|_| is_counted);
                if let Some((kind, count)) = open {
                    *self.open.entry(kind).or_default() += count;
                }
            }
            Meaning::Requests(family) => {
                // There, even where none of its requests is for the group.
                let counts = self.families.entry(family).or_default();
                if is_counted {
                    counts.add(key(family, labels), value);
                }
            }
            Meaning::Rejected => {
                self.families.entry(Family::FlowSchema).or_default().add(apiserver::rejected(), value);
            }
        }
    }

    /// Counters that know no groups count as a whole.
    fn is_of_group(&self, meaning: Meaning, labels: &Labels) -> bool {
        let (Series::ApiServer { group: Some(group) } | Series::Client { group: Some(group) }) = &self.series
        else {
            return true;
        };
        match meaning {
            Meaning::Requests(Family::ClientGo | Family::Kubert) => true,
            _ => labels.get("group") == Some(group),
        }
    }

    pub(crate) fn open_watches(&self) -> Vec<OpenWatches> {
        let watches = |((group, resource), count): (&(String, String), &u64)| OpenWatches {
            group: group.clone(),
            resource: resource.clone(),
            count: *count,
        };
        self.open.iter().map(watches).collect()
    }

    /// The counters that know most, of those on the page. A FlowSchema has none before its first request.
    pub(crate) fn counts(&mut self) -> Option<(Family, Counts)> {
        let none =
            matches!(self.series, Series::FlowSchema { .. }).then(|| (Family::FlowSchema, Counts::default()));
        self.families.pop_first().or(none)
    }
}

/// What a series is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Requests(Family),
    Rejected,
    OpenRequests,
}

fn key(family: Family, labels: Labels) -> Key {
    match family {
        Family::ApiServer => apiserver::request(labels),
        Family::FlowSchema => apiserver::dispatched(),
        Family::Operator => client::of_operator(labels),
        Family::ClientGo => client::of_method(labels, "code"),
        Family::Kubert => client::of_method(labels, "status"),
    }
}

fn id(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(INSTANCE_LABEL)?;
    rest.split_once('"').map(|(id, _)| id.to_owned())
}

#[cfg(test)]
mod tests;
