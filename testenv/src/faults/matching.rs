//! What a rule is about.

use std::{fmt, sync::Arc};

use super::call::{Call, WRITES};

type Predicate = Arc<dyn Fn(&Call) -> bool + Send + Sync>;

/// Which requests a rule is about.
///
/// Resources are plural names as in RBAC; `machines/status` is a subresource and `*` is any. All conditions have to
/// hold.
#[derive(Clone)]
pub struct Match {
    verbs: &'static [&'static str],
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    predicate: Option<Predicate>,
}

impl Match {
    fn new(verbs: &'static [&'static str], resource: &str) -> Match {
        Match { verbs, resource: resource.to_owned(), namespace: None, name: None, predicate: None }
    }

    /// Every request.
    pub fn any() -> Match {
        Match::new(&[], "*")
    }

    /// Every request about a resource.
    pub fn request(resource: &str) -> Match {
        Match::new(&[], resource)
    }

    /// Reads of a single object.
    pub fn get(resource: &str) -> Match {
        Match::new(&["get"], resource)
    }

    /// Lists; each page is a request.
    pub fn list(resource: &str) -> Match {
        Match::new(&["list"], resource)
    }

    /// Watches.
    pub fn watch(resource: &str) -> Match {
        Match::new(&["watch"], resource)
    }

    /// Everything that changes something: create, update, patch, delete and deletecollection.
    pub fn write(resource: &str) -> Match {
        Match::new(WRITES, resource)
    }

    /// Creates.
    pub fn create(resource: &str) -> Match {
        Match::new(&["create"], resource)
    }

    /// Replacements.
    pub fn update(resource: &str) -> Match {
        Match::new(&["update"], resource)
    }

    /// Patches, server-side apply among them.
    pub fn patch(resource: &str) -> Match {
        Match::new(&["patch"], resource)
    }

    /// Deletions of a single object.
    pub fn delete(resource: &str) -> Match {
        Match::new(&["delete"], resource)
    }

    /// Only in this namespace.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Match {
        Match { namespace: Some(namespace.to_owned()), ..self }
    }

    /// Only for the object of this name; for a create the name in the body counts.
    #[must_use]
    pub fn named(self, name: &str) -> Match {
        Match { name: Some(name.to_owned()), ..self }
    }

    /// Only when this holds, too; a second call replaces the first.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Call) -> bool + Send + Sync + 'static) -> Match {
        Match { predicate: Some(Arc::new(predicate)), ..self }
    }

    pub(super) fn holds(&self, call: &Call) -> bool {
        (self.verbs.is_empty() || self.verbs.contains(&call.verb.as_str()))
            && call.is_about(&self.resource)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == call.namespace)
            && self.name.as_ref().is_none_or(|name| *name == call.name)
            && self.predicate.as_ref().is_none_or(|predicate| predicate(call))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.verbs, self.resource)
    }
}
