//! `audit-api-calls explain`: habits of clients that cost requests, and how to do with fewer.
//!
//! ```text
//!   log -> habits (what each client does, counted) -> findings (which of it is a habit, and its remedy; pure)
//! ```

mod findings;
mod habits;

use clap::Args;
use serde::Serialize;

use self::findings::Finding;
use self::habits::Habits;
use super::document::{Filter, Kind, Notes, Source, Window};
use super::export::csv;
use super::log::{self, LogArgs, Tally};
use super::render;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::text::{Span, Text, Tone};
use crate::session::Session;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    log: LogArgs,
}

/// Findings shown on a screen; the document and the wide screen hold all of them.
const MOST_FINDINGS: usize = 12;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Explanation {
    source: Source,
    window: Window,
    #[serde(skip_serializing_if = "Filter::is_empty")]
    filter: Filter,
    total: u64,
    /// The most expensive first.
    findings: Vec<Finding>,
    #[serde(flatten)]
    notes: Notes,
}

pub(crate) async fn run(session: &mut Session, args: &ExplainArgs) -> Result<Exit> {
    if args.log.audit_log.is_empty() {
        return Err(Error::usage("explain needs an audit log: the API server's own counters know no client")
            .next("name one with --audit-log"));
    }
    let filter = args.log.filter(&session.connection)?;
    let tally = Tally::new(filter, Habits::default());
    let (tallies, mut notes) = log::read(session, &args.log.audit_log, vec![tally]).await?;
    let Some(tally) = tallies.into_iter().next() else {
        return Err(Error::input("Reading the audit log ended early"));
    };
    log::judge(&tally, &mut notes);
    let (window, total, filter) = (tally.window(), tally.counted(), tally.filter().clone());
    let habits = tally.into_sink();
    if habits.forgotten > 0 {
        notes.doubt(format!("{} requests were for more objects than can be told apart", habits.forgotten));
    }
    if habits.writes > 0 && habits.versions_seen == 0 {
        notes.note(
            "the log holds no objects (policy level Metadata), so that writes that change nothing cannot be told",
        );
    }
    let findings = findings::of(&habits, window.length());
    let document = Explanation { source: Source::AuditLog, window, filter, total, findings, notes };
    session.screen.document(&document)?;
    Ok(if document.notes.invalid { Exit::Incomplete } else { Exit::Good })
}

impl Document for Explanation {
    const KIND: &'static str = "ApiCallExplanation";

    fn text(&self) -> Text {
        draw(self, MOST_FINDINGS)
    }

    fn wide(&self) -> Text {
        draw(self, usize::MAX)
    }

    fn export(&self, export: Export) -> Option<String> {
        let titles = [
            "habit",
            "user",
            "verb",
            "group",
            "resource",
            "subresource",
            "count",
            "avoidable",
            "what",
            "fewer",
        ];
        let row = |finding: &Finding| {
            let Kind { verb, group, resource, subresource } = &finding.kind;
            let words = [finding.habit.title(), &finding.user, verb, group, resource, subresource];
            let numbers = [finding.count, finding.avoidable].map(|number| number.to_string());
            let told = [finding.what.clone(), finding.habit.remedy().to_owned()];
            words.map(str::to_owned).into_iter().chain(numbers).chain(told).collect()
        };
        (export == Export::Csv).then(|| csv::table(&titles.map(str::to_owned), self.findings.iter().map(row)))
    }
}

fn draw(document: &Explanation, most: usize) -> Text {
    let mut text = Text::default();
    let costs: u64 = document.findings.iter().map(|finding| finding.avoidable).sum();
    let verdict = match document.findings.len() {
        0 => "no costly habit found".to_owned(),
        many => format!("costly habits: {many}, about {costs} requests that need not be"),
    };
    text.line([Span::new(format!("{} requests, {verdict}", document.total), Tone::Strong)]);
    text.facts(vec![
        ("source", render::describe(document.source, false, &document.filter).into()),
        ("window", render::interval(&document.window).into()),
    ]);
    for finding in document.findings.iter().take(most) {
        text.blank();
        text.line([Span::new(finding.habit.title(), Tone::Warn), format!("  {}", finding.user).into()]);
        text.paragraph(2, [finding.what.as_str()]);
        text.paragraph(2, [Span::new("Why:", Tone::Faint), finding.habit.why().into()]);
        text.paragraph(2, [Span::new("Fewer:", Tone::Faint), finding.habit.remedy().into()]);
    }
    if document.findings.len() > most {
        text.blank();
        let line = format!("... and {} more; -o wide shows them", document.findings.len() - most);
        text.line([Span::new(line, Tone::Faint)]);
    }
    render::notes(&mut text, &document.notes);
    text
}
