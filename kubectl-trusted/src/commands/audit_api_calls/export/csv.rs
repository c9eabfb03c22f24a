//! Comma-separated values.
//!
//! Owns the quoting of RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe: clients
//! choose names of resources.

use super::super::document::{Diff, Snapshot};
use super::super::group::Group;
use crate::output::neutral;

pub(super) fn snapshot(snapshot: &Snapshot) -> String {
    let mut text = "verb,group,resource,subresource,code,count,kind\n".to_owned();
    for row in &snapshot.rows {
        let kind = &row.kind;
        let words = [&kind.verb, &kind.group, &kind.resource, &kind.subresource].map(|word| cell(word));
        text.push_str(&format!(
            "{},{},{},{}\n",
            words.join(","),
            row.code,
            row.count,
            Group::of(kind).word()
        ));
    }
    text
}

pub(super) fn diff(diff: &Diff) -> String {
    let mut text = "verb,group,resource,subresource,before,after,delta,percent,kind,source\n".to_owned();
    for row in &diff.rows {
        let (kind, change) = (&row.kind, &row.change);
        let words = [&kind.verb, &kind.group, &kind.resource, &kind.subresource].map(|word| cell(word));
        let percent = change.percent.map(|percent| percent.to_string()).unwrap_or_default();
        text.push_str(&format!(
            "{},{},{},{},{percent},{},{}\n",
            words.join(","),
            change.before,
            change.after,
            change.delta,
            Group::of(kind).word(),
            cell(&row.source)
        ));
    }
    text
}

/// A table of words and numbers that are not negative.
pub(crate) fn table(titles: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(",") + "\n";
    let head = line(titles);
    rows.fold(head, |text, row| text + &line(&row))
}

fn cell(text: &str) -> String {
    let safe = neutral::for_terminal(text);
    let is_formula = safe.starts_with(['=', '+', '-', '@']);
    let safe = if is_formula { format!("'{safe}") } else { safe.into_owned() };
    if safe.contains([',', '"', '\'']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_cells() {
        assert_eq!(cell("pods"), "pods");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
        assert_eq!(cell("a\nb"), "a\\u{a}b");
        let rows = [vec!["x,y".to_owned(), "1".to_owned()]].into_iter();
        assert_eq!(table(&["user".to_owned(), "count".to_owned()], rows), "user,count\n\"x,y\",1\n");
    }
}
