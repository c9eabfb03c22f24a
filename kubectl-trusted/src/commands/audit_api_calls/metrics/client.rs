//! The series in which clients of the API server count what they send.
//!
//! Owns their names and labels. Sources: pkg/client/metrics of client-go's users (component-base, controller-runtime),
//! kubert/src/client/metrics.rs of olix0r/kubert, docs/metrics.md.

use super::text::Labels;
use super::{Family, Meaning};
use crate::commands::audit_api_calls::count::Key;
use crate::commands::audit_api_calls::document::Kind;

pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let family = match name {
        "trusted_operator_http_requests_total" => Family::Operator,
        "rest_client_requests_total" => Family::ClientGo,
        // Programs choose what their series begin with; the label cluster_url tells them from those of others.
        _ if name.ends_with("response_status_total") => Family::Kubert,
        _ => return None,
    };
    Some(Meaning::Requests(family))
}

pub(super) fn of_operator(mut labels: Labels) -> Key {
    let mut take = |name: &str| labels.remove(name).unwrap_or_default();
    let kind = Kind {
        verb: take("verb"),
        group: take("group"),
        resource: take("resource"),
        subresource: take("subresource"),
    };
    Key { kind, code: take("code").parse().unwrap_or_default() }
}

/// In capitals, as HTTP has them: a GET is not the `get` of audit logs, but any of get, list and watch.
pub(super) fn of_method(mut labels: Labels, code: &str) -> Key {
    let verb = labels.remove("method").unwrap_or_default().to_ascii_uppercase();
    // No number stands there where no answer came.
    let code = labels.remove(code).and_then(|code| code.parse().ok()).unwrap_or_default();
    Key { kind: Kind { verb, ..Kind::default() }, code }
}
