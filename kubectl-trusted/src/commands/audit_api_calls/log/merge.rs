//! Reads several logs as one, in the order of their times.
//!
//! Owns the order. Files that cover the same time are read alongside each other, so that an event that is in two of
//! them (a copy of a rotated file, say) comes twice within a short time and is recognised in bounded memory, whatever
//! their size. Files that follow each other are opened one at a time.

use std::io::BufRead;

use auditlog::{Event, Seen, Sink, Tally};
use jiff::{SignedDuration, Timestamp};

use super::super::document::Notes;
use super::files::File;
use super::lines::{self, Input, Line};
use crate::error::{Error, Result};
use crate::output::time::duration;

/// How far one file may be read ahead of another that covers the same time.
const AHEAD: SignedDuration = SignedDuration::from_secs(1);

/// Events of one log follow each other up to the time that requests wait for their place in it.
const DISORDER: SignedDuration = SignedDuration::from_secs(10);

/// Lines looked at to learn when a file begins.
const PEEKED: usize = 100;

struct Source {
    file: File,
    input: Option<Input>,
    /// The time of the event read last; before that, of the first one.
    clock: Timestamp,
    events: u64,
    malformed: u64,
    /// The furthest that the clock went back.
    back: SignedDuration,
}

pub(super) fn read<S: Sink>(files: Vec<File>, mut tallies: Vec<Tally<S>>) -> Result<(Vec<Tally<S>>, Notes)> {
    let mut notes = Notes::default();
    let mut waiting = files.into_iter().map(peeked).collect::<Result<Vec<_>>>()?;
    let mut line = Vec::new();
    while let Some(at) = earliest(&waiting) {
        let mut source = waiting.swap_remove(at);
        let until =
            earliest(&waiting).map(|at| waiting[at].clock).and_then(|next| next.checked_add(AHEAD).ok());
        match source.read_until(until, &mut line, &mut tallies) {
            Ok(true) => waiting.push(source),
            Ok(false) => source.finish(&mut tallies, &mut notes)?,
            Err(Failed::Open(error)) => return Err(error),
            Err(Failed::Read(error)) => {
                let name = &source.file.name;
                notes.invalidate(format!(
                    "\"{name}\" could be read only in part: {error}; the numbers are too low"
                ));
                source.finish(&mut tallies, &mut notes)?;
            }
        }
    }
    Ok((tallies, notes))
}

fn earliest(sources: &[Source]) -> Option<usize> {
    (0..sources.len()).min_by_key(|at| (sources[*at].clock, *at))
}

/// Looks when a file begins, and closes it again: a folder may hold more files than a process may open. What comes
/// through a pipe is read first, since it cannot be looked at twice.
fn peeked(file: File) -> Result<Source> {
    let mut clock = Timestamp::MIN;
    let is_regular = std::fs::metadata(&file.name).is_ok_and(|found| found.is_file());
    if file.name != "-" {
        let mut input = lines::open(&file.name)?;
        if is_regular {
            clock = first(&mut *input).unwrap_or(clock);
        } else {
            return Ok(Source::new(file, Some(input), clock));
        }
    }
    Ok(Source::new(file, None, clock))
}

/// An error while looking comes again while reading, and is told then.
fn first(input: &mut dyn BufRead) -> Option<Timestamp> {
    let mut line = Vec::new();
    for _ in 0..PEEKED {
        match lines::next(input, &mut line).ok()? {
            Line::End => return None,
            Line::TooLong => {}
            Line::Read => {
                if let Some(event) = Event::parse(&line) {
                    return Some(event.stage_timestamp);
                }
            }
        }
    }
    None
}

enum Failed {
    Open(Error),
    Read(std::io::Error),
}

impl Source {
    fn new(file: File, input: Option<Input>, clock: Timestamp) -> Source {
        Source { file, input, clock, events: 0, malformed: 0, back: SignedDuration::ZERO }
    }

    /// Reads up to an event later than `until`; whether there may be more.
    fn read_until<S: Sink>(
        &mut self,
        until: Option<Timestamp>,
        line: &mut Vec<u8>,
        tallies: &mut [Tally<S>],
    ) -> std::result::Result<bool, Failed> {
        let mut input = match self.input.take() {
            Some(input) => input,
            None => lines::open(&self.file.name).map_err(Failed::Open)?,
        };
        loop {
            match lines::next(&mut *input, line).map_err(Failed::Read)? {
                Line::End => return Ok(false),
                Line::TooLong => {
                    self.malformed += 1;
                    tallies.iter_mut().for_each(|tally| tally.malformed += 1);
                }
                Line::Read => self.line(line, tallies),
            }
            if until.is_some_and(|until| self.clock > until) {
                self.input = Some(input);
                return Ok(true);
            }
        }
    }

    fn line<S: Sink>(&mut self, line: &[u8], tallies: &mut [Tally<S>]) {
        let mut seen = Seen::Blank;
        for tally in tallies {
            seen = tally.line(line);
        }
        match seen {
            Seen::Event(at) => {
                self.back = self.back.max(self.clock.duration_since(at));
                self.clock = at;
                self.events += 1;
            }
            Seen::Malformed => self.malformed += 1,
            Seen::Blank => {}
        }
    }

    fn finish<S: Sink>(&self, tallies: &mut [Tally<S>], notes: &mut Notes) -> Result<()> {
        let name = &self.file.name;
        if self.back > DISORDER {
            notes.doubt(format!(
                "the times in \"{name}\" go back by up to {}: a clock was set, or the file is several logs in one",
                duration(self.back)
            ));
        }
        if self.events > 0 || self.malformed == 0 {
            return Ok(());
        }
        if self.file.found {
            tallies.iter_mut().for_each(|tally| tally.malformed -= self.malformed);
            notes.note(format!("\"{name}\" is no audit log and was passed over"));
            return Ok(());
        }
        Err(Error::input(format!("\"{name}\" is no audit log: none of its lines is an audit event"))
            .next("name a file that the API server wrote (--audit-log-path), one JSON event per line"))
    }
}

#[cfg(test)]
mod tests;
