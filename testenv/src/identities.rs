//! Who talks to the API server, under which name and with which token.
//!
//! Purpose: one user for each process and role, so that the audit log tells them apart.
//!
//! Owns: the token file, and the mark on everything in a cluster that belongs to this process. Tokens are random,
//! because other people of this machine can reach loopback too.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Api, Client, api::PostParams};

use crate::Error;

/// Users that tests act as: `admin` may do everything, `nobody` nothing; the others hold the Role of `deploy/rbac`
/// that bears their name, in each test namespace.
pub const TEST_USERS: [User; 9] = [
    User { name: "admin", role: None, groups: "system:masters" },
    User { name: "viewer", role: Some("viewer"), groups: "" },
    User { name: "editor", role: Some("editor"), groups: "" },
    User { name: "approver", role: Some("approver"), groups: "" },
    User { name: "auditor", role: Some("auditor"), groups: "" },
    User { name: "backup", role: Some("backup"), groups: "" },
    User { name: "purger", role: Some("purger"), groups: "" },
    User { name: "support", role: Some("support"), groups: "" },
    User { name: "nobody", role: None, groups: "" },
];

/// The test user who may do everything.
pub(crate) const ADMIN: &str = "admin";

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

/// On everything that a process makes and that would outlive it in a cluster which is not its own.
const RUN_LABEL: &str = "trusted-execution-clusters.io/test-run";

/// How long a token lasts: longer than any test and any measurement.
const TOKEN_SECONDS: i64 = 6 * 3600;

/// A user of the tests or of the control plane.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// The user's name, as tests know it.
    pub name: &'static str,
    /// The Role of `deploy/rbac` that the user holds in each test namespace.
    pub role: Option<&'static str>,
    groups: &'static str,
}

/// What this process is to a cluster: an id that marks what it makes, and its users.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    id: String,
    names: BTreeMap<&'static str, String>,
}

impl Run {
    /// Users bear their own names: those of the token file.
    pub(crate) fn new() -> Result<Run, Error> {
        Ok(Run { id: random_id()?, names: BTreeMap::new() })
    }

    /// The users are ServiceAccounts, apart from the admin, whom the cluster knows already.
    pub(crate) fn with_accounts(admin: String) -> Result<Run, Error> {
        let mut run = Run::new()?;
        let namespace = run.users_namespace();
        let accounts = run.accounts().map(|user| (user, account_user(&namespace, user)));
        run.names = accounts.chain([(ADMIN, admin)]).collect();
        Ok(run)
    }

    /// The users that are ServiceAccounts where there is no token file.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = &'static str> + use<> {
        TEST_USERS.iter().map(|user| user.name).filter(|name| *name != ADMIN).chain([PROBE])
    }

    /// Where the ServiceAccounts of the users live.
    pub(crate) fn users_namespace(&self) -> String {
        self.named("testenv-users")
    }

    /// A name for something that nobody else may have.
    pub(crate) fn named(&self, name: &str) -> String {
        format!("{name}-{}", self.id)
    }

    /// What the API server calls a test user; other names are told as they are.
    pub(crate) fn user_name<'a>(&'a self, user: &'a str) -> &'a str {
        self.names.get(user).map_or(user, String::as_str)
    }

    /// The label of what this process makes.
    pub(crate) fn labels(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(RUN_LABEL.to_owned(), self.id.clone())])
    }

    /// What selects it.
    pub(crate) fn selector(&self) -> String {
        format!("{RUN_LABEL}={}", self.id)
    }
}

/// Tokens by user name.
#[derive(Debug)]
pub(crate) struct Tokens(BTreeMap<&'static str, String>);

impl FromIterator<(&'static str, String)> for Tokens {
    fn from_iter<T: IntoIterator<Item = (&'static str, String)>>(tokens: T) -> Tokens {
        Tokens(tokens.into_iter().collect())
    }
}

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

/// The name under which the API server knows a ServiceAccount.
pub(crate) fn account_user(namespace: &str, account: &str) -> String {
    format!("system:serviceaccount:{namespace}:{account}")
}

/// A token of a ServiceAccount.
pub(crate) async fn account_token(client: Client, namespace: &str, account: &str) -> Result<String, Error> {
    let what = format!("a token for ServiceAccount {account} in namespace {namespace}");
    let accounts: Api<ServiceAccount> = Api::namespaced(client, namespace);
    let spec = TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts
        .create_token_request(account, &PostParams::default(), &request)
        .await
        .map_err(Error::kube(what.clone()))?;
    let token = answer.status.and_then(|status| status.token);
    token.ok_or(Error::Timeout { what, last: "no token".to_owned() })
}

/// Eight random hex digits, for a name.
pub(crate) fn random_id() -> Result<String, Error> {
    let random = random_hex().map_err(Error::io("random name"))?;
    Ok(random[..8].to_owned())
}

/// 32 random hex digits.
fn random_hex() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(trusted_crds::hex(bytes))
}
