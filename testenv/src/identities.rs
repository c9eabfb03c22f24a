//! Who talks to the API server, and with which token.
//!
//! Purpose: one user for each process and role, so that the audit log tells them apart.
//!
//! Owns: the token file. Tokens are random, because other people of this machine can reach loopback too.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use crate::Error;

/// Users that tests act as: `admin` may do everything, `nobody` nothing; the others hold the Role of `deploy/rbac`
/// that bears their name, in each test namespace.
pub const TEST_USERS: [User; 7] = [
    User { name: "admin", role: None, groups: "system:masters" },
    User { name: "viewer", role: Some("viewer"), groups: "" },
    User { name: "editor", role: Some("editor"), groups: "" },
    User { name: "approver", role: Some("approver"), groups: "" },
    User { name: "auditor", role: Some("auditor"), groups: "" },
    User { name: "backup", role: Some("backup"), groups: "" },
    User { name: "nobody", role: None, groups: "" },
];

/// Users of the control plane's own parts.
pub(crate) const CONTROLLER_MANAGER: &str = "system:kube-controller-manager";
pub(crate) const SCHEDULER: &str = "system:kube-scheduler";
pub(crate) const KWOK: &str = "kwok";
/// The user in whose name the admission policies are probed.
pub(crate) const PROBE: &str = "probe";

const COMPONENTS: [User; 4] = [
    User { name: CONTROLLER_MANAGER, role: None, groups: "" },
    User { name: SCHEDULER, role: None, groups: "" },
    User { name: KWOK, role: None, groups: "system:masters" },
    User { name: PROBE, role: None, groups: "" },
];

/// A user of the token file.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// The user's name, as RBAC and the audit log know it.
    pub name: &'static str,
    /// The Role of `deploy/rbac` that the user holds in each test namespace.
    pub role: Option<&'static str>,
    groups: &'static str,
}

/// Tokens by user name.
#[derive(Debug)]
pub(crate) struct Tokens(BTreeMap<&'static str, String>);

impl Tokens {
    /// Makes a token for each user and writes the file that kube-apiserver reads.
    pub(crate) fn write(path: &Path) -> Result<Tokens, Error> {
        let mut tokens = BTreeMap::new();
        let mut file = String::new();
        for user in TEST_USERS.iter().chain(&COMPONENTS) {
            let token = random_hex().map_err(Error::io(path))?;
            let _ =
                writeln!(file, "{token},{name},{name},\"{groups}\"", name = user.name, groups = user.groups);
            tokens.insert(user.name, token);
        }
        fs::write(path, file).map_err(Error::io(path))?;
        Ok(Tokens(tokens))
    }

    pub(crate) fn get(&self, user: &str) -> Option<&str> {
        self.0.get(user).map(String::as_str)
    }
}

/// 32 random hex digits.
pub(crate) fn random_hex() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
