//! An audit log that grows, read from its end on.
//!
//! Owns the place in the file. A log that was rotated away is read to its end, then the one in its place from the
//! beginning.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use jiff::Timestamp;

use super::course::Course;
use crate::commands::audit_api_calls::count::Counts;
use crate::commands::audit_api_calls::document::{Filter, Notes, Snapshot, Source};
use crate::commands::audit_api_calls::log::{self, LogArgs, Tally};
use crate::commands::audit_api_calls::render;
use crate::connect::ConnectionArgs;
use crate::error::{Error, Result};

pub(super) struct Followed {
    name: String,
    reader: BufReader<File>,
    /// The beginning of a line whose end has not been written yet.
    rest: Vec<u8>,
    tally: Tally<Counts>,
    counted: Counts,
}

impl Followed {
    pub(super) fn begin(args: &LogArgs, connection: &ConnectionArgs) -> Result<(Followed, Course)> {
        let filter = args.filter(connection)?;
        if filter.since.is_some() || filter.until.is_some() {
            return Err(Error::usage("live counts from now on: leave out --since and --until"));
        }
        let name = match &*args.audit_log {
            [one] if one != "-" => one.clone(),
            _ => {
                return Err(Error::usage("live follows one audit log that grows, not several and not stdin")
                    .next("name the file that the API server writes (--audit-log-path)"));
            }
        };
        let opened = File::open(&name).and_then(|mut file| {
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is no file"));
            }
            file.seek(SeekFrom::End(0)).map(|_| file)
        });
        let file = opened.map_err(|error| {
            Error::input(format!("The audit log \"{name}\" cannot be followed"))
                .why(error.to_string())
                .next("name the file that the API server writes (--audit-log-path)")
        })?;
        let now = Timestamp::now();
        let course = Course::begin(render::describe(Source::AuditLog, false, &filter), now);
        let filter = Filter { since: Some(now), ..filter };
        let followed = Followed {
            name,
            reader: BufReader::new(file),
            rest: Vec::new(),
            tally: Tally::new(filter, Counts::default()),
            counted: Counts::default(),
        };
        Ok((followed, course))
    }

    pub(super) fn step(&mut self, course: &mut Course) {
        let read = self.read_on().and_then(|()| {
            let Some(next) = self.rotated()? else { return Ok(false) };
            self.read_on()?;
            self.reader = BufReader::new(next);
            self.rest.clear();
            self.read_on().map(|()| true)
        });
        let (added, _) = self.tally.sink().added_since(&self.counted);
        self.counted = self.tally.sink().clone();
        course.step(Timestamp::now(), added);
        match read {
            Ok(false) => {}
            Ok(true) => course.tell(format!("\"{}\" was rotated", self.name)),
            Err(error) => {
                let text = format!("\"{}\" could not be read on: {error}", self.name);
                course.notes.doubt(text.clone());
                course.tell(text);
            }
        }
    }

    /// Takes in all lines that are complete by now.
    fn read_on(&mut self) -> io::Result<()> {
        loop {
            let before = self.rest.len();
            self.reader.read_until(b'\n', &mut self.rest)?;
            if self.rest.last() == Some(&b'\n') {
                self.tally.line(&self.rest);
                self.rest.clear();
            } else if self.rest.len() == before {
                return Ok(());
            }
        }
    }

    /// What lies under the name now, if it is another file, or the same one cut short.
    fn rotated(&mut self) -> io::Result<Option<File>> {
        let next = match File::open(&self.name) {
            Ok(next) => next,
            // Between the old one and the new one there may be none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_same = is_same(&next, self.reader.get_ref())?;
        let is_cut = next.metadata()?.len() < self.reader.stream_position()?;
        Ok((!is_same || is_cut).then_some(next))
    }

    pub(super) fn finish(self, course: Course) -> Snapshot {
        let (window, counts, mut notes, _) = course.into_counts();
        let mut judged = Notes::default();
        log::judge(&self.tally, &mut judged);
        notes.append(judged);
        let filter = Filter { since: None, ..self.tally.filter().clone() };
        Snapshot {
            filter,
            open_watches: self.tally.open_watches(),
            malformed_lines: self.tally.malformed,
            notes,
            ..Snapshot::of(Source::AuditLog, window, counts)
        }
    }
}

#[cfg(unix)]
fn is_same(one: &File, other: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (one, other) = (one.metadata()?, other.metadata()?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Elsewhere a file that others have open keeps its place.
#[cfg(not(unix))]
fn is_same(_: &File, _: &File) -> io::Result<bool> {
    Ok(true)
}
