//! Several files as one log.

use super::super::super::count::Counts;
use super::super::super::document::Filter;
use super::*;

fn line(id: u32, second: u32) -> String {
    let at = format!("2026-11-30T17:{:02}:{:02}Z", second / 60, second % 60);
    serde_json::json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": id.to_string(),
        "stage": "ResponseComplete", "verb": "get", "requestURI": "/api/v1/pods", "objectRef": {"resource": "pods"},
        "requestReceivedTimestamp": at, "stageTimestamp": at})
    .to_string()
        + "\n"
}

/// Reads files with these contents.
fn logs(contents: &[String]) -> Result<(Tally<Counts>, Notes)> {
    let folder = tempfile::tempdir().unwrap();
    let files = contents.iter().enumerate().map(|(at, content)| {
        let path = folder.path().join(at.to_string());
        std::fs::write(&path, content).unwrap();
        File { name: path.display().to_string(), found: at > 0 }
    });
    let tally = Tally::new(Filter::default(), Counts::default());
    let (mut tallies, notes) = read(files.collect(), vec![tally])?;
    Ok((tallies.remove(0), notes))
}

#[test]
fn copies_count_once_however_long_they_are() {
    // More events than are remembered: read one after the other, the copy would count again.
    let whole: String = (0..70_000).map(|id| line(id, id / 20)).collect();
    let half: String = (30_000..60_000).map(|id| line(id, id / 20)).collect();
    let (tally, notes) = logs(&[whole.clone(), half, whole]).unwrap();
    assert_eq!((tally.counted(), tally.repeated), (70_000, 100_000));
    assert!(!notes.doubtful, "{notes:?}");
}

#[test]
fn rotated_files_add_up_in_any_order() {
    let parts: Vec<String> =
        (0..4).rev().map(|part| (0..10).map(|id| line(part * 10 + id, part * 10 + id)).collect()).collect();
    let (tally, notes) = logs(&parts).unwrap();
    assert_eq!((tally.counted(), tally.repeated), (40, 0));
    assert!(!notes.doubtful, "{notes:?}");
}

#[test]
fn a_clock_that_was_set_back_is_told() {
    let (tally, notes) = logs(&[line(1, 100) + &line(2, 40) + &line(3, 101)]).unwrap();
    assert_eq!(tally.counted(), 3);
    assert!(notes.doubtful && notes.warnings[0].contains("go back by up to 60s"), "{notes:?}");
}

#[test]
fn what_is_no_log_is_an_error_only_where_it_was_named() {
    let (tally, notes) = logs(&[line(1, 1), "README\n".to_owned()]).unwrap();
    assert_eq!((tally.counted(), tally.malformed), (1, 0));
    assert!(notes.warnings[0].contains("is no audit log and was passed over"), "{notes:?}");
    assert!(logs(&["README\n".to_owned(), line(1, 1)]).unwrap_err().what.contains("is no audit log"));
}
