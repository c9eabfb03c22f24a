//! Builders for the CEL validation rules of the kinds.
//!
//! Rules sit on the parent object and point at the field with `fieldPath`: the API server then answers with the
//! message alone, while a rule or pattern on a field makes it repeat the refused value.

use kube::core::{Reason, Rule};

/// A rule on the parent of `field`.
pub(crate) fn on(field: &str, rule: impl Into<String>, message: impl AsRef<str>) -> Rule {
    Rule::new(rule)
        .message(message.as_ref())
        .field_path(format!(".{field}"))
        .reason(Reason::FieldValueInvalid)
}

/// An optional field whose value, once given, stays. Absence is the business of [`set_at_creation`] and
/// [`kept_once_set`].
pub(crate) fn immutable_value(field: &str, remedy: &str) -> Rule {
    on(
        field,
        format!("!has(self.{field}) || !has(oldSelf.{field}) || self.{field} == oldSelf.{field}"),
        format!("{field} is immutable: {remedy}"),
    )
}

/// An optional field that is given at creation or never.
pub(crate) fn set_at_creation(field: &str, remedy: &str) -> Rule {
    on(
        field,
        format!("has(self.{field}) == has(oldSelf.{field})"),
        format!("{field} must be set at creation: it can be neither added nor removed later; {remedy}"),
    )
}

/// An optional field that may be added later, but not removed again.
pub(crate) fn kept_once_set(field: &str) -> Rule {
    on(
        field,
        format!("!has(oldSelf.{field}) || has(self.{field})"),
        format!("{field} is required once set: put the former value back"),
    )
}

/// An optional field that matches a regular expression.
pub(crate) fn matches(field: &str, pattern: &str, message: &str) -> Rule {
    on(field, format!("!has(self.{field}) || self.{field}.matches('{pattern}')"), message)
}
