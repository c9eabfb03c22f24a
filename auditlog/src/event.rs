//! One audit event, as far as counting needs it.
//!
//! Owns the fields that are read. Everything else in a line, request and response bodies above all, is skipped
//! while parsing and never kept.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::kind::{Key, Kind, path_class};

/// A line of a log.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(rename = "auditID", borrow, default)]
    audit_id: Cow<'a, str>,
    pub stage: Stage,
    #[serde(rename = "requestURI", borrow, default)]
    request_uri: Cow<'a, str>,
    #[serde(borrow)]
    pub verb: Cow<'a, str>,
    #[serde(borrow, default)]
    user: User<'a>,
    #[serde(borrow, default)]
    pub user_agent: Cow<'a, str>,
    #[serde(borrow, default)]
    object_ref: Option<ObjectRef<'a>>,
    #[serde(default)]
    response_status: Option<ResponseStatus>,
    /// Bodies are there from the policy levels Request and RequestResponse on; few counts need them, so that they are
    /// passed over unread.
    #[serde(borrow, default)]
    request_object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response_object: Option<&'a RawValue>,
    pub request_received_timestamp: Timestamp,
    pub stage_timestamp: Timestamp,
}

/// How far a request had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Stage {
    RequestReceived,
    ResponseStarted,
    ResponseComplete,
    Panic,
}

#[derive(Debug, Default, Deserialize)]
struct User<'a> {
    #[serde(borrow, default)]
    username: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef<'a> {
    #[serde(borrow, default)]
    resource: Cow<'a, str>,
    #[serde(borrow, default)]
    api_group: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

/// As much of an object as tells whether a write changed it.
#[derive(Default, Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    resource_version: Option<Cow<'a, str>>,
}

fn version(body: Option<&RawValue>) -> Option<String> {
    let body: Body<'_> = serde_json::from_str(body?.get()).ok()?;
    body.metadata.resource_version.map(Cow::into_owned)
}

#[derive(Debug, Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: Option<i32>,
}

impl<'a> Event<'a> {
    /// The event of a line; anything that is no audit event is nothing.
    pub fn parse(line: &'a [u8]) -> Option<Event<'a>> {
        // Checked as a whole, so that none of its strings is by itself.
        let event: Event<'a> = serde_json::from_str(std::str::from_utf8(line).ok()?).ok()?;
        (event.kind == "Event" && event.api_version.starts_with("audit.k8s.io/")).then_some(event)
    }

    /// What all stages of one request share; empty where a log leaves it out.
    pub fn audit_id(&self) -> &str {
        &self.audit_id
    }

    /// Empty for a request to no resource.
    pub fn resource(&self) -> &str {
        self.object_ref.as_ref().map_or("", |object| &object.resource)
    }

    /// Empty for none.
    pub fn subresource(&self) -> &str {
        self.object_ref.as_ref().map_or("", |object| &object.subresource)
    }

    /// The name of who sent it.
    pub fn user(&self) -> &str {
        &self.user.username
    }

    /// Empty for an object of the cluster and for all namespaces.
    pub fn namespace(&self) -> &str {
        self.object_ref.as_ref().map_or("", |object| &object.namespace)
    }

    /// Empty for a collection.
    pub fn name(&self) -> &str {
        self.object_ref.as_ref().map_or("", |object| &object.name)
    }

    /// Path and query.
    pub fn request_uri(&self) -> &str {
        &self.request_uri
    }

    /// The version of the object as the client sent it.
    pub fn version_sent(&self) -> Option<String> {
        version(self.request_object)
    }

    /// The version of the object after the request; none where the policy logs no bodies.
    pub fn version_after(&self) -> Option<String> {
        version(self.response_object)
    }

    /// The API group, empty for the core group.
    pub fn group(&self) -> &str {
        self.object_ref.as_ref().map_or("", |object| &object.api_group)
    }

    /// What all stages of one request share, in 128 bits: a client may send an audit id of any text.
    pub fn id(&self) -> Option<u128> {
        if self.audit_id.is_empty() {
            return None;
        }
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, self.audit_id.as_ref()).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        Some(half(0) << 64 | half(1))
    }

    /// Whether the request stays open on purpose.
    pub fn is_long_running(&self) -> bool {
        Key::is_long_running(&self.verb, self.subresource())
    }

    /// The HTTP status; 0 where none was recorded.
    pub fn code(&self) -> u16 {
        let code = self.response_status.as_ref().and_then(|status| status.code).unwrap_or_default();
        u16::try_from(code).unwrap_or_default()
    }

    /// What it is counted as.
    pub fn key(&self) -> Key {
        let (group, resource, subresource) = match &self.object_ref {
            Some(object) if !object.resource.is_empty() => {
                (object.api_group.to_string(), object.resource.to_string(), object.subresource.to_string())
            }
            _ => (String::new(), path_class(&self.request_uri).to_owned(), String::new()),
        };
        let kind = Kind { verb: self.verb.to_string(), group, resource, subresource };
        Key { kind, code: self.code() }
    }
}
