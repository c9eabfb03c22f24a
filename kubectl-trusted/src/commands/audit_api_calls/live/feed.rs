//! Where the numbers of each interval are from: counters that are read again, or a log that is followed.
//!
//! Owns what becomes of a reading that fails, and of API servers that come and go. What was missed in one interval is in
//! the next one, since counters go on.

use jiff::Timestamp;

use super::course::Course;
use super::follow::Followed;
use crate::commands::audit_api_calls::document::Snapshot;
use crate::commands::audit_api_calls::instances::{Part, clock, continued};
use crate::commands::audit_api_calls::log::LogArgs;
use crate::commands::audit_api_calls::reading::{self, Reading};
use crate::commands::audit_api_calls::render;
use crate::commands::audit_api_calls::source::{self, Counters};
use crate::connect::ConnectionArgs;
use crate::error::Result;
use crate::session::Session;

pub(super) enum Feed {
    Counters(Box<Read>),
    Log(Box<Followed>),
}

pub(super) struct Read {
    counters: Counters,
    /// Of each process the latest page.
    last: Reading,
    /// When it began, by the clock of those that are read.
    since: Option<Timestamp>,
}

impl Feed {
    /// From now on.
    pub(super) fn of_log(log: &LogArgs, connection: &ConnectionArgs) -> Result<(Feed, Course)> {
        let (followed, course) = Followed::begin(log, connection)?;
        Ok((Feed::Log(Box::new(followed)), course))
    }

    /// From the first reading on.
    pub(super) async fn of_counters(session: &mut Session, mut counters: Counters) -> Result<(Feed, Course)> {
        let last = source::read(session, &mut counters).await?;
        let since = clock(&last.parts, Some(last.at));
        let course = Course::begin(render::describe(last.source, false, &last.filter), last.at);
        Ok((Feed::Counters(Box::new(Read { counters, last, since })), course))
    }

    pub(super) async fn step(&mut self, course: &mut Course) {
        match self {
            Feed::Counters(read) => match read.counters.read().await {
                Ok(reading) => read.take(reading, course),
                Err(error) => course.miss(format!("no reading: {}", error.what)),
            },
            Feed::Log(followed) => followed.step(course),
        }
    }

    pub(super) fn finish(self, course: Course) -> Snapshot {
        match self {
            Feed::Counters(read) => read.finish(course),
            Feed::Log(followed) => followed.finish(course),
        }
    }
}

impl Read {
    fn take(&mut self, reading: Reading, course: &mut Course) {
        let continued = continued(&self.last.parts, self.since, &reading.parts);
        let (added, fallen) = continued.added();
        let news = continued.news(reading.source);
        course.step(reading.at, added);
        course.fallen += fallen;
        if fallen > 0 {
            course.tell(format!("{fallen} counters fell: what they count was started anew"));
        }
        for text in news {
            course.notes.doubt(text.clone());
            course.tell(text);
        }
        let seen = |part: &Part| reading.parts.iter().any(|other| other.instance.is(&part.instance));
        let unseen: Vec<_> =
            self.last.parts.iter().filter(|part| !seen(part) && !part.instance.closed).cloned().collect();
        self.last = reading;
        self.last.parts.extend(unseen);
    }

    fn finish(self, course: Course) -> Snapshot {
        let (window, counts, notes, fallen) = course.into_counts();
        let mut snapshot = Snapshot { added: true, ..self.last.snapshot(window, counts) };
        snapshot.notes.append(notes);
        reading::finish(&mut snapshot, fallen);
        snapshot
    }
}
