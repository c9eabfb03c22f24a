//! Error texts that tell the mistake and not the value.
//!
//! serde puts the offending value into its messages. That value may be a secret or megabytes long, so messages are
//! rebuilt from their parts that come from the Rust type, and anything unknown becomes a general statement.

/// A text for a parse error that holds nothing of the parsed document except field names.
pub(super) fn without_content(error: &serde_json::Error) -> String {
    if error.is_eof() || error.is_syntax() {
        return "not valid JSON".to_owned();
    }
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(text, _)| text);
    if message.starts_with("missing field `") || message.starts_with("duplicate field `") {
        return message.to_owned();
    }
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    match (mistake(message), expected) {
        (Some(mistake), Some(expected)) => format!("{mistake}, expected {expected}"),
        (Some(mistake), None) => mistake,
        (None, _) => "value not accepted".to_owned(),
    }
}

/// The first words of a serde message, with the JSON type of the value in place of the value.
fn mistake(message: &str) -> Option<String> {
    for general in ["unknown variant", "unknown field", "invalid value", "invalid length"] {
        if message.starts_with(general) {
            return Some(general.to_owned());
        }
    }
    let found = message.strip_prefix("invalid type: ")?;
    let json_type = ["string", "integer", "floating point", "boolean", "sequence", "map", "null"]
        .into_iter()
        .find(|json_type| found.starts_with(json_type))?;
    Some(format!("invalid type: {json_type}"))
}
