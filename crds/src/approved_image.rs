//! ApprovedImage: an operating system image whose boot measurements may attest.

#![expect(
    unreachable_pub,
    reason = "the schema derive puts a public copy of each struct into a function body"
)]
#![expect(clippy::duplicated_attributes, reason = "printer columns share types and priorities")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::on;

/// An operating system image that may boot.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "trusted-execution-clusters.io",
    version = "v1alpha1",
    kind = "ApprovedImage",
    namespaced,
    status = "ApprovedImageStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "ApprovedImage is an operating system image whose boot measurements are accepted when a machine attests.",
    shortname = "ai",
    category = "trusted",
    selectable = ".spec.image",
    printcolumn(
        name = "Committed",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Committed\")].status",
        description = "Whether the image's measurements are accepted"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Committed\")].reason",
        description = "Why they are accepted or not"
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        json_path = ".spec.image",
        priority = 1,
        description = "The image reference"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = on(
        "image",
        "self.image.matches('^[^@[:space:]]+@sha256:[0-9a-f]{64}$')",
        "image must name the image by digest: NAME@sha256: and 64 lower-case hexadecimal digits at the end, so that nobody \
         can move a tag under an approval"
    ),
    validation = on(
        "image",
        "self.image == oldSelf.image",
        "image is immutable: create another ApprovedImage for another image"
    )
)]
pub struct ApprovedImageSpec {
    /// Reference of the image in digest form, NAME@sha256:DIGEST, at most 512 characters. Immutable.
    #[schemars(length(min = 1, max = 512))]
    pub image: String,
}

/// What the operator found and did. Written by the operator alone.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedImageStatus {
    /// Committed, with a reason and the next step.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The reference values this image contributed.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_values: Option<Vec<ReferenceValue>>,
}

/// Accepted values of one measurement.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceValue {
    /// Name under which the attestation policy looks it up, such as tpm_pcr4.
    pub name: String,
    /// Accepted values, lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}
