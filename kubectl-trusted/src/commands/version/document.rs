//! The document of `version`.
//!
//! Owns its field names, which are a contract, and what of an image's name is its version.

use k8s_openapi::api::apps::v1::Deployment;
use serde::Serialize;

use crate::error::Incomplete;
use crate::next;
use crate::output::machine::{Document, FailureBody};
use crate::output::text::{Span, Table, Text, Tone};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Versions {
    pub(crate) client: Client,
    /// Where operator and Trustee were looked for; absent (null) where nothing was asked.
    pub(crate) namespace: Option<String>,
    /// Absent (null) where there is none, or it may not be seen; then `incomplete` says so. So are the next three.
    pub(crate) operator: Option<Workload>,
    pub(crate) crds: Option<Crds>,
    pub(crate) trustee: Option<Workload>,
    pub(crate) api_server: Option<ApiServer>,
    /// What does not go together.
    pub(crate) warnings: Vec<String>,
    pub(crate) incomplete: Vec<Incomplete>,
    /// Why no cluster could be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<FailureBody>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Client {
    pub(crate) version: &'static str,
}

/// A Deployment whose pods are made from one image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Workload {
    pub(crate) image: String,
    /// The tag of the image; absent (null) where it has none.
    pub(crate) version: Option<String>,
    /// Whether all pods run this image, with none left of a former one.
    pub(crate) rolled_out: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Crds {
    /// Versions of the group that the API server serves.
    pub(crate) served: Vec<String>,
    /// Kinds of the version that this program knows.
    pub(crate) kinds: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ApiServer {
    pub(crate) version: String,
}

impl Default for Versions {
    fn default() -> Versions {
        Versions {
            client: Client { version: env!("CARGO_PKG_VERSION") },
            namespace: None,
            operator: None,
            crds: None,
            trustee: None,
            api_server: None,
            warnings: Vec::new(),
            incomplete: Vec::new(),
            error: None,
        }
    }
}

impl Versions {
    pub(crate) fn repeat(&mut self, flags: &str) {
        self.incomplete.iter_mut().for_each(|incomplete| next::repeat(&mut incomplete.check, flags));
    }
}

impl Workload {
    pub(crate) fn of(deployment: &Deployment, rolled_out: bool) -> Workload {
        let pod = deployment.spec.template.spec.as_ref();
        let image = pod.and_then(|pod| pod.containers.first()).and_then(|container| container.image.clone());
        let image = image.unwrap_or_default();
        Workload { version: tag(&image).map(str::to_owned), image, rolled_out }
    }
}

/// `registry:5000/name:TAG@sha256:...`.
fn tag(image: &str) -> Option<&str> {
    let name = image.split('@').next()?;
    let last = name.rsplit('/').next()?;
    last.split_once(':').map(|(_, tag)| tag).filter(|tag| !tag.is_empty())
}

impl Crds {
    pub(crate) fn new(served: Vec<String>, mut kinds: Vec<String>) -> Crds {
        kinds.sort();
        Crds { served, kinds }
    }
}

impl Document for Versions {
    const KIND: &'static str = "Version";

    fn text(&self) -> Text {
        let mut text = Text::default();
        let mut table = Table::left(&["WHAT", "VERSION", ""]);
        table.row(vec!["client".into(), self.client.version.into(), "".into()]);
        if self.namespace.is_some() {
            let hidden = |resource: &str| {
                self.incomplete.iter().any(|incomplete| incomplete.resource.starts_with(resource))
            };
            let deployments = hidden("deployments");
            row(&mut table, "operator", self.operator.as_ref().map(workload), deployments);
            let crds = self.crds.as_ref().map(|crds| (crds.served.join(", "), crds.kinds.join(", ").into()));
            row(&mut table, "CRDs", crds, hidden("/apis"));
            row(&mut table, "Trustee", self.trustee.as_ref().map(workload), deployments);
            let server = self.api_server.as_ref().map(|server| (server.version.clone(), Span::default()));
            row(&mut table, "API server", server, hidden("/version"));
        }
        text.table(table);
        for warning in &self.warnings {
            text.blank();
            text.paragraph(0, [Span::new("Warning:", Tone::Warn), warning.as_str().into()]);
        }
        for incomplete in &self.incomplete {
            text.blank();
            let needs = format!("needs {}", incomplete.need);
            text.paragraph(0, [Span::new("Not visible:", Tone::Bad), needs.into()]);
            text.verbatim(4, "Next: ", incomplete.check.clone());
        }
        text
    }
}

fn workload(workload: &Workload) -> (String, Span) {
    let version = workload.version.clone().unwrap_or_else(|| "no tag".to_owned());
    let state = if workload.rolled_out {
        Span::from(workload.image.clone())
    } else {
        Span::new(format!("{}, not all pods run it", workload.image), Tone::Warn)
    };
    (version, state)
}

fn row(table: &mut Table, what: &str, found: Option<(String, Span)>, is_hidden: bool) {
    let (version, more) = found.unwrap_or_else(|| {
        let absent = if is_hidden { ("not visible", Tone::Bad) } else { ("none", Tone::Faint) };
        (String::new(), Span::new(absent.0, absent.1))
    });
    table.row(vec![what.into(), version.into(), more]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_of_an_image_is_its_version() {
        let cases = [
            ("trusted-operator:0.1.0", Some("0.1.0")),
            ("host:5000/a/b:v1@sha256:00", Some("v1")),
            ("host:5000/a/b", None),
            ("a/b@sha256:00", None),
            ("", None),
        ];
        for (image, version) in cases {
            assert_eq!(tag(image), version, "{image}");
        }
    }
}
