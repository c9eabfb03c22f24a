//! Pages, as they are and as they should not be.

use super::*;
use crate::commands::audit_api_calls::document::Row;

fn scrape(text: &str) -> Scrape {
    scraped(Series::ApiServer { group: None }, text)
}

fn scraped(series: Series, text: &str) -> Scrape {
    let mut scrape = Scrape::of(series);
    text.split_inclusive('\n').for_each(|line| scrape.line(line));
    scrape
}

fn rows(mut scrape: Scrape) -> (Family, Vec<Row>) {
    let (family, counts) = scrape.counts().unwrap();
    (family, counts.rows())
}

#[test]
fn series_of_one_request_kind_add_up() {
    let scrape = scrape(concat!(
        "# TYPE apiserver_request_total counter\n",
        "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"status\",verb=\"PATCH\",version=\"v1\"} 3\n",
        "apiserver_request_total{code=\"200\",dry_run=\"All\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"status\",verb=\"APPLY\",version=\"v1\"} 1e+01\n",
        "apiserver_request_total{code=\"200\",group=\"\",resource=\"\",scope=\"\",subresource=\"/readyz\",verb=\"GET\",version=\"\"} 7\n",
        "apiserver_request_total_other{code=\"200\"} 99\n",
    ));
    let (_, rows) = rows(scrape);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].kind.resource.as_str(), rows[0].count), ("/readyz", 7));
    assert_eq!(
        (rows[1].kind.verb.as_str(), rows[1].kind.subresource.as_str(), rows[1].count),
        ("patch", "status", 13)
    );
}

#[test]
fn open_watches_and_the_start_are_read() {
    let scrape = scrape(concat!(
        "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 2\n",
        "apiserver_longrunning_requests{group=\"\",resource=\"pods\",scope=\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1\n",
        "apiserver_longrunning_requests{group=\"\",resource=\"pods\",subresource=\"exec\",verb=\"CONNECT\",version=\"v1\"} 5\n",
        "process_start_time_seconds 1.7646e+09\n",
    ));
    assert_eq!(
        scrape.open_watches(),
        [OpenWatches { group: String::new(), resource: "pods".into(), count: 3 }]
    );
    assert_eq!(scrape.process_start, "2025-12-01T14:40:00Z".parse().ok());
}

#[test]
fn escapes_in_labels_and_broken_lines() {
    let mut scrape = scrape("apiserver_request_total{verb=\"GET\",resource=\"a\\\"},\\\\b\"} 1\n");
    for broken in ["{verb=\"GET\"", "{verb} 1", "{verb=\"GET\"} many", "{verb=\"GET\"} NaN", ""] {
        scrape.line(&format!("apiserver_request_total{broken}"));
    }
    assert_eq!(scrape.malformed, 5);
    let (_, rows) = rows(scrape);
    assert_eq!((rows.len(), rows[0].kind.resource.as_str()), (1, "a\"},\\b"));
}

const CLIENT_GO: &str = concat!(
    "# TYPE rest_client_requests_total counter\n",
    "rest_client_requests_total{code=\"200\",host=\"10.96.0.1:443\",method=\"GET\"} 12\n",
    "rest_client_requests_total{code=\"409\",host=\"10.96.0.1:443\",method=\"PUT\"} 3\n",
    "rest_client_requests_total{code=\"<error>\",host=\"10.96.0.1:443\",method=\"GET\"} 1\n",
);

fn shown(scrape: Scrape) -> (Family, Vec<(String, u16, u64)>) {
    let (family, rows) = rows(scrape);
    (family, rows.into_iter().map(|row| (row.kind.verb, row.code, row.count)).collect())
}

#[test]
fn clients_of_several_makes_are_told_apart() {
    let client = || Series::Client { group: None };
    let expected = [("GET", 0, 1), ("GET", 200, 12), ("PUT", 409, 3)];
    let expected: Vec<_> = expected.map(|(verb, code, count)| (verb.to_owned(), code, count)).into();
    assert_eq!(shown(scraped(client(), CLIENT_GO)), (Family::ClientGo, expected));
    let kubert = concat!(
        "kube_response_status_total{cluster_url=\"https://x/\",method=\"get\",status=\"200\",error=\"\"} 4\n",
        "kube_response_status_total{cluster_url=\"https://x/\",method=\"POST\",status=\"\",error=\"Timeout\"} 1\n",
        "web_response_status_total{method=\"GET\",status=\"200\"} 99\n",
    );
    let expected = vec![("GET".to_owned(), 200, 4), ("POST".to_owned(), 0, 1)];
    assert_eq!(shown(scraped(client(), kubert)), (Family::Kubert, expected));
    // What knows most counts, and nothing counts twice.
    let ours = "trusted_operator_http_requests_total{verb=\"list\",group=\"\",resource=\"pods\",subresource=\"\",code=\"200\",dry_run=\"false\",canary=\"true\"} 2\n";
    let both = scraped(client(), &format!("{CLIENT_GO}{ours}"));
    assert_eq!(shown(both), (Family::Operator, vec![("list".to_owned(), 200, 2)]));
    assert!(scraped(client(), "web_requests_total 1\n").counts().is_none());
}

#[test]
fn a_flow_schema_counts_what_it_let_in_and_what_not() {
    let page = concat!(
        "apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"mine\",priority_level=\"workload-low\"} 7\n",
        "apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"exempt\",priority_level=\"exempt\"} 99\n",
        "apiserver_flowcontrol_rejected_requests_total{flow_schema=\"mine\",priority_level=\"workload-low\",reason=\"time-out\"} 2\n",
    );
    let mine = || Series::FlowSchema { name: "mine".into(), user: "me".into() };
    let expected = vec![("any".to_owned(), 0, 7), ("any".to_owned(), 429, 2)];
    assert_eq!(shown(scraped(mine(), page)), (Family::FlowSchema, expected));
    assert_eq!(shown(scraped(mine(), "x 1\n")), (Family::FlowSchema, vec![]));
}

#[test]
fn one_group_may_have_no_requests_and_still_be_counted() {
    let page =
        "apiserver_request_total{code=\"200\",group=\"apps\",resource=\"deployments\",verb=\"GET\"} 5\n";
    let group = |group: &str| scraped(Series::ApiServer { group: Some(group.into()) }, page);
    assert_eq!(shown(group("apps")).1.len(), 1);
    assert_eq!(shown(group("batch")), (Family::ApiServer, vec![]));
}

#[test]
fn what_is_no_page_and_what_is_cut_short_is_seen() {
    for foreign in
        ["<html>\n<body>404</body>\n", "404 page not found\n", "ok", "Hello world\n", "{\"a\": 1}\n", ""]
    {
        assert!(!scrape(foreign).lines.is_page(), "{foreign}");
    }
    let cut = |text: &str, is_open_metrics| scrape(text).lines.cut(is_open_metrics).is_some();
    assert!(!cut("a 1\nb 2\n", false));
    assert!(cut("a 1\nb 2", false), "2 may have been 25");
    assert!(cut("a 1\nb{c=\"", false));
    assert!(cut("a 1\n", true));
    assert!(!cut("a 1\n# EOF\n", true));
}

#[test]
fn an_instance_may_bear_a_name() {
    let page = "x{apiserver_id_hash=\"sha256:ab\"} 1\nprocess_start_time_seconds 1.7e+09\n";
    assert_eq!(scrape(page).id.as_deref(), Some("sha256:ab"));
}
