//! The only place that prints.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this module is the program's voice")]

use std::{
    error::Error,
    io::{Write, stdout},
};

use serde::Serialize;

/// Writes a line to standard output. A closed pipe (`| head -1`) is no failure.
pub(crate) fn line(text: &str) {
    let _ = writeln!(stdout(), "{text}");
    let _ = stdout().flush();
}

/// Writes one JSON document to standard output.
pub(crate) fn json(document: &impl Serialize) {
    match serde_json::to_string_pretty(document) {
        Ok(text) => line(&text),
        Err(cause) => error(&cause),
    }
}

/// Says on standard error what is going on.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// Says on standard error why it failed.
pub(crate) fn error(error: &dyn Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
}
