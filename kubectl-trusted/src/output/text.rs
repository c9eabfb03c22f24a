//! The text form of a document as data: lines, indented paragraphs, tables, each piece with a tone.
//!
//! Owns the model and nothing else: widths, colours and neutralising foreign text are done when it is drawn, so
//! that a command can build its whole screen as a pure function of its document.

/// What a piece of text says about the matter; words carry the meaning, colour only repeats it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Warn,
    Bad,
    Faint,
    Strong,
}

/// A piece of text in one tone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Span {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Span {
        Span { text: text.into(), tone }
    }
}

impl From<&str> for Span {
    fn from(text: &str) -> Span {
        Span::new(text, Tone::Plain)
    }
}

impl From<String> for Span {
    fn from(text: String) -> Span {
        Span::new(text, Tone::Plain)
    }
}

impl From<u64> for Span {
    fn from(number: u64) -> Span {
        Span::new(number.to_string(), Tone::Plain)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    #[default]
    Left,
    Right,
}

/// A table without lines, as kubectl prints them; without titles it has no header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<(&'static str, Align)>,
    pub(crate) rows: Vec<Vec<Span>>,
    /// Never squeezed into the width of the screen.
    pub(crate) is_whole: bool,
    /// One for each row, or none at all. They repeat the numbers of the row and may be left out.
    pub(crate) bars: Vec<Bar>,
}

/// A number as a length: what it was and is, what of it went, what came. The longest of a table fills the column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) kept: u64,
    pub(crate) gone: u64,
    pub(crate) new: u64,
}

impl Bar {
    /// Of one number.
    pub(crate) fn of(number: u64) -> Bar {
        Bar { kept: number, ..Bar::default() }
    }

    pub(crate) fn between(before: u64, after: u64) -> Bar {
        Bar { kept: before.min(after), gone: before.saturating_sub(after), new: after.saturating_sub(before) }
    }
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Table {
        Table { columns: columns.to_vec(), ..Table::default() }
    }

    /// A table whose columns are all left-aligned.
    pub(crate) fn left(columns: &[&'static str]) -> Table {
        Table { columns: columns.iter().map(|title| (*title, Align::Left)).collect(), ..Table::default() }
    }

    pub(crate) fn row(&mut self, cells: Vec<Span>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Line(Vec<Span>),
    /// Prose that may be wrapped, every line of it indented.
    Paragraph {
        indent: usize,
        spans: Vec<Span>,
    },
    /// A label and what it stands for, which begins in a column of its own and is wrapped there.
    Fact {
        label: String,
        column: usize,
        spans: Vec<Span>,
    },
    /// Something to copy: indented, never wrapped.
    Verbatim {
        indent: usize,
        label: String,
        text: String,
    },
    Table(Table),
    Blank,
}

/// A whole screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) blocks: Vec<Block>,
}

impl Text {
    pub(crate) fn line<S: Into<Span>>(&mut self, spans: impl IntoIterator<Item = S>) {
        self.blocks.push(Block::Line(spans.into_iter().map(Into::into).collect()));
    }

    pub(crate) fn paragraph<S: Into<Span>>(&mut self, indent: usize, spans: impl IntoIterator<Item = S>) {
        self.blocks.push(Block::Paragraph { indent, spans: spans.into_iter().map(Into::into).collect() });
    }

    /// Labels and values, the values below each other.
    pub(crate) fn facts(&mut self, facts: Vec<(&str, Span)>) {
        let widest = facts.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
        for (label, value) in facts {
            let column = widest + 4;
            self.blocks.push(Block::Fact { label: label.to_owned(), column, spans: vec![value] });
        }
    }

    pub(crate) fn verbatim(&mut self, indent: usize, label: &str, text: impl Into<String>) {
        self.blocks.push(Block::Verbatim { indent, label: label.to_owned(), text: text.into() });
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// One empty line between parts; never two, never one at the very top.
    pub(crate) fn blank(&mut self) {
        if !matches!(self.blocks.last(), None | Some(Block::Blank)) {
            self.blocks.push(Block::Blank);
        }
    }

    /// A heading with an empty line above it.
    pub(crate) fn heading(&mut self, title: &str) {
        self.blank();
        self.line([Span::new(title, Tone::Strong)]);
    }
}
