//! What `report` says of the archive it wrote.
//!
//! Owns its field names, which are a contract.

use serde::Serialize;

use crate::error::Incomplete;
use crate::output::machine::Document;
use crate::output::text::{Align, Span, Table, Text, Tone};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Path of the archive.
    pub(crate) file: String,
    pub(crate) bytes: usize,
    /// What is in it.
    pub(crate) files: Vec<Content>,
    /// What could not be had.
    pub(crate) missing: Vec<Incomplete>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Content {
    pub(crate) path: String,
    pub(crate) bytes: usize,
}

impl Document for Report {
    const KIND: &'static str = "Report";

    fn text(&self) -> Text {
        let mut text = Text::default();
        let size = format!(", {} files, {} KiB", self.files.len(), self.bytes.div_ceil(1024));
        text.line([Span::new(self.file.as_str(), Tone::Strong), size.into()]);
        if !self.missing.is_empty() {
            text.heading("Missing");
            for missing in &self.missing {
                text.paragraph(0, [Span::new("-", Tone::Faint), missing.need.as_str().into()]);
            }
        }
        text
    }

    fn wide(&self) -> Text {
        let mut text = self.text();
        text.heading("Files");
        let mut table = Table::new(&[("PATH", Align::Left), ("BYTES", Align::Right)]);
        for content in &self.files {
            table.row(vec![content.path.as_str().into(), content.bytes.to_string().into()]);
        }
        text.table(table);
        text
    }
}
