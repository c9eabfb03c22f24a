//! How far a cluster has come: when its status may be written, and how long a transition has lasted. Pure; the clock
//! is handed in.

use std::time::Duration;

use tokio::time::Instant;

use super::status::WorthAWord;
use crate::child::Strangers;

/// From the first change to the write of the status; changes in between are reported together.
const STATUS_WINDOW: Duration = Duration::from_millis(500);
/// How long a transition has to last to be worth a condition.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is remembered of one cluster between passes.
#[derive(Debug, Default)]
pub struct Progress {
    uid: Option<String>,
    window: Option<Instant>,
    installing: Transition,
    rolling_out: Transition,
    /// Names of children that cannot be made.
    pub strangers: Strangers,
}

/// When something that will pass by itself began.
#[derive(Clone, Copy, Debug, Default)]
struct Transition(Option<Instant>);

impl Progress {
    /// Starts anew if the cluster is another one than that of the last pass, and opens the window for its status.
    pub fn look(&mut self, uid: Option<&str>, now: Instant) {
        if self.uid.as_deref() != uid {
            *self = Progress { uid: uid.map(str::to_owned), ..Default::default() };
        }
        self.window.get_or_insert(now);
    }

    /// Notes which transitions are under way.
    pub fn note(&mut self, installing: bool, rolling_out: bool, now: Instant) {
        self.installing.note(installing, now);
        self.rolling_out.note(rolling_out, now);
    }

    /// Time until the status may be written; `None` once it may.
    pub fn rest_of_window(&self, now: Instant) -> Option<Duration> {
        self.window.and_then(|opened| rest(opened, STATUS_WINDOW, now))
    }

    /// Closes the window: what is to be reported has been.
    pub fn reported(&mut self) {
        self.window = None;
    }

    /// Which transitions have lasted long enough.
    pub fn worth_a_word(&self, now: Instant) -> WorthAWord {
        WorthAWord { installation: self.installing.is_long(now), rollout: self.rolling_out.is_long(now) }
    }

    /// Time until another transition has lasted long enough.
    pub fn patience(&self, now: Instant) -> Option<Duration> {
        [self.installing, self.rolling_out].into_iter().filter_map(|transition| transition.rest(now)).min()
    }
}

impl Transition {
    fn note(&mut self, under_way: bool, now: Instant) {
        self.0 = under_way.then(|| self.0.unwrap_or(now));
    }

    fn is_long(self, now: Instant) -> bool {
        self.0.is_some() && self.rest(now).is_none()
    }

    fn rest(self, now: Instant) -> Option<Duration> {
        self.0.and_then(|began| rest(began, PATIENCE, now))
    }
}

fn rest(since: Instant, length: Duration, now: Instant) -> Option<Duration> {
    length.checked_sub(now.duration_since(since)).filter(|rest| !rest.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn the_window_opens_with_the_first_change_and_is_not_extended() {
        let (start, mut progress) = (Instant::now(), Progress::default());
        progress.look(Some("a"), start);
        progress.look(Some("a"), at(start, 400));
        assert_eq!(progress.rest_of_window(at(start, 400)), Some(Duration::from_millis(100)));
        assert_eq!(progress.rest_of_window(at(start, 500)), None);
        progress.reported();
        progress.look(Some("a"), at(start, 510));
        assert_eq!(progress.rest_of_window(at(start, 510)), Some(STATUS_WINDOW));
    }

    #[test]
    fn a_transition_is_worth_a_word_after_a_while_only() {
        let (start, mut progress) = (Instant::now(), Progress::default());
        progress.look(Some("a"), start);
        progress.note(true, false, start);
        progress.note(true, true, at(start, 1000));
        let word = progress.worth_a_word(at(start, 2000));
        assert_eq!(word, WorthAWord { installation: true, rollout: false });
        assert_eq!(progress.patience(at(start, 2000)), Some(Duration::from_secs(1)));
        progress.note(false, false, at(start, 2500));
        assert_eq!(progress.worth_a_word(at(start, 9000)), WorthAWord::default());
        assert_eq!(progress.patience(at(start, 9000)), None);
    }

    #[test]
    fn a_cluster_made_anew_starts_anew() {
        let (start, mut progress) = (Instant::now(), Progress::default());
        progress.look(Some("a"), start);
        progress.note(true, false, start);
        progress.look(Some("b"), at(start, 3000));
        progress.note(true, false, at(start, 3000));
        assert!(!progress.worth_a_word(at(start, 3000)).installation);
    }
}
