//! Whether a window can show what it is asked about.
//!
//! Owns the lengths below which a count misleads.

use jiff::SignedDuration;

use super::document::Window;
use crate::output::time::duration;

/// The least that the usual clients keep one watch: kube-rs ends it after 290 s, client-go after 5 to 10 minutes.
/// Sources: kube-core/src/params.rs of kube-rs/kube, tools/cache/reflector.go of kubernetes/client-go.
const LIFE_OF_A_WATCH: SignedDuration = SignedDuration::from_secs(290);

/// What is wrong with the length of a window. Counters show a watch when it ends, logs when it starts; either way a
/// short window has none of the renewals that an idle client costs.
pub(crate) fn of_window(window: &Window, counts_at_end: bool) -> Option<String> {
    let length = window.length().filter(|length| *length < LIFE_OF_A_WATCH)?;
    let missed = if counts_at_end {
        "watches that were opened and not ended within it are not counted"
    } else {
        "renewals of watches may be missing from it"
    };
    Some(format!(
        "the window of {} is shorter than a watch lives (5 to 10 minutes): {missed}",
        duration(length)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_windows_are_named() {
        let window = |seconds: i64| Window {
            from: Some(jiff::Timestamp::UNIX_EPOCH),
            to: jiff::Timestamp::from_second(seconds).ok(),
        };
        assert!(of_window(&window(289), true).unwrap().contains("not ended within it"));
        assert!(of_window(&window(289), false).unwrap().contains("renewals"));
        assert_eq!(of_window(&window(290), false), None);
        assert_eq!(of_window(&Window::default(), false), None);
    }
}
