//! The screen of `explain-machine`: the verdict, the chain as a tree, what is wrong, rivals, what happened.
//!
//! Owns the layout. Every word comes from the document.

use jiff::Timestamp;

use super::document::{Entry, Explanation, Link, Relation, Rival, State, Verdict};
use crate::output::machine::Document;
use crate::output::text::{Span, Table, Text, Tone};
use crate::output::time;

/// Entries of the time line on the screen, the newest; the document holds all.
const MOST_ENTRIES: usize = 30;

impl Document for Explanation {
    const KIND: &'static str = "MachineExplanation";

    fn text(&self) -> Text {
        screen(self, MOST_ENTRIES)
    }

    fn wide(&self) -> Text {
        screen(self, usize::MAX)
    }
}

fn screen(explanation: &Explanation, most: usize) -> Text {
    let mut text = Text::default();
    headline(&mut text, explanation);
    tree(&mut text, explanation);
    for link in explanation.chain.iter().filter(|link| link.state != State::Ok) {
        trouble(&mut text, link);
    }
    for incomplete in &explanation.incomplete {
        text.blank();
        let needs = format!("needs {}", incomplete.need);
        text.paragraph(0, [Span::new("Not visible:", Tone::Bad), needs.into()]);
        text.verbatim(4, "Next: ", incomplete.check.clone());
    }
    rivals(&mut text, &explanation.rivals);
    timeline(&mut text, explanation, most);
    text
}

fn headline(text: &mut Text, explanation: &Explanation) {
    let (word, tone) = match explanation.verdict {
        Verdict::Served => ("Served", Tone::Good),
        Verdict::NotServed => ("Not served", Tone::Bad),
        Verdict::Unknown => ("Unknown", Tone::Bad),
    };
    let place = format!("  machine {} in namespace {}", explanation.id, explanation.namespace);
    text.line([Span::new(word, tone), place.into()]);
    if let Some(link) = &explanation.first_broken {
        let (what, name) = (link.link.words(), &link.object);
        let name = if name.is_empty() { String::new() } else { format!(" {name}") };
        text.paragraph(0, [format!("The first link that does not hold: {what}{name} ({})", link.reason)]);
    }
}

fn tree(text: &mut Text, explanation: &Explanation) {
    text.blank();
    let mut table = Table::left(&["CHAIN", "STATE", "REASON", "SINCE"]);
    let last = explanation.chain.len().saturating_sub(1);
    for (index, link) in explanation.chain.iter().enumerate() {
        let branch = if index == last { "└─" } else { "├─" };
        let since = link.since.map(|since| time::age(since, explanation.at)).unwrap_or_default();
        let name = format!("{branch} {} {}", link.link.words(), link.object);
        table.row(vec![name.trim_end().into(), state(link.state), link.reason.as_str().into(), since.into()]);
    }
    text.table(table);
}

fn state(state: State) -> Span {
    match state {
        State::Ok => Span::new("ok", Tone::Good),
        State::Noted => Span::new("noted", Tone::Warn),
        State::Waiting => Span::new("waiting", Tone::Warn),
        State::Broken => Span::new("broken", Tone::Bad),
        State::NotVisible => Span::new("not visible", Tone::Bad),
    }
}

fn trouble(text: &mut Text, link: &Link) {
    if link.message.is_empty() {
        return;
    }
    text.blank();
    let head = Span::new(format!("{}:", link.link.words()), Tone::Strong);
    text.paragraph(0, [head, link.message.as_str().into()]);
    if let Some(next) = &link.next {
        text.verbatim(4, "Next: ", next.clone());
    }
}

fn rivals(text: &mut Text, rivals: &[Rival]) {
    if rivals.is_empty() {
        return;
    }
    text.heading("Rivals");
    let mut table = Table::left(&["NAME", "WHAT", "TRUSTED", "REASON", "DECISION", "FINGERPRINT"]);
    for rival in rivals {
        let what = match rival.relation {
            Relation::OtherKey => "another key of this machine",
            Relation::SameKey => "the same key elsewhere",
            Relation::SameId => "another Machine with this id",
        };
        let trusted = if rival.trusted { Span::new("yes", Tone::Warn) } else { "no".into() };
        table.row(vec![
            rival.name.as_str().into(),
            what.into(),
            trusted,
            rival.reason.as_str().into(),
            rival.decision.as_deref().unwrap_or("-").into(),
            rival.fingerprint.as_deref().unwrap_or("-").into(),
        ]);
    }
    text.table(table);
}

fn timeline(text: &mut Text, explanation: &Explanation, most: usize) {
    let entries = &explanation.timeline;
    if entries.is_empty() {
        return;
    }
    text.heading("What happened");
    let hidden = entries.len().saturating_sub(most);
    if hidden > 0 {
        text.line([Span::new(format!("... {hidden} before; -o wide shows all"), Tone::Faint)]);
    }
    let mut table = Table::left(&["AGO", "OBJECT", "WHAT", "MESSAGE"]);
    for entry in entries.iter().skip(hidden) {
        table.row(happened(entry, explanation.at));
    }
    text.table(table);
}

fn happened(entry: &Entry, now: Timestamp) -> Vec<Span> {
    let times = entry.count.map(|count| format!(" ({count} times)")).unwrap_or_default();
    vec![
        time::age(entry.at, now).into(),
        format!("{} {}", entry.kind, entry.name).into(),
        format!("{}{times}", entry.what).into(),
        entry.message.as_str().into(),
    ]
}
