//! Order of resource versions.
//!
//! Since Kubernetes 1.35 resource versions of one resource type are comparable numbers. Servers that use something
//! else still work: versions that are no numbers are only ever equal or not comparable.

use std::cmp::Ordering;

/// Compares two resource versions; `None` when they cannot be ordered.
pub(crate) fn order(left: &str, right: &str) -> Option<Ordering> {
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => Some(left.cmp(&right)),
        _ if left == right => Some(Ordering::Equal),
        _ => None,
    }
}

/// Whether `seen` is known to be at least as new as `wanted`.
pub(crate) fn reached(seen: &str, wanted: &str) -> bool {
    order(seen, wanted).is_some_and(Ordering::is_ge)
}

/// Whether `left` is known to be older than `right`.
pub(crate) fn older(left: &str, right: &str) -> bool {
    order(left, right) == Some(Ordering::Less)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_as_numbers() {
        assert_eq!(order("9", "10"), Some(Ordering::Less));
        assert_eq!(order("10", "10"), Some(Ordering::Equal));
        assert!(reached("11", "10") && older("9", "10"));
    }

    #[test]
    fn other_versions_are_only_equal_or_unknown() {
        assert_eq!(order("abc", "abc"), Some(Ordering::Equal));
        assert_eq!(order("abc", "abd"), None);
        assert!(!reached("abd", "abc") && !older("abc", "abd") && !older("", "5"));
    }
}
