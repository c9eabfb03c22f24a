//! `kubectl-trusted __complete WORDS...`: what could stand where the cursor is, as kubectl asks plug-ins for it.
//!
//! Owns the answer's form: one candidate a line with its description after a tab, then a colon and the directive for the
//! shell. Form and directives: Cobra's "shell completions" documentation. Never says anything else: without a cluster
//! there are simply no names.

mod names;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Command, CommandFactory, FromArgMatches};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use self::names::Wanted;
use crate::cli::Cli;
use crate::connect::ConnectionArgs;
use crate::exit::Exit;

const VERB: &str = "__complete";

/// Cobra's directives: no blank after a folder, and never names of files where no file is meant.
const NO_SPACE: u8 = 2;
const NO_FILES: u8 = 4;

/// The words to complete, the last of which may be empty; none for any other command line.
pub(crate) fn asked() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == VERB).then(|| arguments.collect())
}

pub(crate) fn run(mut words: Vec<OsString>) -> ExitCode {
    if words.is_empty() {
        words.push(OsString::new());
    }
    // Flags are offered to whoever has begun one: else they would hide the names.
    let is_flag = words.last().is_some_and(|word| word.to_string_lossy().starts_with('-'));
    let index = words.len();
    words.insert(0, OsString::from("kubectl-trusted"));
    let mut command = with_names(&words);
    let folder = std::env::current_dir().ok();
    let candidates = clap_complete::engine::complete(&mut command, words, index, folder.as_deref());
    let mut candidates = candidates.unwrap_or_default();
    candidates.retain(|candidate| is_flag || !candidate.get_value().to_string_lossy().starts_with('-'));
    answer(&candidates);
    Exit::Good.into()
}

/// The command line with the names of objects in it, which are asked for only where one of them is needed.
fn with_names(words: &[OsString]) -> Command {
    let connection = connection(words);
    let arguments = [
        ("approve-ak", "names", Wanted::Undecided),
        ("deny-ak", "names", Wanted::NotDenied),
        ("revoke-ak", "names", Wanted::Decided),
        ("status", "names", Wanted::Anything),
        ("explain-machine", "id", Wanted::Machines),
    ];
    arguments.into_iter().fold(Cli::command(), |command, (verb, argument, wanted)| {
        let (connection, given) = (connection.clone(), words.to_vec());
        let candidates = ArgValueCandidates::new(move || {
            let named = names::ask(&connection, wanted).into_iter();
            // What stands there already is not offered again.
            named.filter(|(name, _)| !given.iter().any(|word| word == name.as_str())).map(candidate).collect()
        });
        command.mut_subcommand(verb, |verb| verb.mut_arg(argument, |argument| argument.add(candidates)))
    })
}

fn candidate((name, description): (String, String)) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(description.into()))
}

/// The connection flags among the words, however unfinished the rest is.
fn connection(words: &[OsString]) -> ConnectionArgs {
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(words);
    let connection = matches.ok().and_then(|matches| ConnectionArgs::from_arg_matches(&matches).ok());
    connection.unwrap_or_default()
}

fn answer(candidates: &[CompletionCandidate]) {
    let mut text = String::new();
    for candidate in candidates.iter().filter(|candidate| !candidate.is_hide_set()) {
        // Foreign names hold no control characters; the API server sees to that. A file's name may.
        let value = candidate.get_value().to_string_lossy();
        if value.chars().any(char::is_control) {
            continue;
        }
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        if let Some(line) = help.lines().next() {
            text.push('\t');
            text.push_str(&crate::output::neutral::for_terminal(line));
        }
        text.push('\n');
    }
    let is_folder = matches!(candidates, [one] if one.get_value().to_string_lossy().ends_with('/'));
    text.push_str(&format!(":{}\n", if is_folder { NO_FILES | NO_SPACE } else { NO_FILES }));
    // A shell that has gone away needs no answer.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
