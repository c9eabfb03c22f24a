//! `-o`: the formats of a result.
//!
//! Owns their names on the command line.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};

use super::jsonpath::Template;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Table,
    /// A table with all columns and nothing shortened, however wide it becomes.
    Wide,
    Json,
    Yaml,
    /// One object a line, as other commands of kubectl take it.
    Name,
    /// For a ticket or a pull request.
    Markdown,
    /// A form that another kind of program reads.
    Export(Export),
    /// A template in kubectl's syntax.
    Jsonpath(Template),
}

/// Forms for programs that know nothing of the documents. Only results that consist of counts have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// Comma-separated values with a header, RFC 4180.
    Csv,
    /// A test report in the XML of JUnit, one test case for each limit.
    Junit,
    /// The text format of Prometheus, for its node exporter's textfile collector or a push gateway.
    Prometheus,
}

impl Export {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Export::Csv => "csv",
            Export::Junit => "junit",
            Export::Prometheus => "prometheus",
        }
    }
}

/// As it is written on the command line.
const JSONPATH: &str = "jsonpath=";

impl Format {
    const PLAIN: [(&'static str, Format); 9] = [
        ("table", Format::Table),
        ("wide", Format::Wide),
        ("json", Format::Json),
        ("yaml", Format::Yaml),
        ("name", Format::Name),
        ("markdown", Format::Markdown),
        ("csv", Format::Export(Export::Csv)),
        ("junit", Format::Export(Export::Junit)),
        ("prometheus", Format::Export(Export::Prometheus)),
    ];

    fn parse(text: &str) -> Result<Format, String> {
        if let Some(template) = text.strip_prefix(JSONPATH) {
            return Template::parse(template).map(Format::Jsonpath);
        }
        let known = Format::PLAIN.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| format).ok_or_else(|| {
            let names = Format::PLAIN.map(|(name, _)| name).join(", ");
            format!("\"{text}\" is no format; the formats are: {names}, {JSONPATH}TEMPLATE")
        })
    }
}

/// Knows the formats that are one word, for help and completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatParser;

impl TypedValueParser for FormatParser {
    type Value = Format;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Format, clap::Error> {
        Format::parse(&value.to_string_lossy())
            .map_err(|why| clap::Error::raw(ErrorKind::InvalidValue, format!("{why}\n")).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        let names = Format::PLAIN.map(|(name, _)| name).into_iter().chain([JSONPATH]);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}
