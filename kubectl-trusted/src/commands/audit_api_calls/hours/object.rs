//! The fields of an APIRequestCount that are read. A list that is empty may be absent, or null.

use serde::{Deserialize, Serialize};

/// What is reported where the object does not say it.
const USUAL_USERS: usize = 10;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spec {
    #[serde(default)]
    number_of_users_to_report: usize,
}

impl Spec {
    /// How many users are listed of each node and hour.
    pub(super) fn users(&self) -> usize {
        if self.number_of_users_to_report == 0 { USUAL_USERS } else { self.number_of_users_to_report }
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Status {
    /// By the hour of the day, in UTC.
    #[serde(default)]
    pub(super) last24h: Option<Vec<Hour>>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hour {
    #[serde(default)]
    by_node: Option<Vec<Node>>,
}

impl Hour {
    pub(super) fn nodes(&self) -> &[Node] {
        self.by_node.as_deref().unwrap_or_default()
    }
}

/// What one API server was asked.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    /// Of all users, also of those that are not listed.
    #[serde(default)]
    pub(super) request_count: u64,
    #[serde(default)]
    by_user: Option<Vec<User>>,
}

impl Node {
    pub(super) fn users(&self) -> &[User] {
        self.by_user.as_deref().unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    #[serde(default)]
    pub(super) username: String,
    #[serde(default)]
    pub(super) user_agent: String,
    #[serde(default)]
    pub(super) request_count: u64,
    #[serde(default)]
    by_verb: Option<Vec<Verb>>,
}

impl User {
    pub(super) fn verbs(&self) -> &[Verb] {
        self.by_verb.as_deref().unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verb {
    #[serde(default)]
    pub(super) verb: String,
    #[serde(default)]
    pub(super) request_count: u64,
}
