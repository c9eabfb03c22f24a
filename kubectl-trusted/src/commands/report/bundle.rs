//! The archive: a tar, compressed, with one folder in it.
//!
//! Owns the form. Nothing comes in but through the redaction.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::document::Content;
use super::redact::Redaction;
use crate::error::{Class, Error, Result};
use crate::output::machine::{self, Document};

pub(crate) struct Bundle {
    folder: String,
    at: u64,
    redaction: Redaction,
    archive: tar::Builder<GzEncoder<Vec<u8>>>,
    contents: Vec<Content>,
}

impl Bundle {
    pub(crate) fn new(folder: &str, at: Timestamp, redaction: Redaction) -> Bundle {
        Bundle {
            folder: folder.to_owned(),
            at: u64::try_from(at.as_second()).unwrap_or_default(),
            redaction,
            archive: tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default())),
            contents: Vec::new(),
        }
    }

    /// What another command would print.
    pub(crate) fn document<D: Document>(&mut self, path: &str, document: &D) -> Result<()> {
        self.value(path, machine::value(document)?)
    }

    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, path: &str, value: &T) -> Result<()> {
        self.value(path, serde_json::to_value(value).map_err(|error| unwritten(&error.to_string()))?)
    }

    fn value(&mut self, path: &str, mut value: Value) -> Result<()> {
        self.redaction.object(&mut value);
        self.append(path, format!("{value:#}\n").as_bytes())
    }

    pub(crate) fn text(&mut self, path: &str, text: &str) -> Result<()> {
        let safe = self.redaction.text(text);
        self.append(path, safe.as_bytes())
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(self.at);
        let full = format!("{}/{path}", self.folder);
        let appended = self.archive.append_data(&mut header, full, bytes);
        appended.map_err(|error| unwritten(&error.to_string()))?;
        self.contents.push(Content { path: path.to_owned(), bytes: bytes.len() });
        Ok(())
    }

    pub(crate) fn contents(&self) -> Vec<Content> {
        self.contents.clone()
    }

    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        let compressed = self.archive.into_inner().and_then(GzEncoder::finish);
        compressed.map_err(|error| unwritten(&error.to_string()))
    }
}

/// Told before anything is gathered, since that takes a while.
pub(crate) fn refuse_existing(file: &Path) -> Result<()> {
    match file.symlink_metadata() {
        Ok(_) => Err(no_file(file, &io::Error::from(io::ErrorKind::AlreadyExists))),
        Err(_) => Ok(()),
    }
}

/// Nobody else may read it, nothing that is there is overwritten, and half an archive is none.
pub(crate) fn write(file: &Path, archive: &[u8]) -> Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = options.open(file).map_err(|error| no_file(file, &error))?;
    open.write_all(archive).map_err(|error| {
        // What could not be written may not be removable either; the error of writing is the one to tell.
        let _ = fs::remove_file(file);
        no_file(file, &error)
    })
}

fn no_file(file: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::AlreadyExists => "remove that file, or name another one with --out",
        _ => "name another file with --out",
    };
    Error::new(Class::Output, format!("{} cannot be written", file.display()))
        .why(error.to_string())
        .next(next)
}

fn unwritten(why: &str) -> Error {
    Error::new(Class::Output, "The archive cannot be written").why(why)
}
