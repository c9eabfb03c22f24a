//! The body of a merge patch.

use serde::ser::{Error, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Target;

/// A merge patch, of which large parts may be given as their JSON text: as a tree of values they would take ten times
/// the room.
#[derive(Clone, Debug)]
pub struct Body {
    tree: Value,
    texts: Vec<(String, String)>,
}

impl From<Value> for Body {
    fn from(tree: Value) -> Self {
        Body { tree, texts: Vec::new() }
    }
}

impl Body {
    /// A patch in which each of the first strings stands once for the JSON text beside it.
    pub fn with_texts(tree: Value, texts: Vec<(String, String)>) -> Self {
        Body { tree, texts }
    }

    /// Puts the preconditions of `target` into the metadata.
    pub(super) fn guarded(mut self, target: Target<'_>) -> Self {
        let metadata = &mut self.tree["metadata"];
        metadata["uid"] = target.uid.into();
        metadata["name"] = target.name.into();
        if let Some(version) = target.resource_version {
            metadata["resourceVersion"] = version.into();
        }
        self
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.texts.is_empty() {
            return self.tree.serialize(serializer);
        }
        let mut whole = serde_json::to_string(&self.tree).map_err(S::Error::custom)?;
        for (stands, text) in &self.texts {
            let stands = serde_json::to_string(stands).map_err(S::Error::custom)?;
            whole = whole.replacen(&stands, text, 1);
        }
        RawValue::from_string(whole).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn preconditions_and_texts_come_into_what_is_sent() {
        let texts = vec![("list 1".to_owned(), "[1,{\"a\":\"x\"}]".to_owned())];
        let body = Body::with_texts(json!({"spec": {"list": "list 1", "other": "y"}}), texts);
        let target = Target { name: "n", uid: "u", resource_version: Some("7") };
        let sent = serde_json::to_string(&body.guarded(target)).unwrap();
        let metadata = json!({"name": "n", "uid": "u", "resourceVersion": "7"});
        let whole = json!({"metadata": metadata, "spec": {"list": [1, {"a": "x"}], "other": "y"}});
        assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), whole);
        let plain = Body::from(json!({})).guarded(Target { resource_version: None, ..target });
        assert_eq!(serde_json::to_value(plain).unwrap(), json!({"metadata": {"name": "n", "uid": "u"}}));
    }
}
