//! A child as a tree of JSON values, in which it is compared and patched.
//!
//! Trustee's Deployment mounts one Secret for every key. As a tree of values each of these sources takes 2 KB, as
//! text 150 bytes; for thousands of machines that was most of the operator's memory. The list is only ever compared as
//! a whole, so it stands in the tree as its text, and becomes a list again in what is sent.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, ProjectedVolumeSource, Service};
use serde_json::Value;

use crate::writer::Written;

/// A kind children are of: stored in full, so that it can be compared.
pub trait ChildKind: Written<Stored = Self> {
    /// The object as a tree, with long lists folded into their text.
    fn document(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl ChildKind for ConfigMap {}
impl ChildKind for Service {}

impl ChildKind for Deployment {
    fn document(&self) -> Result<Value, serde_json::Error> {
        let mut slim = self.clone();
        let mut folded = Vec::new();
        for (index, projected) in projected(&mut slim) {
            // An empty list is left to the comparison, which knows that the API server leaves it out.
            if let Some(sources) = projected.sources.take_if(|sources| !sources.is_empty()) {
                folded.push((index, serde_json::to_string(&sources)?));
            }
        }
        let mut document = serde_json::to_value(&slim)?;
        for (index, text) in folded {
            document["spec"]["template"]["spec"]["volumes"][index]["projected"]["sources"] =
                Value::String(text);
        }
        Ok(document)
    }
}

/// The projected volumes of the pod, each with its place among all volumes.
fn projected(deployment: &mut Deployment) -> impl Iterator<Item = (usize, &mut ProjectedVolumeSource)> {
    let pod = deployment.spec.template.spec.iter_mut();
    let volumes = pod.flat_map(|pod| pod.volumes.iter_mut().flatten());
    volumes.enumerate().filter_map(|(index, volume)| Some((index, volume.projected.as_mut()?)))
}

/// What is sent: folded lists are lists again.
pub fn unfolded(mut patch: Value) -> Result<Value, serde_json::Error> {
    let volumes = patch.pointer_mut("/spec/template/spec/volumes").and_then(Value::as_array_mut);
    for volume in volumes.into_iter().flatten() {
        if let Some(sources) = volume.pointer_mut("/projected/sources")
            && let Some(text) = sources.as_str()
        {
            *sources = serde_json::from_str(text)?;
        }
    }
    Ok(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_text_in_the_tree_and_a_list_in_what_is_sent() {
        let sources =
            json!([{"secret": {"name": "ak-a", "items": [{"key": "public_key", "path": "a.pub"}]}}]);
        let volumes = json!([
            {"name": "tmp", "emptyDir": {}},
            {"name": "keys", "projected": {"defaultMode": 420, "sources": sources}},
            {"name": "empty", "projected": {"sources": []}},
            {"name": "none", "projected": {}},
        ]);
        let plain = json!({"metadata": {"name": "d"}, "spec": {
            "selector": {}, "template": {"spec": {"containers": [], "volumes": volumes}},
        }});
        let deployment: Deployment = serde_json::from_value(plain).unwrap();
        let document = deployment.document().unwrap();
        let volumes = &document["spec"]["template"]["spec"]["volumes"];
        assert_eq!(volumes[1]["projected"]["sources"], sources.to_string());
        assert_eq!(volumes[2]["projected"]["sources"], json!([]));
        let sent = unfolded(document).unwrap();
        assert_eq!(sent["spec"]["template"]["spec"]["volumes"][1]["projected"]["sources"], sources);
        let back: Deployment = serde_json::from_value(sent).unwrap();
        assert_eq!(back, deployment);
    }
}
