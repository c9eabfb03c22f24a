//! Times and durations as people read and type them.
//!
//! Owns both directions: ages in tables, durations and instants on the command line.

use jiff::{SignedDuration, Timestamp};

/// An age as kubectl shows it: two units at most, coarser the longer it is.
pub(crate) fn age(since: Timestamp, now: Timestamp) -> String {
    duration(now.duration_since(since))
}

/// A duration with two units at most. A negative one (clocks differ) counts as none.
pub(crate) fn duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ => two(days / 365, "y", days % 365, "d"),
    }
}

fn two(major: i64, major_unit: &str, minor: i64, minor_unit: &str) -> String {
    if minor == 0 {
        format!("{major}{major_unit}")
    } else {
        format!("{major}{major_unit}{minor}{minor_unit}")
    }
}

/// Parses `500ms`, `30s`, `2m`, `1h30m`; `0` alone needs no unit.
pub(crate) fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    if text == "0" {
        return Ok(std::time::Duration::ZERO);
    }
    let wrong =
        || format!("\"{text}\" is no duration; write a number with its unit, such as 30s, 2m or 1h30m");
    let parsed: SignedDuration = text.parse().map_err(|_| wrong())?;
    std::time::Duration::try_from(parsed).map_err(|_| wrong())
}

/// A point in time on the command line: an instant, or how long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    Ago(SignedDuration),
}

impl Moment {
    pub(crate) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Moment::At(at) => at,
            Moment::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
        }
    }
}

/// Parses `2026-11-30T17:15:00Z` or `10m` (meaning ten minutes ago).
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(Moment::At(at));
    }
    match parse_duration(text).map(SignedDuration::try_from) {
        Ok(Ok(ago)) => Ok(Moment::Ago(ago)),
        _ => Err(format!(
            "\"{text}\" is neither an instant such as 2026-11-30T17:15:00Z nor a duration such as 10m (ago)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_like_kubectl() {
        let cases = [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (125, "2m5s"),
            (180, "3m"),
            (660, "11m"),
            (10_860, "3h1m"),
            (30_000, "8h"),
            (180_000, "2d2h"),
            (800_000, "9d"),
            (64_000_000, "2y10d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(SignedDuration::from_secs(seconds)), text, "{seconds}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration("1h30m").unwrap().as_secs(), 5400);
        assert_eq!(parse_duration("500ms").unwrap().as_millis(), 500);
        assert_eq!(parse_duration("0").unwrap().as_secs(), 0);
        for wrong in ["60", "", "soon", "-3s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments_are_instants_or_ages() {
        let now: Timestamp = "2026-11-30T18:00:00Z".parse().unwrap();
        assert_eq!(parse_moment("10m").unwrap().resolve(now), "2026-11-30T17:50:00Z".parse().unwrap());
        assert_eq!(
            parse_moment("2026-11-30T17:15:00.5Z").unwrap().resolve(now),
            "2026-11-30T17:15:00.5Z".parse().unwrap()
        );
        assert!(parse_moment("yesterday").is_err());
    }
}
