//! Why a command failed.

/// Everything that ends a command early. A promise that does not hold is no failure of the command: it is reported
/// in the result, and by the exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The control plane or something in it.
    #[error(transparent)]
    Testenv(#[from] testenv::Error),
    /// A request to the API server.
    #[error("{what}: {source}")]
    Kube {
        /// What was being done.
        what: String,
        /// The cause.
        source: Box<kube::Error>,
    },
    /// A file, a pipe or a process.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Something that is not as it must be.
    #[error("{0}")]
    Unexpected(String),
}

impl Failure {
    pub(crate) fn kube(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Failure {
        let what = what.into();
        move |source| Failure::Kube { what, source: Box::new(source) }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Failure {
        let what = what.into();
        move |source| Failure::Io { what, source }
    }
}
