//! Errors a person can act on: what failed, on which object, why, and what to do next.
//!
//! Owns the classes (each knows its exit code) and the wording of the parts. Must not print: `output` does.

mod incomplete;
mod kube;

pub(crate) use self::incomplete::Incomplete;
pub(crate) use self::kube::Attempt;
use crate::exit::Exit;

/// The class of an error; every class has its own text, so that "not found", "forbidden" and "unreachable"
/// never look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Usage,
    Kubeconfig,
    Unreachable,
    Timeout,
    Unauthorized,
    Forbidden,
    NotFound,
    NotInstalled,
    Server,
    Client,
    Input,
    Output,
}

impl Class {
    /// The word in machine-readable documents and in brackets after `Error`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Class::Usage => "Usage",
            Class::Kubeconfig => "Kubeconfig",
            Class::Unreachable => "Unreachable",
            Class::Timeout => "Timeout",
            Class::Unauthorized => "Unauthorized",
            Class::Forbidden => "Forbidden",
            Class::NotFound => "NotFound",
            Class::NotInstalled => "NotInstalled",
            Class::Server => "ServerError",
            Class::Client => "ClientError",
            Class::Input => "Input",
            Class::Output => "Output",
        }
    }

    pub(crate) fn exit(self) -> Exit {
        match self {
            Class::Usage => Exit::Usage,
            _ => Exit::Error,
        }
    }

    /// Whether the next request would end in the same way, whatever it is about.
    pub(crate) fn is_of_connection(self) -> bool {
        matches!(self, Class::Kubeconfig | Class::Unreachable | Class::Unauthorized)
    }

    /// Whether the answer came from the API server, as kubectl words it.
    pub(crate) fn is_from_server(self) -> bool {
        matches!(
            self,
            Class::Unauthorized | Class::Forbidden | Class::NotFound | Class::NotInstalled | Class::Server
        )
    }
}

/// One failure, ready to be shown.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Error {
    pub(crate) class: Class,
    /// What failed, and on which object.
    pub(crate) what: String,
    /// Why, where that is known beyond `what`.
    pub(crate) why: Option<String>,
    /// What to do next: one sentence or one command.
    pub(crate) next: Option<String>,
}

impl Error {
    pub(crate) fn new(class: Class, what: impl Into<String>) -> Error {
        Error { class, what: what.into(), why: None, next: None }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Error {
        Error::new(Class::Usage, what)
    }

    pub(crate) fn input(what: impl Into<String>) -> Error {
        Error::new(Class::Input, what)
    }

    #[must_use]
    pub(crate) fn why(mut self, why: impl Into<String>) -> Error {
        self.why = Some(why.into());
        self
    }

    #[must_use]
    pub(crate) fn next(mut self, next: impl Into<String>) -> Error {
        self.next = Some(next.into());
        self
    }

    /// What the API server refuses is asked again with the same flags; what is wrong with the flags is not.
    #[must_use]
    pub(crate) fn repeating(mut self, flags: &str) -> Error {
        if let Some(next) = self.next.as_mut().filter(|_| self.class.is_from_server()) {
            crate::next::repeat(next, flags);
        }
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.class.exit()
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
