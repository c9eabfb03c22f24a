//! A sign of life for slow work: only on a terminal, and only after half a second, so that quick answers stay
//! quiet.
//!
//! Owns its own thread, which ends when the value is dropped; the line is removed then.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::{Screen, neutral};

/// Work quicker than this is not worth a word.
const QUIET: Duration = Duration::from_millis(500);

/// How often the sign moves.
const TICK: Duration = Duration::from_millis(100);

/// While it lives, the person sees that something is going on.
#[derive(Default)]
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(screen: &Screen, message: &str) -> Progress {
        if !screen.talks_to_a_terminal() {
            return Progress::default();
        }
        let message = neutral::for_terminal(message).into_owned();
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            if stopped.recv_timeout(QUIET) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(indicatif::ProgressStyle::default_spinner());
            bar.set_message(message);
            bar.enable_steady_tick(TICK);
            // Ends by the sender going away.
            let _ = stopped.recv();
            bar.finish_and_clear();
        });
        Progress { running: Some((stop, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            // A panic in drawing a spinner is not worth ending the work for.
            let _ = thread.join();
        }
    }
}
