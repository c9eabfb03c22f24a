//! What a rule is about: requests, or events in watches.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{
    call::{Call, WRITES},
    event::Event,
};

type Predicate<T> = Arc<dyn Fn(&T) -> bool + Send + Sync>;

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
    predicate: Option<Predicate<Call>>,
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

/// Which events of watches a rule is about.
///
/// Resources are plural names as in RBAC; `*` is any. All conditions have to hold.
#[derive(Clone)]
pub struct Events {
    types: &'static [&'static str],
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    predicate: Option<Predicate<Value>>,
}

impl Events {
    fn new(types: &'static [&'static str], resource: &str) -> Events {
        let resource = resource.to_owned();
        Events { types, resource, namespace: None, name: None, uid: None, predicate: None }
    }

    /// Everything that comes in a watch, bookmarks and errors too.
    pub fn all(resource: &str) -> Events {
        Events::new(&[], resource)
    }

    /// Additions, modifications and deletions.
    pub fn changes(resource: &str) -> Events {
        Events::new(&["ADDED", "MODIFIED", "DELETED"], resource)
    }

    /// Additions.
    pub fn added(resource: &str) -> Events {
        Events::new(&["ADDED"], resource)
    }

    /// Modifications.
    pub fn modified(resource: &str) -> Events {
        Events::new(&["MODIFIED"], resource)
    }

    /// Deletions.
    pub fn deleted(resource: &str) -> Events {
        Events::new(&["DELETED"], resource)
    }

    /// Bookmarks.
    pub fn bookmarks(resource: &str) -> Events {
        Events::new(&["BOOKMARK"], resource)
    }

    /// Only of objects in this namespace.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Events {
        Events { namespace: Some(namespace.to_owned()), ..self }
    }

    /// Only of the object of this name.
    #[must_use]
    pub fn named(self, name: &str) -> Events {
        Events { name: Some(name.to_owned()), ..self }
    }

    /// Only of the object with this uid.
    #[must_use]
    pub fn uid(self, uid: &str) -> Events {
        Events { uid: Some(uid.to_owned()), ..self }
    }

    /// Only when this holds for the event's object, too; a second call replaces the first.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Events {
        Events { predicate: Some(Arc::new(predicate)), ..self }
    }

    pub(super) fn holds(&self, call: &Call, event: &Event) -> bool {
        let is = |wanted: &Option<String>, field| {
            wanted.as_ref().is_none_or(|wanted| event.metadata(field) == wanted)
        };
        (self.types.is_empty() || self.types.contains(&event.kind.as_str()))
            && call.is_about(&self.resource)
            && is(&self.namespace, "namespace")
            && is(&self.name, "name")
            && is(&self.uid, "uid")
            && self.predicate.as_ref().is_none_or(|predicate| predicate(&event.object))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.verbs, self.resource)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.types, self.resource)
    }
}
