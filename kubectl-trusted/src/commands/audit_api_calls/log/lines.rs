//! Reads a log line by line from a file or stdin, plain or gzip, in bounded memory.
//!
//! Owns the recognition of gzip by content and the limit on a line's length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// Longer lines are passed over and counted. Events of level RequestResponse carry whole objects, of which the
/// API server accepts about 3 MiB in a request.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

const BUFFER: usize = 64 * 1024;

/// The first two bytes of every gzip stream.
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(crate) type Input = Box<dyn BufRead + Send>;

/// Opens a log; `-` is stdin. gzip is told by its first bytes, not by its name, and may consist of several
/// members, as concatenated rotated logs do.
pub(crate) fn open(file: &str) -> Result<Input> {
    let raw: Box<dyn Read + Send> = if file == "-" {
        Box::new(io::stdin())
    } else {
        let opened = File::open(file).and_then(|opened| {
            if opened.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(opened) }
        });
        Box::new(opened.map_err(|error| unreadable(file, &error))?)
    };
    sniffed(raw).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &str, error: &io::Error) -> Error {
    Error::input(format!("The audit log \"{file}\" cannot be read"))
        .why(error.to_string())
        .next("name a file that the API server wrote (--audit-log-path), or - for stdin")
}

fn sniffed(mut raw: Box<dyn Read + Send>) -> io::Result<Input> {
    let mut head = [0; 2];
    let mut filled = 0;
    while filled < head.len() {
        match raw.read(&mut head[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    let whole = BufReader::with_capacity(BUFFER, io::Cursor::new(head).take(filled as u64).chain(raw));
    if filled == head.len() && head == GZIP {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))));
    }
    Ok(Box::new(whole))
}

/// What one step of reading found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The buffer holds a line without its end.
    Read,
    TooLong,
    End,
}

/// Reads the next line into `line`, which is cleared first.
pub(crate) fn next(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut too_long = false;
    let mut any = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(finished(any, too_long));
        }
        any = true;
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() + part.len() > LONGEST_LINE {
            too_long = true;
            line.clear();
        }
        if !too_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(finished(true, too_long));
        }
    }
}

fn finished(any: bool, too_long: bool) -> Line {
    match (any, too_long) {
        (false, _) => Line::End,
        (true, true) => Line::TooLong,
        (true, false) => Line::Read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn all(mut input: Input) -> Vec<String> {
        let (mut line, mut lines) = (Vec::new(), Vec::new());
        while next(&mut *input, &mut line).unwrap() != Line::End {
            lines.push(String::from_utf8(line.clone()).unwrap());
        }
        lines
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_gzip_read_alike() {
        let members: Vec<u8> = [gzip("one\ntw"), gzip("o\nthree")].concat();
        for raw in [b"one\ntwo\nthree".to_vec(), members] {
            assert_eq!(all(sniffed(Box::new(io::Cursor::new(raw))).unwrap()), ["one", "two", "three"]);
        }
    }

    #[test]
    fn tiny_inputs_are_no_gzip() {
        for raw in ["", "a", "\n"] {
            let lines = all(sniffed(Box::new(io::Cursor::new(raw))).unwrap());
            assert_eq!(lines.len(), usize::from(!raw.is_empty()), "{raw:?}");
        }
    }

    #[test]
    fn an_endless_line_is_passed_over() {
        let raw = io::repeat(b'x').take(LONGEST_LINE as u64 + 10).chain(&b"\nshort\n"[..]);
        let mut input = sniffed(Box::new(raw)).unwrap();
        let mut line = Vec::new();
        assert_eq!(next(&mut *input, &mut line).unwrap(), Line::TooLong);
        assert_eq!(next(&mut *input, &mut line).unwrap(), Line::Read);
        assert_eq!(line, b"short");
        assert_eq!(next(&mut *input, &mut line).unwrap(), Line::End);
    }
}
