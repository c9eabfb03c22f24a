//! Readings of counters, and what was added between two of them.
//!
//! Owns what can be said of numbers that counters give. Asks for nothing: `meter` does.

use jiff::Timestamp;

use super::count::Counts;
use super::document::{Filter, Notes, OpenWatches, Snapshot, Source, Window};
use super::instances::{self, Part};
use super::validity;

const NO_CLIENTS: &str = "the API server's metrics count all clients together: they do not show who sent a request; \
     an audit log (--audit-log, --user) does";
const WATCH_AT_END: &str =
    "the metrics count a watch when it ends; those still open are listed beside the total";

/// All counters at one time, without the readings that this program itself asked for.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) at: Timestamp,
    pub(crate) source: Source,
    pub(crate) filter: Filter,
    pub(crate) parts: Vec<Part>,
    pub(crate) open_watches: Vec<OpenWatches>,
    pub(crate) malformed: u64,
    /// What has to be known of these numbers.
    pub(crate) notes: Notes,
}

impl Reading {
    /// All that was counted since the start of who counts.
    pub(crate) fn since_start(self) -> Snapshot {
        let from = match &*self.parts {
            [] => None,
            parts => parts.iter().map(|part| part.instance.process_start).min().flatten(),
        };
        let mut counts = Counts::default();
        self.parts.iter().for_each(|part| counts.extend(&part.counts));
        let window = Window { from, to: Some(self.at) };
        // With their counts, which the next reading is compared with one by one.
        let instances = instances::named(&self.parts);
        let seen = instances.iter().filter(|instance| !instance.closed).count();
        let mut snapshot = Snapshot { instances, ..self.snapshot(window, counts) };
        if seen > 1 {
            let text = format!("instances seen behind the one address: {seen}; the numbers are their sum");
            snapshot.notes.note(text);
        }
        snapshot
    }

    /// What was added since an earlier reading.
    pub(crate) fn since(self, before: &Reading) -> Snapshot {
        let window = Window { from: Some(before.at), to: Some(self.at) };
        let parts = self.parts.clone();
        let since = instances::clock(&before.parts, Some(before.at));
        let continued = instances::continued(&before.parts, since, &parts);
        let (counts, fallen) = continued.added();
        let source = self.source;
        let mut snapshot = Snapshot { added: true, ..self.snapshot(window, counts) };
        continued.judge(source, &mut snapshot.notes);
        finish(&mut snapshot, fallen);
        snapshot
    }

    pub(crate) fn snapshot(self, window: Window, counts: Counts) -> Snapshot {
        let mut notes = self.notes;
        if self.source == Source::ApiserverMetrics {
            notes.note(NO_CLIENTS);
            notes.note(WATCH_AT_END);
        }
        if self.malformed > 0 {
            notes.doubt(format!("{} series could not be read and are not counted", self.malformed));
        }
        let open = self.parts.iter().filter(|part| !part.instance.closed);
        Snapshot {
            filter: self.filter,
            instances: open.map(|part| part.instance.clone()).collect(),
            open_watches: self.open_watches,
            malformed_lines: self.malformed,
            notes,
            ..Snapshot::of(self.source, window, counts)
        }
    }
}

/// What a window that was measured must be judged by.
pub(crate) fn finish(snapshot: &mut Snapshot, fallen: usize) {
    if snapshot.source == Source::ApiserverMetrics {
        snapshot.notes.extend(validity::of_window(&snapshot.window, true));
    }
    if fallen > 0 {
        snapshot.notes.invalidate(format!(
            "{fallen} counters fell, which a counter of one process never does: it was started anew, and what it counted \
             before is missing"
        ));
    }
    if snapshot.total == 0 {
        snapshot.notes.invalidate("no request was counted: nothing was measured");
    }
}
