//! The release builds of trusted-operator and kubectl-trusted.
//!
//! Purpose: what is shown and measured is what would be shipped.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::failure::Failure;

/// Our two programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) operator: PathBuf,
    pub(crate) plugin: PathBuf,
}

/// What is needed of cargo's build messages.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    executable: Option<PathBuf>,
}

impl Programs {
    /// Builds both with cargo, which shows its own progress on standard error and does nothing when they are fresh.
    pub(crate) fn build() -> Result<Programs, Failure> {
        let failed = || Failure::io("cargo build");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(cargo);
        // `cargo run` describes our own package in the environment. Build scripts that look at these variables would
        // see them change, and everything above them would be built again, now and at the next `cargo run`.
        for (name, _) in env::vars_os().filter(|(name, _)| describes_package(name)) {
            command.env_remove(name);
        }
        let mut child = command
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .args(["build", "--release", "--message-format", "json-render-diagnostics"])
            // By --bin, not --package: with all members selected, as in our own aliases, dependencies are built once.
            .args(["--bin", "trusted-operator", "--bin", "kubectl-trusted"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed())?;
        let mut executables = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let message: Message =
                    serde_json::from_str(&line.map_err(failed())?).unwrap_or(Message { executable: None });
                executables.extend(message.executable);
            }
        }
        if !child.wait().map_err(failed())?.success() {
            return Err(Failure::Unexpected(
                "building trusted-operator and kubectl-trusted failed; see above".to_owned(),
            ));
        }
        let find = |name: &str| {
            let found = executables.iter().find(|path| path.file_name().is_some_and(|file| file == name));
            found.cloned().ok_or_else(|| Failure::Unexpected(format!("cargo built no program named {name}")))
        };
        Ok(Programs { operator: find("trusted-operator")?, plugin: find("kubectl-trusted")? })
    }
}

/// Whether `cargo run` sets this variable to tell a program about its package.
fn describes_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(&*name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE")
}
