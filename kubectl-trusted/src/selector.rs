//! Label selectors as kubectl takes them: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
//!
//! Owns the text form. The keys of a namespace are listed whole in any case, since rivals may have other labels, so a
//! selector is applied here. Source of the syntax: the Kubernetes documentation, "Labels and Selectors".

use std::collections::BTreeSet;

use kube::core::{Expression, Selector};

pub(crate) fn parse(text: &str) -> Result<Selector, String> {
    let parts: Vec<&str> = split(text).into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err("a selector that selects nothing in particular; write label=value".to_owned());
    }
    let wrong = |part: &str| {
        format!(
            "\"{part}\" is no label selector; write label=value, label!=value, label, !label or label in (a,b)"
        )
    };
    parts.into_iter().map(|part| expression(part).ok_or_else(|| wrong(part))).collect()
}

/// At commas that are not within brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn expression(part: &str) -> Option<Expression> {
    if let Some(key) = part.strip_prefix('!') {
        return key_of(key).map(Expression::DoesNotExist);
    }
    if let Some(set) = part.strip_suffix(')') {
        let (head, values) = set.split_once('(')?;
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace)?;
        let values: Option<BTreeSet<_>> = values.split(',').map(value_of).collect();
        return match operator {
            "in" => Some(Expression::In(key_of(key)?, values?)),
            "notin" => Some(Expression::NotIn(key_of(key)?, values?)),
            _ => None,
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Some(Expression::NotEqual(key_of(key)?, value_of(value)?));
    }
    match part.split_once("==").or_else(|| part.split_once('=')) {
        Some((key, value)) => Some(Expression::Equal(key_of(key)?, value_of(value)?)),
        None => key_of(part).map(Expression::Exists),
    }
}

fn key_of(text: &str) -> Option<String> {
    let key = text.trim();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (!key.is_empty() && key.chars().all(is_part)).then(|| key.to_owned())
}

/// A value may be empty.
fn value_of(text: &str) -> Option<String> {
    let value = text.trim();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    value.chars().all(is_part).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use kube::core::SelectorExt;

    use super::*;

    #[test]
    fn what_kubectl_takes_selects_the_same() {
        let labels = [("rack", "7"), ("stage", "prod"), ("empty", "")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let cases = [
            ("rack=7", true),
            ("rack==7", true),
            ("rack=8", false),
            ("rack!=8", true),
            ("other!=8", true),
            ("rack", true),
            ("!rack", false),
            ("!other", true),
            ("empty=", true),
            ("rack in (6, 7)", true),
            ("rack notin (6,7)", false),
            ("rack in (6,7), stage=prod", true),
            ("rack=7,stage=test", false),
        ];
        for (text, selects) in cases {
            assert_eq!(parse(text).unwrap().matches(&labels), selects, "{text}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for text in ["", ",", "a b", "a in b", "a in (b", "=x", "a=b c", "a>1", "a like (b)", "!"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
