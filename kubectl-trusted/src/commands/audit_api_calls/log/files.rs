//! From the words of a command line to the files to read.
//!
//! Owns which files of a folder are taken: all but hidden ones, since rotated logs have any name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// One log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: String,
    /// It was in a folder that was named; what is no audit log there is passed over.
    pub(super) found: bool,
}

pub(super) fn all(named: &[String]) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for name in named {
        if name != "-" && Path::new(name).is_dir() {
            files.extend(within(name)?);
        } else {
            files.push(File { name: name.clone(), found: false });
        }
    }
    refuse_repeated(&files)?;
    Ok(files)
}

fn within(folder: &str) -> Result<Vec<File>> {
    let unreadable = |error: std::io::Error| {
        Error::input(format!("The folder \"{folder}\" cannot be read")).why(error.to_string())
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.is_file() {
            files.push(File { name: path.display().to_string(), found: true });
        }
    }
    if files.is_empty() {
        return Err(Error::input(format!("The folder \"{folder}\" holds no files"))
            .next("name the folder that --audit-log-path of the API server lies in"));
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

fn refuse_repeated(files: &[File]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for file in files {
        let path = std::fs::canonicalize(&file.name).unwrap_or_else(|_| PathBuf::from(&file.name));
        if !seen.insert(path) {
            return Err(Error::usage(format!("--audit-log names \"{}\" twice", file.name))
                .next("leave it out once: one file is read once"));
        }
    }
    Ok(())
}
