use std::fs;

use super::*;

const USER: &str = "system:serviceaccount:ns:trusted-operator";

/// A line of the log as the API server writes it, with what a case needs.
struct Line {
    id: &'static str,
    stage: &'static str,
    verb: &'static str,
    uri: &'static str,
    object: &'static str,
    code: u16,
    second: u32,
}

const LINE: Line = Line {
    id: "1",
    stage: "ResponseComplete",
    verb: "patch",
    uri: "/apis/trusted-execution-clusters.io/v1alpha1/namespaces/ns/machines/m/status?fieldManager=x",
    object: r#"{"resource":"machines","namespace":"ns","name":"m","apiGroup":"trusted-execution-clusters.io","apiVersion":"v1alpha1","subresource":"status"}"#,
    code: 200,
    second: 0,
};

fn text(line: &Line) -> String {
    let Line { id, stage, verb, uri, object, code, second } = line;
    let object = if object.is_empty() { String::new() } else { format!(r#","objectRef":{object}"#) };
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{USER}","groups":["system:authenticated"]}},"sourceIPs":["127.0.0.1"],"userAgent":"trusted-operator/0.1.0"{object},"responseStatus":{{"metadata":{{}},"code":{code}}},"requestReceivedTimestamp":"2026-01-01T00:00:{second:02}.000000Z","stageTimestamp":"2026-01-01T00:00:{second:02}.500000Z"}}"#
    )
}

fn read(lines: &[Line], window: Window) -> Requests {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.json");
    let text: Vec<String> = lines.iter().map(text).collect();
    fs::write(&path, text.join("\n")).unwrap();
    AuditLog::new(path).read(USER, window).unwrap()
}

const SECRETS: &str = r#"{"resource":"secrets","namespace":"ns","apiVersion":"v1"}"#;

#[test]
fn a_request_counts_once_whatever_was_logged() {
    let watch = |stage, id| Line { id, stage, verb: "watch", object: SECRETS, ..LINE };
    let requests = read(
        &[
            LINE,
            Line { id: "2", stage: "ResponseStarted", verb: "get", ..LINE },
            Line { id: "2", verb: "get", ..LINE },
            Line { id: "3", stage: "Panic", verb: "delete", code: 500, ..LINE },
            Line { id: "4", stage: "RequestReceived", verb: "delete", ..LINE },
            watch("ResponseStarted", "5"),
            watch("ResponseStarted", "6"),
            watch("ResponseComplete", "6"),
            Line { id: "7", verb: "watch", object: SECRETS, code: 403, ..LINE },
        ],
        Window::ALL,
    );
    assert_eq!(requests.total(), 6);
    assert_eq!(requests.count("watch", "secrets"), 3);
    assert_eq!(requests.count("patch", "machines/status"), 1);
    assert_eq!(requests.count("patch", "machines"), 0);
    assert_eq!(requests.answered(403), 1);
    assert_eq!(requests.writes(), 2);
    assert_eq!(requests.open_watches().get("secrets"), Some(&1), "one ended, one was refused");
}

#[test]
fn only_the_user_and_the_window_count() {
    let other = text(&LINE).replace("trusted-operator\",\"groups", "trusted-operator-2\",\"groups");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.json");
    let mine = text(&Line { id: "2", second: 5, ..LINE });
    let half = &mine[..mine.len() / 2];
    fs::write(&path, format!("{other}\n{mine}\nno json\n{half}")).unwrap();
    let log = AuditLog::new(path);
    let at = |second: &str| format!("2026-01-01T00:00:{second}Z").parse().unwrap();
    assert_eq!(log.read(USER, Window::ALL).unwrap().total(), 1);
    assert_eq!(log.read(USER, Window::since(at("05"))).unwrap().total(), 1);
    assert_eq!(log.read(USER, Window::between(at("00"), at("05"))).unwrap().total(), 0);
    assert_eq!(log.read(USER, Window::since(at("06"))).unwrap().total(), 0);
}

#[test]
fn requests_fall_into_groups() {
    let cases: [(Line, Group); 12] = [
        (LINE, Group::Work),
        (Line { uri: "/x?dryRun=All&fieldManager=y", ..LINE }, Group::Preflight),
        (Line { uri: "/x?fieldManager=dryRun=All", ..LINE }, Group::Work),
        (
            Line { object: "", uri: "/apis/trusted-execution-clusters.io/v1alpha1", verb: "get", ..LINE },
            Group::Preflight,
        ),
        (Line { object: r#"{"resource":"leases","apiGroup":"coordination.k8s.io"}"#, ..LINE }, Group::Lease),
        (Line { object: r#"{"resource":"events","apiGroup":"events.k8s.io"}"#, ..LINE }, Group::Event),
        (Line { object: r#"{"resource":"events"}"#, ..LINE }, Group::Event),
        (
            Line {
                object: r#"{"resource":"selfsubjectaccessreviews","apiGroup":"authorization.k8s.io"}"#,
                verb: "create",
                ..LINE
            },
            Group::Preflight,
        ),
        (Line { object: r#"{"resource":"secrets","name":"tls"}"#, verb: "get", ..LINE }, Group::Verify),
        (Line { object: SECRETS, verb: "list", ..LINE }, Group::Work),
        (Line { object: SECRETS, verb: "list", uri: "/x?&limit=1", ..LINE }, Group::Canary),
        (Line { object: SECRETS, verb: "list", uri: "/x?&limit=10", ..LINE }, Group::Work),
    ];
    for (line, group) in cases {
        let shown = text(&line);
        let requests = read(&[line], Window::ALL);
        let found: Vec<Group> = requests.iter().map(|request| request.group).collect();
        assert_eq!(found, [group], "{shown}");
    }
}

#[test]
fn rows_are_summed_and_ordered_by_count() {
    let requests = read(
        &[
            LINE,
            Line { id: "2", code: 409, ..LINE },
            Line { id: "3", ..LINE },
            Line { id: "4", verb: "get", object: "", uri: "/version?x", ..LINE },
        ],
        Window::ALL,
    );
    let rows = requests.by_resource();
    assert_eq!((rows[0].count, rows[0].code, rows[0].subresource.as_str()), (2, 200, "status"));
    assert_eq!(rows.len(), 3);
    assert_eq!(requests.by_verb(), [("get".to_owned(), 1), ("patch".to_owned(), 3)].into());
    assert!(rows.iter().any(|row| row.resource == "/version"));
}
