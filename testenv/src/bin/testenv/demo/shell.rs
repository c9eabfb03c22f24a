//! Where the demo's commands are typed.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{IsTerminal, stdout},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde::Deserialize;
use tokio::process::Command;

use crate::{bench::Bench, failure::Failure, output};

/// A shell in a folder of its own, with kubectl and the plugin on PATH.
pub(super) struct Shell {
    folder: PathBuf,
    programs: PathBuf,
    kubeconfig: OsString,
    silent: bool,
}

/// What is needed of `kubectl trusted status -o json`.
#[derive(Debug, Deserialize)]
struct Status {
    verdict: String,
}

impl Shell {
    /// Makes the folder; it goes with the control plane.
    pub(super) fn new(bench: &Bench, kubeconfig: OsString, silent: bool) -> Result<Shell, Failure> {
        let data = bench.control_plane.logs().parent().map(Path::to_owned).unwrap_or_default();
        let (folder, programs) = (data.join("demo"), data.join("bin"));
        for new in [&folder, &programs] {
            fs::create_dir(new).map_err(Failure::io(new.display().to_string()))?;
        }
        let links = [
            (bench.control_plane.kubectl(), programs.join("kubectl")),
            (bench.programs.plugin.clone(), programs.join("kubectl-trusted")),
        ];
        let audit = bench.control_plane.try_audit();
        let audit = audit.map(|audit| (audit.path().to_owned(), folder.join("audit.json")));
        for (original, link) in links.into_iter().chain(audit) {
            symlink(original, &link).map_err(Failure::io(link.display().to_string()))?;
        }
        Ok(Shell { folder, programs, kubeconfig, silent })
    }

    /// Where the files lie.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with kubectl and the plugin.
    pub(super) fn path(&self) -> String {
        self.programs.display().to_string()
    }

    /// Says what comes next.
    pub(super) fn say(&self, text: &str) {
        if !self.silent {
            output::line(&format!("\n{}", styled("2", &format!("# {text}"))));
        }
    }

    /// Shows a command, runs it as it is shown, and lets its output through. Another exit code than expected is a
    /// failure.
    pub(super) async fn run(&self, command: &str, expected: &[i32]) -> Result<(), Failure> {
        let (status, said) = if self.silent {
            let output = self.command(command).output().await.map_err(Failure::io(command))?;
            (output.status, format!("; it said: {}", String::from_utf8_lossy(&output.stderr)))
        } else {
            output::line(&styled("1", &format!("$ {command}")));
            (self.command(command).status().await.map_err(Failure::io(command))?, String::new())
        };
        match status.code() {
            Some(code) if expected.contains(&code) => Ok(()),
            _ => Err(Failure::Unexpected(format!("`{command}` ended with {status}{said}"))),
        }
    }

    /// The plugin's verdict.
    pub(super) async fn verdict(&self) -> Result<String, Failure> {
        let command = "kubectl trusted status -o json";
        let output = self.command(command).output().await.map_err(Failure::io(command))?;
        let status: Status = serde_json::from_slice(&output.stdout).map_err(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Failure::Unexpected(format!("`{command}`: {error}; it said: {stderr}"))
        })?;
        Ok(status.verdict)
    }

    fn command(&self, command: &str) -> Command {
        let mut path = OsString::from(&self.programs);
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        let mut process = Command::new("sh");
        process
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("PATH", path)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::null());
        process
    }
}

/// Text in a style, on a terminal that wants it.
fn styled(style: &str, text: &str) -> String {
    let wanted = stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
}
