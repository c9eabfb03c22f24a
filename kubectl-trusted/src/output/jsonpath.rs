//! `-o jsonpath=TEMPLATE`, in kubectl's syntax: text, `{.path}`, `{"text"}`, `{range .path}` ... `{end}`.
//!
//! Owns the template; paths themselves are those of RFC 9535, which kubectl's are for all that is common.
//! Source of the syntax: the Kubernetes documentation, "JSONPath Support".

use jsonpath_rust::JsonPath;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A path from the root or, within a range, from its element.
    Path(String),
    Range(String, Vec<Part>),
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        let mut open: Vec<(String, Vec<Part>)> = vec![(String::new(), Vec::new())];
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = rest.split_once('{').unwrap_or((rest, ""));
            let has_expression = literal.len() < rest.len();
            if !literal.is_empty() {
                push(&mut open, Part::Text(literal.to_owned()));
            }
            rest = after;
            if has_expression {
                let end = closing(after).ok_or_else(|| format!("a brace is not closed in: {{{after}"))?;
                expression(after[..end].trim(), &mut open)?;
                rest = &after[end + 1..];
            }
        }
        match open.pop() {
            Some((_, parts)) if open.is_empty() => Ok(Template(parts)),
            _ => Err("a {range} has no {end}".to_owned()),
        }
    }

    /// The text, or which path is not there.
    pub(crate) fn render(&self, document: &Value) -> Result<String, String> {
        let mut text = String::new();
        render(&self.0, document, &mut text)?;
        Ok(text)
    }
}

/// The end of an expression: a brace that is not within quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '}' => return Some(index),
            None => {}
        }
    }
    None
}

fn push(open: &mut [(String, Vec<Part>)], part: Part) {
    if let Some((_, parts)) = open.last_mut() {
        parts.push(part);
    }
}

fn expression(text: &str, open: &mut Vec<(String, Vec<Part>)>) -> Result<(), String> {
    if let Some(path) = text.strip_prefix("range ") {
        open.push((checked(path.trim())?, Vec::new()));
    } else if text == "end" {
        let ended = if open.len() > 1 { open.pop() } else { None };
        let (path, parts) = ended.ok_or("an {end} has no {range}")?;
        push(open, Part::Range(path, parts));
    } else if text.starts_with('"') && text.len() > 1 {
        let literal: String = serde_json::from_str(text).map_err(|_| format!("{text} is no quoted text"))?;
        push(open, Part::Text(literal));
    } else {
        push(open, Part::Path(checked(text)?));
    }
    Ok(())
}

/// The path with the sign of the root in front, if it can be read.
fn checked(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('$').trim_start_matches('@');
    let path = match bare {
        "" | "." => "$".to_owned(),
        path if path.starts_with(['.', '[']) => format!("${path}"),
        path => format!("$.{path}"),
    };
    Value::Null.query(&path).map(|_| path).map_err(|_| format!("{{{text}}} is no path, such as {{.verdict}}"))
}

fn render(parts: &[Part], value: &Value, text: &mut String) -> Result<(), String> {
    for part in parts {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Path(path) => {
                let found: Vec<_> = query(value, path)?.into_iter().map(shown).collect();
                text.push_str(&found.join(" "));
            }
            Part::Range(path, parts) => {
                for element in query(value, path)? {
                    render(parts, element, text)?;
                }
            }
        }
    }
    Ok(())
}

/// A single field that does not exist is a mistake; a list may be empty.
fn query<'a>(value: &'a Value, path: &str) -> Result<Vec<&'a Value>, String> {
    let found = value.query(path).map_err(|error| error.to_string())?;
    let is_single = !path.contains(['*', '?', ':', ',']) && !path.contains("..");
    if found.is_empty() && is_single {
        return Err(format!("{} is not in the document", path.trim_start_matches('$')));
    }
    Ok(found)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(template: &str) -> String {
        let document = json!({
            "verdict": "Healthy", "none": null, "empty": [], "count": 2,
            "machines": [{"name": "a", "served": true}, {"name": "b", "served": false}],
        });
        Template::parse(template).and_then(|template| template.render(&document)).unwrap_or_else(|why| why)
    }

    #[test]
    fn kubectls_templates_read_the_same() {
        let cases = [
            ("{.verdict}", "Healthy"),
            ("{$.verdict}{\"\\n\"}", "Healthy\n"),
            ("verdict: {.verdict}, {.count} machines", "verdict: Healthy, 2 machines"),
            ("{.machines[*].name}", "a b"),
            ("{.machines[0].served}", "true"),
            ("{.machines[?(@.served==false)].name}", "b"),
            ("{range .machines[*]}{.name}={.served}{\"\\n\"}{end}", "a=true\nb=false\n"),
            ("{.empty[*].name}{.none}", ""),
            ("{.machines[0]}", "{\"name\":\"a\",\"served\":true}"),
        ];
        for (template, text) in cases {
            assert_eq!(rendered(template), text, "{template}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let cases = [
            ("{.verdict", "a brace is not closed"),
            ("{range .machines[*]}{.name}", "no {end}"),
            ("{end}", "no {range}"),
            ("{.a[}", "is no path"),
            ("{.nothing}", ".nothing is not in the document"),
        ];
        for (template, says) in cases {
            assert!(rendered(template).contains(says), "{template}: {}", rendered(template));
        }
    }
}
