//! Runs the binary and keeps what it said.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Output, Stdio};

use testenv::TestNamespace;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-trusted");

/// The binary as one user.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    pub(crate) kubeconfig: OsString,
}

#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("the program ended by itself"),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// The one document on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("stdout is not one JSON document ({error}): {self:?}"))
    }

    /// Fails with all that was said when the exit code is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// The binary with nothing of this machine's own configuration.
pub(crate) fn command() -> Command {
    let mut command = Command::new(BINARY);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent").kill_on_drop(true);
    command
}

impl Plugin {
    /// As one of the test users, with this namespace in the context.
    pub(crate) fn as_user(namespace: &TestNamespace, user: &str) -> Plugin {
        Plugin { kubeconfig: namespace.user_kubeconfig(user).expect("a kubeconfig") }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = command();
        command.env("KUBECONFIG", &self.kubeconfig);
        command
    }

    /// A script of the shell, with the kubeconfig of this user.
    pub(crate) async fn shell(&self, script: &str) -> Ran {
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().env("PATH", "/usr/bin:/bin").env("KUBECONFIG", &self.kubeconfig).kill_on_drop(true);
        Ran::of(shell.args(["-c", script]).stdin(Stdio::null()).output().await.expect("the shell runs"))
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command().args(arguments).stdin(Stdio::null()).output().await.expect("the binary runs"))
    }
}

/// Runs without a kubeconfig.
pub(crate) async fn bare(arguments: &[&str]) -> Ran {
    Ran::of(command().args(arguments).stdin(Stdio::null()).output().await.expect("the binary runs"))
}

/// Runs without a kubeconfig, with something on stdin.
pub(crate) async fn piped(arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(input).await.expect("stdin is read");
    drop(stdin);
    Ran::of(child.wait_with_output().await.expect("the binary ends"))
}

pub(crate) fn path(file: &Path) -> &str {
    file.to_str().expect("a UTF-8 path")
}
