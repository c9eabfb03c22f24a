//! What becomes of a finished measurement: shown, written to files, and the exit code.
//!
//! Owns the order: the files are written before the screen is, so that a closed pipe costs none of them.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::document::{Budget, Diff, Kind, Notes, Snapshot};
use crate::error::{Class, Error, Result};
use crate::exit::Exit;
use crate::output::format::Export;
use crate::output::machine::Document;
use crate::output::{as_markdown, exported};
use crate::session::Session;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct ReportArgs {
    /// Write a JUnit report to this file as well, one test for each limit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Add the tables as Markdown to this file as well; without a name to that of GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    step_summary: Option<Option<PathBuf>>,

    /// End with 4 also when the numbers may be off: short windows, lost lines, clocks that jump
    #[arg(long)]
    strict: bool,
}

/// A measurement or a comparison of two.
pub(crate) trait Measured: Document {
    fn notes(&self) -> &Notes;
    fn budget(&self) -> Option<&Budget>;
    /// Where the numbers are from, in a few words.
    fn origin(&self) -> String;
    /// What a budget is compared with.
    fn counted(&self) -> Vec<(&Kind, u64)>;
}

impl Measured for Snapshot {
    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    fn origin(&self) -> String {
        super::render::describe(self.source, self.is_cumulative(), &self.filter)
    }

    fn counted(&self) -> Vec<(&Kind, u64)> {
        self.rows.iter().map(|row| (&row.kind, row.count)).collect()
    }
}

impl Measured for Diff {
    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }

    fn origin(&self) -> String {
        format!("{} and {}", self.before.file, self.after.file)
    }

    fn counted(&self) -> Vec<(&Kind, u64)> {
        self.rows.iter().map(|row| (&row.kind, self.counted_of(&row.change))).collect()
    }
}

/// Everything but the result itself.
pub(crate) fn files<M: Measured>(measured: &M, args: &ReportArgs, budget: Option<&Path>) -> Result<()> {
    if let Some(file) = budget {
        let counted = measured.counted();
        write(file, &super::budget::proposal(&measured.origin(), counted.into_iter()))?;
    }
    if let Some(file) = &args.junit {
        write(file, &exported(measured, Export::Junit)?)?;
    }
    if let Some(file) = &args.step_summary {
        append(&summary_file(file.as_deref())?, &as_markdown(measured))?;
    }
    Ok(())
}

pub(crate) fn finish<M: Measured>(
    session: &mut Session,
    measured: &M,
    args: &ReportArgs,
    budget: Option<&Path>,
) -> Result<Exit> {
    files(measured, args, budget)?;
    session.screen.document(measured)?;
    Ok(exit(measured, args))
}

pub(crate) fn exit<M: Measured>(measured: &M, args: &ReportArgs) -> Exit {
    let notes = measured.notes();
    match measured.budget() {
        _ if notes.invalid || (args.strict && notes.doubtful) => Exit::Incomplete,
        Some(budget) if !budget.ok => Exit::Unhealthy,
        _ => Exit::Good,
    }
}

fn summary_file(named: Option<&Path>) -> Result<PathBuf> {
    let from_environment =
        || std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()).map(PathBuf::from);
    named.map(Path::to_path_buf).or_else(from_environment).ok_or_else(|| {
        Error::usage("--step-summary names no file, and GITHUB_STEP_SUMMARY is not set")
            .next("write --step-summary=FILE outside of GitHub Actions")
    })
}

fn unwritable(file: &Path, error: &std::io::Error) -> Error {
    Error::new(Class::Output, format!("\"{}\" cannot be written", file.display())).why(error.to_string())
}

fn append(file: &Path, text: &str) -> Result<()> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    opened
        .and_then(|mut opened| opened.write_all(format!("{text}\n").as_bytes()))
        .map_err(|error| unwritable(file, &error))
}

/// Written beside its place and moved there, so that no half document is ever found under the name.
pub(crate) fn write(file: &Path, document: &str) -> Result<()> {
    let failed = |error: std::io::Error| unwritable(file, &error);
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(file, document).map_err(failed);
    }
    let Some(name) = file.file_name() else {
        return Err(Error::usage(format!("\"{}\" names no file", file.display())));
    };
    let mut draft = name.to_os_string();
    draft.push(format!(".{}.tmp", std::process::id()));
    let draft = file.with_file_name(draft);
    std::fs::write(&draft, document).and_then(|()| std::fs::rename(&draft, file)).map_err(|error| {
        // Only the draft is ours to remove; that it could not be written is the error told.
        let _ = std::fs::remove_file(&draft);
        failed(error)
    })
}
