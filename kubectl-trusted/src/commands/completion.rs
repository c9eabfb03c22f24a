//! `completion`: scripts that let shells complete the command line.
//!
//! Owns the scripts, which are also kept in completions/ so that packages can install them.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::aot::{self, Shell};

use crate::cli::Cli;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::Session;

const HELP: &str = "\
kubectl completes a plug-in by a program next to it. Put it on PATH, and
`kubectl trusted approve-ak <TAB>` offers the keys that wait:
  kubectl trusted completion kubectl > ~/.local/bin/kubectl_complete-trusted
  chmod +x ~/.local/bin/kubectl_complete-trusted

The scripts of the shells complete `kubectl-trusted`, with a hyphen.

Examples:
  # A file for ~/.bashrc to source
  kubectl trusted completion bash > ~/.kubectl-trusted.bash

  # For every zsh, in a folder of $fpath
  kubectl trusted completion zsh > ~/.zfunc/_kubectl-trusted";

/// What kubectl runs with the words typed so far.
const KUBECTL_HELPER: &str = "\
#!/bin/sh
# Completes `kubectl trusted`: kubectl runs this with the words typed so far. It says nothing when there is nothing to say.
exec kubectl-trusted __complete \"$@\" 2>/dev/null
";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct CompletionArgs {
    /// For which shell, or for kubectl
    #[arg(value_name = "SHELL", value_enum)]
    shell: For,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum For {
    Bash,
    Zsh,
    Fish,
    Powershell,
    /// The program `kubectl_complete-trusted`
    Kubectl,
}

impl For {
    fn script(self) -> String {
        let shell = match self {
            For::Bash => Shell::Bash,
            For::Zsh => Shell::Zsh,
            For::Fish => Shell::Fish,
            For::Powershell => Shell::PowerShell,
            For::Kubectl => return KUBECTL_HELPER.to_owned(),
        };
        let mut script = Vec::new();
        aot::generate(shell, &mut Cli::command(), "kubectl-trusted", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }
}

/// The scripts by the names under which they are kept.
pub fn scripts() -> Vec<(&'static str, String)> {
    let named = [
        ("kubectl-trusted.bash", For::Bash),
        ("_kubectl-trusted", For::Zsh),
        ("kubectl-trusted.fish", For::Fish),
        ("_kubectl-trusted.ps1", For::Powershell),
        ("kubectl_complete-trusted", For::Kubectl),
    ];
    named.into_iter().map(|(name, shell)| (name, shell.script())).collect()
}

pub(crate) fn run(session: &mut Session, args: &CompletionArgs) -> Result<Exit> {
    session.screen.script(&args.shell.script())?;
    Ok(Exit::Good)
}
