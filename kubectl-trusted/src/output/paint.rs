//! Colour: whether a stream gets any, and the escape codes.
//!
//! Owns the decision of `--color`, `NO_COLOR` and `TERM=dumb` for each stream by itself.

use clap::ValueEnum;

use super::text::Tone;

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// Colour on a terminal, unless NO_COLOR is set or TERM is "dumb".
    #[default]
    Auto,
    Always,
    Never,
}

/// The part of the environment the decision rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) no_color: bool,
    pub(crate) dumb: bool,
}

impl Environment {
    pub(crate) fn read() -> Environment {
        Environment {
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            dumb: std::env::var_os("TERM").is_some_and(|value| value == "dumb"),
        }
    }
}

/// Whether a stream gets colour.
pub(crate) fn is_colored(choice: ColorChoice, is_terminal: bool, environment: &Environment) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !environment.no_color && !environment.dumb,
    }
}

/// The text between the codes of its tone, or as it is.
pub(crate) fn painted(text: &str, tone: Tone, colored: bool) -> String {
    let code = match tone {
        Tone::Plain => "",
        Tone::Good => "32",
        Tone::Warn => "33",
        Tone::Bad => "1;31",
        Tone::Faint => "2",
        Tone::Strong => "1",
    };
    if colored && !code.is_empty() && !text.is_empty() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_only_where_it_is_wanted() {
        let plain = Environment::default();
        let quiet = Environment { no_color: true, dumb: false };
        let dumb = Environment { no_color: false, dumb: true };
        assert!(is_colored(ColorChoice::Auto, true, &plain));
        assert!(!is_colored(ColorChoice::Auto, false, &plain));
        assert!(!is_colored(ColorChoice::Auto, true, &quiet));
        assert!(!is_colored(ColorChoice::Auto, true, &dumb));
        assert!(is_colored(ColorChoice::Always, false, &quiet));
        assert!(!is_colored(ColorChoice::Never, true, &plain));
    }
}
