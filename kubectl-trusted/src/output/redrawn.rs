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

    /// What does not fit on the terminal is cut off at the end, with the number of lines that are left out.
    pub(crate) fn show(&self, text: &Text) {
        let drawn = draw::draw(text, self.canvas);
        let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
        self.bar.set_message(fitting(drawn.trim_end(), height.filter(|height| *height > 0)));
    }
}

/// The cursor stands below the text, on a line of its own.
fn fitting(drawn: &str, height: Option<usize>) -> String {
    let lines = drawn.lines().count();
    let Some(room) = height.map(|height| height.saturating_sub(1).max(2)).filter(|room| *room < lines) else {
        return drawn.to_owned();
    };
    let kept: Vec<_> = drawn.lines().take(room - 1).collect();
    format!("{}\n... {} more lines", kept.join("\n"), lines - kept.len())
}

impl Drop for Redrawn {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        assert_eq!(fitting("a\nb\nc", None), "a\nb\nc");
        assert_eq!(fitting("a\nb\nc", Some(4)), "a\nb\nc");
        assert_eq!(fitting("a\nb\nc\nd", Some(4)), "a\nb\n... 2 more lines");
        assert_eq!(fitting("a\nb\nc", Some(1)), "a\n... 2 more lines");
    }
}
