//! Suggested commands, made to ask the same question again: of the same cluster, as the same person.
//!
//! Owns where flags go in a command. Which flags were given is known to `connect`.

/// The command with these flags at its end. Other text stays as it is; of a text that ends
/// in a command (`check with: kubectl ...`) the command gets them.
pub(crate) fn repeat(text: &mut String, flags: &str) {
    if !flags.is_empty() && (text.starts_with("kubectl ") || text.contains(": kubectl ")) {
        text.push_str(flags);
    }
}

/// A flag with its value, as a shell reads it.
pub(crate) fn flag(name: &str, value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        format!(" {name} {value}")
    } else {
        format!(" {name} '{}'", value.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_into_commands_only() {
        let repeated = |text: &str| {
            let mut text = text.to_owned();
            repeat(&mut text, " --as bob");
            text
        };
        assert_eq!(repeated("kubectl get pods"), "kubectl get pods --as bob");
        assert_eq!(repeated("check with: kubectl auth can-i x"), "check with: kubectl auth can-i x --as bob");
        assert_eq!(repeated("install the CRDs"), "install the CRDs");
    }

    #[test]
    fn values_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(flag("--as", "system:serviceaccount:a:b"), " --as system:serviceaccount:a:b");
        assert_eq!(flag("--as", "it's me"), r" --as 'it'\''s me'");
    }
}
