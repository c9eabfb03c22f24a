//! How long to wait before the next try.
//!
//! Delays grow, with jitter, and are never shorter than the server asks for. They are not reset by a list: a server that
//! answers the list and fails the watch would then be asked for full lists without end. A watch that stayed open for a
//! while resets them, and so do two quiet minutes. While nothing answers at all, the kinds take turns instead.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::time::Instant;

use crate::{Cause, watch_client::Interruption};

/// The first delay. Jitter adds up to as much again to each.
const FIRST: Duration = Duration::from_millis(800);
/// The longest delay, jitter included.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest delay while connections break, jitter included. Once they hold, the store is to be back soon after.
const LONGEST_UNREACHABLE: Duration = Duration::from_secs(5);
/// How long a watch has to stay open to count as success. A proxy may end every connection after a minute, which is no
/// reason to wait longer each time.
const PROVEN: Duration = Duration::from_secs(30);
/// How long nothing has to go wrong for what went wrong before to be forgotten.
const QUIET: Duration = Duration::from_secs(120);

/// The delays of one kind.
pub(super) struct Delays {
    /// While the server answers.
    answering: ExponentialBackoff,
    /// While it answers and its connections break, which says nothing of how it will answer once they hold.
    unreachable: ExponentialBackoff,
    /// A version has expired since the last reset.
    expired: bool,
    last: Instant,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            answering: growing_to(LONGEST),
            unreachable: growing_to(LONGEST_UNREACHABLE),
            expired: false,
            last: Instant::now(),
        }
    }
}

impl Delays {
    /// The delay after a failure.
    pub(super) fn next(&mut self, cause: &Cause, interruption: &Interruption) -> Duration {
        if interruption.open_for > PROVEN || self.last.elapsed() > QUIET + interruption.open_for {
            *self = Self::default();
        }
        let own = match cause {
            Cause::Unreachable(_) => self.unreachable.next(),
            // What a list is for: a server that was restarted has forgotten the version, and has the list.
            Cause::Expired if !std::mem::replace(&mut self.expired, true) => Some(Duration::ZERO),
            _ => self.answering.next(),
        };
        let delay = own.unwrap_or(LONGEST).max(interruption.asked.unwrap_or_default());
        self.last = Instant::now() + delay;
        delay
    }
}

/// Doubles up to `longest`, of which jitter is up to a half.
fn growing_to(longest: Duration) -> ExponentialBackoff {
    let growing = ExponentialBuilder::new().with_min_delay(FIRST).with_max_delay(longest / 2);
    growing.with_factor(2.0).with_jitter().without_max_times().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(delays: &mut Delays, cause: &Cause, times: usize) -> Duration {
        (0..times).map(|_| delays.next(cause, &Interruption::default())).last().expect("at least once")
    }

    #[test]
    fn delays_grow_to_half_a_minute_and_are_never_shorter_than_asked() {
        let mut delays = Delays::default();
        let grown = after(&mut delays, &Cause::Server(500), 8);
        assert!((LONGEST / 2..=LONGEST).contains(&grown), "{grown:?}");
        let asked = Interruption { asked: Some(Duration::from_secs(100)), ..Interruption::default() };
        let unreachable = Cause::Unreachable("reset".to_owned());
        assert_eq!(
            delays.next(&unreachable, &asked),
            Duration::from_secs(100),
            "what a server asks for counts"
        );
    }

    #[test]
    fn an_outage_does_not_make_the_server_wait_that_is_back() {
        let mut delays = Delays::default();
        let outage = after(&mut delays, &Cause::Unreachable("refused".to_owned()), 40);
        assert!(outage <= LONGEST_UNREACHABLE, "{outage:?}");
        // It does not know the roles yet, and then not the version.
        let refused = after(&mut delays, &Cause::NotInstalled, 1);
        assert!(refused <= FIRST * 2, "{refused:?}");
        assert_eq!(after(&mut delays, &Cause::Expired, 1), Duration::ZERO, "it is listed at once");
        assert!(after(&mut delays, &Cause::Expired, 1) >= FIRST, "once");
    }

    #[tokio::test(start_paused = true)]
    async fn two_quiet_minutes_are_a_new_start() {
        let mut delays = Delays::default();
        let grown = after(&mut delays, &Cause::Server(500), 8);
        tokio::time::advance(grown + QUIET + Duration::from_secs(1)).await;
        assert!(after(&mut delays, &Cause::Server(500), 1) <= FIRST * 2);
    }
}
