//! What the exit code means. Scripts rely on these numbers; the help texts repeat them.
//!
//! Owns the numbers only; which command ends with which code is decided by the command or by the error.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The question was answered and the answer is good.
    Good,
    /// The API server, a file or the program itself failed.
    Error,
    /// The command line cannot be understood or must not be run like this; the same number as clap's.
    Usage,
    /// The answer is bad: not healthy, or over budget.
    Unhealthy,
    /// The answer is not complete: rights are missing or a measurement is not valid.
    Incomplete,
    /// The effect did not come before the deadline, as `timeout` says it.
    Deadline,
    /// Ctrl-C: 128 + SIGINT.
    Interrupt,
    /// As a command ended that was run.
    OfCommand(u8),
}

impl Exit {
    pub(crate) fn number(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Unhealthy => 3,
            Exit::Incomplete => 4,
            Exit::Deadline => 124,
            Exit::Interrupt => 130,
            Exit::OfCommand(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

/// The table shown at the end of `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0    good
  1    error: API server, file or program
  2    usage: the command line is wrong
  3    not healthy, or over budget
  4    incomplete: rights are missing, or a measurement is not valid
  124  the effect did not come before the deadline
  130  interrupted";
