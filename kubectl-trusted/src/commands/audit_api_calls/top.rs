//! `audit-api-calls top`: who sends most requests.
//!
//! Owns what requests can be told apart by. Only an audit log knows clients.

use std::collections::HashMap;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::change::per_minute;
use super::document::{Filter, Notes, Source, Window};
use super::export::csv;
use super::log::{self, Event, LogArgs, Sink, Tally};
use super::render;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::text::{Align, Bar, Span, Table, Text, Tone};
use crate::session::Session;

/// Combinations that are told apart; clients choose names of resources and agents, so that there may be any number.
const MOST_KEYS: usize = 20_000;

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    log: LogArgs,

    /// What requests are told apart by
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "user,verb,resource",
        value_name = "FIELD,..."
    )]
    by: Vec<By>,

    /// Rows to show
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    User,
    Agent,
    Namespace,
    Verb,
    Resource,
    Code,
}

impl By {
    fn title(self) -> &'static str {
        match self {
            By::User => "USER",
            By::Agent => "AGENT",
            By::Namespace => "NAMESPACE",
            By::Verb => "VERB",
            By::Resource => "RESOURCE",
            By::Code => "CODE",
        }
    }

    fn field(self) -> String {
        self.title().to_ascii_lowercase()
    }

    fn of(self, event: &Event<'_>) -> String {
        match self {
            By::User => event.user().to_owned(),
            By::Agent => event.user_agent.to_string(),
            By::Namespace => event.namespace().to_owned(),
            By::Verb => event.verb.to_string(),
            By::Resource => resource(event),
            By::Code => event.key().code.to_string(),
        }
    }
}

/// `RESOURCE.GROUP/SUBRESOURCE`, or the beginning of a path.
fn resource(event: &Event<'_>) -> String {
    let kind = event.key().kind;
    let group = if kind.group.is_empty() { String::new() } else { format!(".{}", kind.group) };
    let subresource =
        if kind.subresource.is_empty() { String::new() } else { format!("/{}", kind.subresource) };
    format!("{}{group}{subresource}", kind.resource)
}

#[derive(Debug, Default)]
struct Clients {
    by: Vec<By>,
    counts: HashMap<Vec<String>, (u64, u64)>,
    others: u64,
}

impl Sink for Clients {
    fn count(&mut self, event: &Event<'_>) {
        let key: Vec<String> = self.by.iter().map(|by| by.of(event)).collect();
        let failed = u64::from(event.key().code >= 400);
        if let Some((count, failures)) = self.counts.get_mut(&key) {
            *count += 1;
            *failures += failed;
        } else if self.counts.len() < MOST_KEYS {
            self.counts.insert(key, (1, failed));
        } else {
            self.others += 1;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// In the order of `by`.
    of: Vec<String>,
    count: u64,
    failed: u64,
    percent: f64,
    per_minute: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Top {
    source: Source,
    window: Window,
    #[serde(skip_serializing_if = "Filter::is_empty")]
    filter: Filter,
    by: Vec<String>,
    #[serde(skip)]
    columns: Vec<By>,
    total: u64,
    rows: Vec<Row>,
    /// Requests of the rows that are not listed.
    rest: u64,
    #[serde(flatten)]
    notes: Notes,
}

pub(crate) async fn run(session: &mut Session, args: &TopArgs) -> Result<Exit> {
    if args.log.audit_log.is_empty() {
        return Err(Error::usage("top needs an audit log: the API server's own counters know no client")
            .next("name one with --audit-log; snapshot shows all clients together without it"));
    }
    let filter = args.log.filter(&session.connection)?;
    let clients = Clients { by: args.by.clone(), ..Clients::default() };
    let (tallies, mut notes) =
        log::read(session, &args.log.audit_log, vec![Tally::new(filter, clients)]).await?;
    let Some(tally) = tallies.into_iter().next() else {
        return Err(Error::input("Reading the audit log ended early"));
    };
    log::judge(&tally, &mut notes);
    let top = ranked(tally, notes, args.limit);
    session.screen.document(&top)?;
    Ok(if top.notes.invalid { Exit::Incomplete } else { Exit::Good })
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
fn ranked(tally: Tally<Clients>, mut notes: Notes, limit: usize) -> Top {
    let (window, total, filter) = (tally.window(), tally.counted(), tally.filter().clone());
    let clients = tally.into_sink();
    if clients.others > 0 {
        notes.doubt(format!(
            "there are more than {MOST_KEYS} rows; {} requests of further ones are in the rest, unranked",
            clients.others
        ));
    }
    let mut counts: Vec<_> = clients.counts.into_iter().collect();
    counts.sort_by(|(one, first), (other, second)| (second.0, one).cmp(&(first.0, other)));
    counts.truncate(limit);
    let row = |(of, (count, failed)): (Vec<String>, (u64, u64))| Row {
        of,
        count,
        failed,
        percent: (count as f64 / total as f64 * 1000.0).round() / 10.0,
        per_minute: per_minute(count, window.minutes()),
    };
    let rows: Vec<Row> = counts.into_iter().map(row).collect();
    let rest = total - rows.iter().map(|row| row.count).sum::<u64>();
    let by = clients.by.iter().map(|by| by.field()).collect();
    Top { source: Source::AuditLog, window, filter, by, columns: clients.by, total, rows, rest, notes }
}

impl Document for Top {
    const KIND: &'static str = "ApiCallTop";

    fn text(&self) -> Text {
        let mut text = Text::default();
        text.line([Span::new(format!("{} requests", self.total), Tone::Strong)]);
        text.facts(vec![
            ("source", render::describe(self.source, false, &self.filter).into()),
            ("window", render::interval(&self.window).into()),
        ]);
        let numbers = ["REQUESTS", "SHARE", "PER MINUTE", "FAILED"].map(|title| (title, Align::Right));
        let fields = self.columns.iter().map(|by| (by.title(), Align::Left));
        let mut table = Table::new(&fields.chain(numbers).collect::<Vec<_>>());
        for row in &self.rows {
            let numbers = [
                row.count.into(),
                format!("{:.1}%", row.percent).into(),
                render::each_minute(row.per_minute),
                Span::new(row.failed.to_string(), if row.failed > 0 { Tone::Warn } else { Tone::Plain }),
            ];
            table.row(row.of.iter().map(|word| word.as_str().into()).chain(numbers).collect());
            table.bars.push(Bar::of(row.count));
        }
        text.blank();
        text.table(table);
        if self.rest > 0 {
            let line = format!("... and {} requests of further rows; --limit shows more", self.rest);
            text.line([Span::new(line, Tone::Faint)]);
        }
        render::notes(&mut text, &self.notes);
        text
    }

    fn export(&self, export: Export) -> Option<String> {
        let numbers = ["count", "failed", "percent", "perMinute"].map(str::to_owned);
        let titles: Vec<_> = self.by.iter().cloned().chain(numbers).collect();
        let row = |row: &Row| {
            let rate = row.per_minute.map(|rate| rate.to_string()).unwrap_or_default();
            let numbers = [row.count.to_string(), row.failed.to_string(), row.percent.to_string(), rate];
            row.of.iter().cloned().chain(numbers).collect()
        };
        (export == Export::Csv).then(|| csv::table(&titles, self.rows.iter().map(row)))
    }
}
