//! Progress on standard error.
//!
//! Purpose: a person who waits sees what for, how far it is and how long it has taken. On a terminal it is one
//! changing line; elsewhere (CI, a pipe) plain lines, seldom enough not to flood a log.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a log gets a line while something long goes on.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

/// Something that takes a while.
pub struct Progress {
    title: String,
    bar: ProgressBar,
    plain: Option<Mutex<Instant>>,
}

impl Progress {
    /// Begins something that has `steps` steps.
    pub fn steps(steps: u64, title: &str) -> Progress {
        let progress = Progress::silent(steps, title);
        if progress.plain.is_some() {
            line(title);
        }
        progress
    }

    /// Begins something short, which is worth showing on a terminal only.
    pub fn short(title: &str) -> Progress {
        Progress::silent(1, title)
    }

    fn silent(steps: u64, title: &str) -> Progress {
        let terminal = stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let template = "{spinner} {prefix} [{pos}/{len}, {elapsed}] {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_prefix(title.to_owned());
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Progress { title: title.to_owned(), bar, plain: (!terminal).then(|| Mutex::new(Instant::now())) }
    }

    /// What is being done now.
    pub fn message(&self, text: &str) {
        self.bar.set_message(text.to_owned());
        let Some(last) = &self.plain else { return };
        let Ok(mut last) = last.lock() else { return };
        if last.elapsed() >= PLAIN_INTERVAL {
            *last = Instant::now();
            let (position, steps) = (self.bar.position(), self.bar.length().unwrap_or_default());
            line(&format!("{} [{position}/{steps}, {:.0?}] {text}", self.title, self.bar.elapsed()));
        }
    }

    /// One step is done.
    pub fn advance(&self) {
        self.bar.inc(1);
    }

    /// All is done, and there is nothing to say about it.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// All is done.
    pub fn finish(&self, text: &str) {
        let took = self.bar.elapsed();
        self.bar.finish_and_clear();
        line(&format!("{text} ({:.1} s)", took.as_secs_f64()));
    }
}

/// Writes a line to standard error, past the test harness's capture; a closed standard error is no reason to stop.
fn line(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}
