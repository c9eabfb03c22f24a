//! What a test needs of its control plane, and where it is skipped for want of it.
//!
//! Purpose: the same tests on a control plane of our own, which has everything, and on a cluster that is there
//! already. Which of both it is decides, and nothing else: what happens to be there is not looked at, so that a test
//! is skipped on every cluster or on none.
//!
//! Must not: skip in silence.

use std::{
    env, fmt,
    io::{Write, stderr},
    path::PathBuf,
    thread,
};

/// A kubeconfig of a cluster to use instead of a control plane of our own.
pub(crate) const VARIABLE: &str = "TRUSTED_TEST_KUBECONFIG";

/// Something that only a control plane of our own has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Every request, told by the API server.
    AuditLog,
    /// Nodes on which any pod becomes ready, whatever its image.
    SimulatedNodes,
    /// An admin with a token, which the fault proxy passes on; it has no client certificate of another's.
    AdminToken,
    /// Nobody else in the cluster, and nothing to leave behind.
    OwnCluster,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::AuditLog => "it reads the API server's audit log",
            Need::SimulatedNodes => "it waits for pods, which are sure to run on simulated nodes only",
            Need::AdminToken => "its admin goes through the fault proxy, which passes on nothing but a token",
            Need::OwnCluster => "it needs a cluster to itself",
        })
    }
}

/// The kubeconfig of the cluster to use, where there is to be no control plane of our own.
pub fn existing_cluster() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Ends the test here, and says why on standard error, where the control plane lacks something that it needs.
///
/// ```no_run
/// # fn test() {
/// testenv::needs!(AuditLog, SimulatedNodes);
/// # }
/// ```
#[macro_export]
macro_rules! needs {
    ($($need:ident),+) => {
        if $crate::is_skipped(&[$($crate::Need::$need),+]) {
            return;
        }
    };
}

/// Whether a test with these needs is skipped; says so then. See [`needs!`].
pub fn is_skipped(needs: &[Need]) -> bool {
    if existing_cluster().is_none() {
        return false;
    }
    let reasons: Vec<String> = needs.iter().map(Need::to_string).collect();
    // Test threads bear the names of their tests.
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("skipped: {test}: {} ({VARIABLE} is set)\n", reasons.join("; "));
    // Past the capture of libtest, which hides what passes, and whole, since others write at the same time.
    let _ = stderr().write_all(line.as_bytes());
    true
}
