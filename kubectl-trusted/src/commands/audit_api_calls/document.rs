//! The documents of `audit-api-calls`: what a snapshot holds, what a comparison holds.
//!
//! Owns the field names, which are a contract. A snapshot is read back by `diff`, so both directions live here.

pub(crate) use auditlog::{Filter, Kind, OpenWatches, Window};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::change::{Change, Rates, per_minute};
use super::claim::Claimed;
use super::count::{Counts, is_known};
use super::group::{self, Group};

/// Where the numbers come from; they mean different things, so a comparison names both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// Requests of a window, by client.
    AuditLog,
    /// Counters since the API server started, of all clients together.
    ApiserverMetrics,
    /// Counters since a client started, of what it sent.
    ClientMetrics,
    /// Counters of the requests that an API server let in by one FlowSchema.
    FlowSchema,
    /// The APIRequestCounts of OpenShift: by user and verb, in hours.
    #[serde(rename = "apirequestcount")]
    ApiRequestCount,
}

impl Source {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Source::AuditLog => "audit-log",
            Source::ApiserverMetrics => "apiserver-metrics",
            Source::ClientMetrics => "client-metrics",
            Source::FlowSchema => "flow-schema",
            Source::ApiRequestCount => "apirequestcount",
        }
    }

    /// What the numbers of one reading cover.
    pub(crate) fn since(self) -> &'static str {
        match self {
            Source::ApiRequestCount => "in the last 24 hours",
            Source::ClientMetrics => "since the client started",
            _ => "since the server started",
        }
    }

    /// Whose counters they are.
    pub(crate) fn instance_word(self) -> &'static str {
        match self {
            Source::ClientMetrics => "client",
            _ => "API server",
        }
    }
}

/// Requests of one kind with one answer, and their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// The HTTP status; 0 where none was recorded.
    #[serde(default)]
    pub(crate) code: u16,
    pub(crate) count: u64,
}

/// Which process the counters are from. Several API servers may answer behind one address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instance {
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process_start: Option<Timestamp>,
    /// What time it was for the process when it was read: its start is by the same clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<Timestamp>,
    /// The process's own name, where it tells one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// These counters go on no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) closed: bool,
    /// What it counted, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rows: Vec<Row>,
}

impl Instance {
    /// Without its counts.
    pub(crate) fn bare(&self) -> Instance {
        Instance { rows: Vec::new(), ..self.clone() }
    }
}

/// What a reader of the numbers has to know beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
    /// The numbers may be off; the exit code says so under `--strict`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) doubtful: bool,
    /// The numbers do not hold what they seem to say; the exit code says so always.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) invalid: bool,
}

impl Notes {
    /// Something to know that makes the numbers no worse.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    pub(crate) fn doubt(&mut self, text: impl Into<String>) {
        self.note(text);
        self.doubtful = true;
    }

    /// Doubts found elsewhere.
    pub(crate) fn extend(&mut self, doubts: impl IntoIterator<Item = String>) {
        doubts.into_iter().for_each(|doubt| self.doubt(doubt));
    }

    /// All that others say.
    pub(crate) fn append(&mut self, others: Notes) {
        self.warnings.extend(others.warnings);
        self.doubtful |= others.doubtful;
        self.invalid |= others.invalid;
    }

    pub(crate) fn invalidate(&mut self, text: impl Into<String>) {
        self.note(text);
        self.invalid = true;
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    pub(crate) source: Source,
    pub(crate) window: Window,
    /// The counts are those of the window even where the source counts since its start: two readings were taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) added: bool,
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub(crate) filter: Filter,
    /// The processes whose counters these are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) instances: Vec<Instance>,
    pub(crate) total: u64,
    #[serde(default)]
    pub(crate) per_minute: Option<f64>,
    #[serde(default)]
    pub(crate) groups: Vec<GroupCount>,
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    pub(crate) open_watches: Vec<OpenWatches>,
    /// Lines of the log that are no audit events.
    #[serde(default)]
    pub(crate) malformed_lines: u64,
    /// The sum as it is often published, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) claimed: Option<Claimed>,
    #[serde(flatten)]
    pub(crate) notes: Notes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
}

impl Snapshot {
    /// A document of these counts; what is derived from them is derived here.
    pub(crate) fn of(source: Source, window: Window, counts: Counts) -> Snapshot {
        let (total, rows) = (counts.total(), counts.rows());
        let minutes = window.minutes();
        Snapshot {
            source,
            window,
            added: false,
            filter: Filter::default(),
            instances: Vec::new(),
            total,
            per_minute: per_minute(total, minutes),
            groups: group::counts(&rows, minutes),
            rows,
            open_watches: Vec::new(),
            malformed_lines: 0,
            claimed: None,
            notes: Notes::default(),
            budget: None,
        }
    }

    /// With rates of its window, for one whose window is known better than from its events.
    pub(crate) fn with_rates(mut self) -> Snapshot {
        let minutes = self.window.minutes();
        self.per_minute = per_minute(self.total, minutes);
        self.groups = group::counts(&self.rows, minutes);
        self
    }

    /// Whether the counts are those since the start of who counts, so that only the difference of two means anything.
    pub(crate) fn is_cumulative(&self) -> bool {
        self.source != Source::AuditLog && !self.added
    }

    /// Whether the rows know verbs and resources as Kubernetes names them. Those of some clients are HTTP methods.
    pub(crate) fn knows_kinds(&self) -> bool {
        self.rows.iter().all(|row| is_known(&row.kind.verb))
    }
}

/// One group of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupCount {
    pub(crate) name: Group,
    pub(crate) count: u64,
    #[serde(default)]
    pub(crate) per_minute: Option<f64>,
}

/// The number of what an operator looks after, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Objects {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// One side of a comparison, without its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    pub(crate) file: String,
    pub(crate) source: Source,
    pub(crate) window: Window,
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub(crate) filter: Filter,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) instances: Vec<Instance>,
    pub(crate) total: u64,
    /// Requests answered with a status of 400 or above.
    pub(crate) failed: u64,
    pub(crate) open_watches: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffRow {
    #[serde(flatten)]
    pub(crate) kind: Kind,
    #[serde(flatten)]
    pub(crate) change: Change,
    pub(crate) per_minute: Rates,
    /// Requests for each object, where their number was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_object: Option<Rates>,
    pub(crate) source: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupChange {
    pub(crate) name: Group,
    #[serde(flatten)]
    pub(crate) change: Change,
    pub(crate) per_minute: Rates,
    /// Requests for each object, where their number was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_object: Option<Rates>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diff {
    /// Both sides are readings of the counters of one server since its start: what was added is the measurement.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) readings: bool,
    /// How many objects there were on each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) objects: Option<Objects>,
    pub(crate) before: Side,
    pub(crate) after: Side,
    pub(crate) total: Change,
    pub(crate) per_minute: Rates,
    /// Requests for each object, where their number was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_object: Option<Rates>,
    pub(crate) failed: Change,
    /// The sum as it is often published, where both sides have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claimed: Option<Change>,
    pub(crate) groups: Vec<GroupChange>,
    pub(crate) rows: Vec<DiffRow>,
    #[serde(flatten)]
    pub(crate) notes: Notes,
    pub(crate) budget: Budget,
}

impl Diff {
    /// The number that a budget is compared with.
    pub(crate) fn counted_of(&self, change: &Change) -> u64 {
        if self.readings { change.added() } else { change.after }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    pub(crate) ok: bool,
    pub(crate) breaches: Vec<Breach>,
    /// Every limit, kept or not.
    #[serde(default)]
    pub(crate) checks: Vec<Check>,
}

/// One limit and what was counted against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Check {
    /// The limit as it was given, such as `--max list=0`.
    pub(crate) limit: String,
    pub(crate) counted: String,
    pub(crate) ok: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Breach {
    /// The limit as it was given, such as `--max list=0`.
    pub(crate) limit: String,
    /// What was counted against it.
    pub(crate) counted: String,
    pub(crate) message: String,
    /// The kinds of request that it covers, the most frequent first.
    #[serde(default)]
    pub(crate) rows: Vec<Counted>,
}

/// A kind of request and how many there were, whatever the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    #[serde(flatten)]
    pub(crate) kind: Kind,
    pub(crate) count: u64,
}
