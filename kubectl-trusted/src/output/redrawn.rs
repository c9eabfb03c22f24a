//! A screenful that is drawn again and again in its place.
//!
//! Owns that part of the terminal, and gives it back when the value is dropped, however the program ends.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::draw::{self, Canvas};
use super::{Screen, text::Text};

pub(crate) struct Redrawn {
    bar: ProgressBar,
    canvas: Canvas,
}

impl Redrawn {
    /// None where the result is not for people, or is no terminal that can move its cursor.
    pub(crate) fn on(screen: &Screen) -> Option<Redrawn> {
        if !screen.can_redraw() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        // The message alone; a template that is a constant is a valid one.
        bar.set_style(
            ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Some(Redrawn { bar, canvas: screen.canvas() })
    }

    pub(crate) fn show(&self, text: &Text) {
        let drawn = draw::draw(text, self.canvas);
        self.bar.set_message(drawn.trim_end().to_owned());
    }
}

impl Drop for Redrawn {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
