//! What can go wrong while a control plane is found, built, started or used.
//!
//! Every text says what failed and, where a person can do something about it, what.

use std::{io, path::PathBuf};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was to be read or written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Neither ready binaries nor the means to build them were found.
    #[error(
        "the control plane's binaries are missing ({missing}) and Go was not found to build them. Either set \
         KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver, kube-controller-manager, \
         kube-scheduler, kubectl and kwok, or install Go 1.26 or newer and put `go` on PATH"
    )]
    NoAssets {
        /// Names of the missing programs.
        missing: String,
    },
    /// kubectl was not found, which is all that a cluster that is there already takes.
    #[error("kubectl was not found; install it, or set KUBEBUILDER_ASSETS to a folder that holds it")]
    NoKubectl,
    /// `TRUSTED_TEST_KUBECONFIG` leads nowhere.
    #[error("TRUSTED_TEST_KUBECONFIG names {}, which cannot be used: {what}", path.display())]
    Kubeconfig {
        /// What it names.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The API server of `TRUSTED_TEST_KUBECONFIG` does not answer.
    #[error("the API server at {url}, to which TRUSTED_TEST_KUBECONFIG leads, cannot be reached: {why}")]
    Unreachable {
        /// Its address.
        url: String,
        /// The cause.
        why: String,
    },
    /// The API server of `TRUSTED_TEST_KUBECONFIG` does not know the user.
    #[error(
        "the API server at {url}, to which TRUSTED_TEST_KUBECONFIG leads, does not accept its credentials (401)"
    )]
    Credentials {
        /// The server's address.
        url: String,
    },
    /// The user of `TRUSTED_TEST_KUBECONFIG` is not an administrator of the cluster.
    #[error(
        "{user}, the user of TRUSTED_TEST_KUBECONFIG, may not do everything at {url}, as the tests' admin must; `kubectl auth \
         can-i '*' '*' --all-namespaces` has to say yes, as it does with the ClusterRole cluster-admin"
    )]
    Rights {
        /// The server's address.
        url: String,
        /// The user's name there.
        user: String,
    },
    /// `go build` failed.
    #[error("building {program} failed:\n{output}")]
    Build {
        /// The program that was being built.
        program: String,
        /// The last lines that Go wrote.
        output: String,
    },
    /// A program could not be started at all.
    #[error("{program} cannot be started: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The control plane that this process shares could not be started; every caller learns why.
    #[error("{0}")]
    Start(String),
    /// A part of the control plane ended or never became ready.
    #[error("{component} {what}; the end of its log:\n{log}")]
    Component {
        /// The part.
        component: String,
        /// What it did.
        what: String,
        /// The last lines of its log.
        log: String,
    },
    /// Certificates or keys could not be made.
    #[error("test certificates: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A request to the API server failed.
    #[error("{what}: {source}")]
    Kube {
        /// What was being done.
        what: String,
        /// The cause.
        source: Box<kube::Error>,
    },
    /// A tool such as `kubectl kustomize` failed.
    #[error("{command} failed: {output}")]
    Command {
        /// The command.
        command: String,
        /// What it wrote.
        output: String,
    },
    /// A manifest of `deploy/` is not what it should be.
    #[error("manifest {name}: {what}")]
    Manifest {
        /// Folder or object.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// Something that was waited for did not come.
    #[error("waited for {what} in vain: {last}")]
    Timeout {
        /// What was waited for.
        what: String,
        /// The last answer.
        last: String,
    },
}

impl Error {
    /// Wraps a failure to read or write `path`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { path, source }
    }

    /// Wraps a failed request, saying what it was for.
    pub fn kube(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Error {
        let what = what.into();
        move |source| Error::Kube { what, source: Box::new(source) }
    }
}
