//! The only place that prints. Results go to stdout, talk goes to stderr.
//!
//! Owns the streams, the format, closed pipes and the wording around errors. Must not know any command.

pub(crate) mod draw;
pub(crate) mod format;
mod jsonpath;
pub(crate) mod machine;
mod markdown;
pub(crate) mod neutral;
pub(crate) mod paint;
pub(crate) mod progress;
pub(crate) mod redrawn;
pub(crate) mod text;
pub(crate) mod time;

use std::io::{self, BufRead, IsTerminal, Write};

use self::draw::{Canvas, Strokes};
use self::format::{Export, Format};
use self::jsonpath::Template;
use self::machine::{Document, Failure};
use self::paint::{ColorChoice, Environment};
use self::text::{Span, Text, Tone};
use crate::error::{Class, Error, Result};

/// Both streams of the program and how they are to be written.
pub(crate) struct Screen {
    format: Format,
    out: Canvas,
    err: Canvas,
    talks_to_a_terminal: bool,
    shows_on_a_terminal: bool,
    is_dumb: bool,
    closed: bool,
}

impl Screen {
    pub(crate) fn new(format: Format, color: ColorChoice) -> Screen {
        let environment = Environment::read();
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Screen {
            out: Canvas {
                colored: paint::is_colored(color, out, &environment),
                width: width(out),
                // Programs that read a pipe have the numbers; who asks for all of it has the bars too.
                strokes: (out || format == Format::Wide).then(Strokes::of_locale),
            },
            err: Canvas {
                colored: paint::is_colored(color, err, &environment),
                width: width(err),
                strokes: err.then(Strokes::of_locale),
            },
            talks_to_a_terminal: err,
            shows_on_a_terminal: out,
            is_dumb: environment.dumb,
            closed: false,
            format,
        }
    }

    /// Whether progress may be drawn on stderr.
    pub(crate) fn talks_to_a_terminal(&self) -> bool {
        self.talks_to_a_terminal
    }

    /// Whether the result is read on a terminal, which takes no file.
    pub(crate) fn shows_on_a_terminal(&self) -> bool {
        self.shows_on_a_terminal
    }

    /// Whether nobody asked for another format than the one for people.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Wide)
    }

    /// Whether a result for people can be drawn again in its place.
    pub(crate) fn can_redraw(&self) -> bool {
        self.is_for_people() && self.shows_on_a_terminal && !self.is_dumb
    }

    pub(crate) fn canvas(&self) -> Canvas {
        self.out
    }

    /// Whether who reads the result has gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// One line of a result that comes bit by bit.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.write_out(&format!("{}\n", neutral::for_terminal(line)))
    }

    /// The result of a command, in the format asked for.
    pub(crate) fn document<D: Document>(&mut self, document: &D) -> Result<()> {
        let written = match &self.format {
            Format::Table => draw::draw(&document.text(), self.out),
            Format::Wide => draw::draw(&document.wide(), self.out),
            Format::Json => machine::json(document)?,
            Format::Yaml => machine::yaml(document)?,
            Format::Markdown => markdown::draw(&document.wide()),
            Format::Name => names(document)?,
            Format::Export(export) => exported(document, *export)?,
            Format::Jsonpath(template) => templated(template, document)?,
        };
        self.write_out(&written)
    }

    /// Text of our own for another program, as it is.
    pub(crate) fn script(&mut self, text: &str) -> Result<()> {
        self.write_out(text)
    }

    /// A file for another program.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_raw(bytes)
    }

    /// A screenful of talk: what a person is asked to judge, or the course of a wait.
    pub(crate) fn talk(&mut self, text: &Text) {
        let drawn = draw::draw(text, self.err);
        self.write_err(&drawn);
    }

    /// One line of talk.
    pub(crate) fn note(&mut self, line: &str) {
        self.talk(&one_line(&[line.into()]));
    }

    /// One line of talk that a person should not overlook.
    pub(crate) fn warning(&mut self, line: &str) {
        self.talk(&one_line(&[Span::new("Warning: ", Tone::Warn), line.into()]));
    }

    /// A failure that the result tells too.
    pub(crate) fn complaint(&mut self, error: &Error) {
        self.talk(&failure_text(error));
    }

    /// A failure: for people on stderr, and in a machine format also as the one document on stdout.
    pub(crate) fn failure(&mut self, error: &Error) {
        self.complaint(error);
        if error.class == Class::Output || error.class == Class::Usage {
            return;
        }
        let failure = Failure::of(error);
        let document = match self.format {
            Format::Json => machine::json_of(Failure::KIND, &failure),
            Format::Yaml => machine::yaml_of(Failure::KIND, &failure),
            _ => return,
        };
        if let Ok(document) = document {
            // The failure has been told on stderr already; a second one while telling it adds nothing.
            let _ = self.write_out(&document);
        }
    }

    /// Asks a yes-or-no question; anything but a yes is a no. The answer is read in a thread of its own, so that
    /// Ctrl-C is heard while the question stands.
    pub(crate) async fn ask(&mut self, question: &str) -> Result<bool> {
        self.write_err(&format!("{} [y/N] ", neutral::for_terminal(question)));
        let reading = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer).map(|_| answer)
        });
        let unreadable =
            |cause: String| Error::input("The answer cannot be read from the terminal").why(cause);
        let answer = match reading.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(unreadable(error.to_string())),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        if !answer.ends_with('\n') {
            self.write_err("\n");
        }
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// A reader that closes the pipe (`| head -1`) has what it wanted: the rest is dropped without a word.
    fn write_out(&mut self, text: &str) -> Result<()> {
        self.write_raw(text.as_bytes())
    }

    fn write_raw(&mut self, bytes: &[u8]) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => {
                Err(Error::new(Class::Output, "The result cannot be written").why(error.to_string()))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Nobody can be told that talking failed.
    fn write_err(&mut self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

fn one_line(spans: &[Span]) -> Text {
    let mut text = Text::default();
    text.paragraph(0, spans.iter().cloned());
    text
}

fn names<D: Document>(document: &D) -> Result<String> {
    let names = document.names().ok_or_else(|| {
        Error::usage("-o name is for results that consist of objects")
            .next("use -o json, or -o jsonpath=TEMPLATE")
    })?;
    Ok(names.iter().map(|name| format!("{}\n", neutral::for_terminal(name))).collect())
}

pub(crate) fn exported<D: Document>(document: &D, export: Export) -> Result<String> {
    document.export(export).ok_or_else(|| {
        let of = match export {
            Export::Csv => "audit-api-calls",
            Export::Junit | Export::Prometheus => "snapshot, run and diff of audit-api-calls",
        };
        Error::usage(format!("-o {} is for counts of requests: {of}", export.word()))
            .next("use -o json, -o yaml or -o markdown")
    })
}

/// The same as `-o markdown` prints.
pub(crate) fn as_markdown<D: Document>(document: &D) -> String {
    markdown::draw(&document.wide())
}

/// As with kubectl, nothing is added to the text, not even a line break.
fn templated<D: Document>(template: &Template, document: &D) -> Result<String> {
    let value = machine::value(document)?;
    let text = template.render(&value).map_err(|why| {
        Error::usage(format!("The template cannot be applied: {why}")).next("see the document with -o json")
    })?;
    let lines: Vec<_> = text.split('\n').map(neutral::for_terminal).collect();
    Ok(lines.join("\n"))
}

/// kubectl's shape first, then the cause and the remedy.
fn failure_text(error: &Error) -> Text {
    let mut text = Text::default();
    let head = if error.class.is_from_server() {
        format!("Error from server ({}):", error.class.word())
    } else {
        "Error:".to_owned()
    };
    text.paragraph(0, [Span::new(head, Tone::Bad), error.what.as_str().into()]);
    if let Some(why) = &error.why {
        text.paragraph(2, [Span::new("Cause:", Tone::Faint), why.as_str().into()]);
    }
    if let Some(next) = &error.next {
        text.paragraph(2, [Span::new("Next:", Tone::Faint), next.as_str().into()]);
    }
    text
}

/// What a terminal that does not tell its size is taken for, as those of `script` and of CI systems.
const USUAL_WIDTH: u16 = 80;

/// The width to wrap at. COLUMNS wins, also for a pipe; a pipe without it is not wrapped.
fn width(is_terminal: bool) -> Option<u16> {
    let asked =
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let told = || comfy_table::Table::new().width().filter(|columns| *columns > 0);
    asked.or_else(|| is_terminal.then(|| told().unwrap_or(USUAL_WIDTH)))
}
