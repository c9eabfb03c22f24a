//! When the Trustee Deployment may be written. Pure; the clock is handed in.
//!
//! Each write restarts Trustee, so changes are gathered: a window opens with the first one and is not extended by
//! more; after a write the next one waits until that rollout is complete, for a while. Changes that somebody else
//! made to the Deployment do not wait for a rollout.

use std::time::Duration;

use tokio::time::Instant;

/// From the first change to the write.
pub const WINDOW: Duration = Duration::from_millis(500);
/// How long a rollout that does not come to an end holds up the next write.
pub const ROLLOUT_LIMIT: Duration = Duration::from_secs(5);

/// What the Deployment says about the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// Its generation; it moves with every change of the spec, whoever makes it.
    pub generation: Option<i64>,
    /// Whether all pods are made from the present template and available.
    pub complete: bool,
}

/// The state of the gathering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    opened: Option<Instant>,
    written: Option<Instant>,
    seen: Option<i64>,
}

impl Window {
    /// Something may have changed. Returns how long to go on gathering; `None` once that is over.
    pub fn gather(&mut self, now: Instant) -> Option<Duration> {
        let opened = *self.opened.get_or_insert(now);
        rest_until(opened + WINDOW, now)
    }

    /// How long to wait for the rollout of the last write; `None` if there is nothing to wait for.
    pub fn hold(&self, now: Instant, rollout: Rollout) -> Option<Duration> {
        let edited = rollout.generation != self.seen;
        let written = self.written.filter(|_| !rollout.complete && !edited)?;
        rest_until(written + ROLLOUT_LIMIT, now)
    }

    /// There was nothing to write.
    pub fn unchanged(&mut self, generation: Option<i64>) {
        self.opened = None;
        self.seen = generation;
    }

    /// The Deployment was written and has this generation now.
    pub fn wrote(&mut self, now: Instant, generation: Option<i64>) {
        *self = Window { opened: None, written: Some(now), seen: generation };
    }

    /// There is no Deployment to gather changes for.
    pub fn reset(&mut self) {
        *self = Window::default();
    }
}

fn rest_until(end: Instant, now: Instant) -> Option<Duration> {
    Some(end.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLING: Rollout = Rollout { generation: Some(2), complete: false };
    const COMPLETE: Rollout = Rollout { generation: Some(2), complete: true };

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    fn millis(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    /// Rest of the wait, gathering first, as the controller asks.
    fn rest(window: &mut Window, now: Instant, rollout: Rollout) -> Option<Duration> {
        window.gather(now).or_else(|| window.hold(now, rollout))
    }

    /// A window after a write at its start.
    fn written(start: Instant) -> Window {
        let mut window = Window::default();
        window.wrote(start, Some(2));
        window
    }

    #[test]
    fn a_window_opens_with_the_first_change_and_is_not_extended() {
        let (start, mut window) = (Instant::now(), Window::default());
        assert_eq!(rest(&mut window, start, COMPLETE), millis(500));
        assert_eq!(rest(&mut window, at(start, 300), COMPLETE), millis(200));
        assert_eq!(rest(&mut window, at(start, 499), COMPLETE), millis(1));
        assert_eq!(rest(&mut window, at(start, 500), COMPLETE), None);
        window.unchanged(Some(2));
        let later = rest(&mut window, at(start, 700), COMPLETE);
        assert_eq!(later, millis(500), "a later change opens a window of its own");
    }

    #[test]
    fn a_write_waits_for_the_rollout_of_the_one_before() {
        let start = Instant::now();
        let mut window = written(start);
        assert_eq!(rest(&mut window, at(start, 100), ROLLING), millis(500));
        assert_eq!(rest(&mut window, at(start, 700), ROLLING), millis(4300));
        assert_eq!(rest(&mut window, at(start, 800), COMPLETE), None, "the window itself passed long ago");
    }

    #[test]
    fn a_rollout_that_hangs_holds_up_a_write_for_five_seconds_only() {
        let start = Instant::now();
        let mut window = written(start);
        assert_eq!(rest(&mut window, at(start, 4900), ROLLING), millis(500), "never less than the window");
        assert_eq!(rest(&mut window, at(start, 5400), ROLLING), None);
    }

    #[test]
    fn what_somebody_else_changed_does_not_wait_for_a_rollout() {
        let start = Instant::now();
        let mut window = written(start);
        let edited = Rollout { generation: Some(3), complete: false };
        assert_eq!(rest(&mut window, at(start, 100), edited), millis(500));
        assert_eq!(rest(&mut window, at(start, 600), edited), None);
        window.unchanged(Some(3));
        assert_eq!(window.hold(at(start, 700), edited), millis(4300), "looked at, found to be no drift");
    }

    #[test]
    fn without_a_deployment_there_is_nothing_to_wait_for() {
        let start = Instant::now();
        let mut window = written(start);
        window.reset();
        assert_eq!(window.hold(at(start, 100), ROLLING), None);
    }
}
