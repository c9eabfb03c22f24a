//! Bars on a terminal, and the chart of a comparison.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::{EXCERPT, diff, snapshot};
use crate::run::{Plugin, path};
use crate::terminal::Terminal;

/// What a terminal with this locale shows.
fn on_a_terminal(arguments: &[&str], locale: &str) -> String {
    let nobody = Plugin { kubeconfig: "/nonexistent".into() };
    let arguments = [&["audit-api-calls"], arguments, &["--color", "never"]].concat();
    let (code, screen) =
        Terminal::run_in(&nobody, &arguments, &[("LANG", locale), ("COLUMNS", "120")]).ends();
    assert_eq!(code, 0, "{screen}");
    screen.replace("\r\n", "\n")
}

/// All clients before, one client after.
async fn sides(folder: &Path) -> (PathBuf, PathBuf) {
    let (before, after) = (folder.join("all <clients>.json"), folder.join("operator.json"));
    snapshot(&["--audit-log", EXCERPT, "--out", path(&before)]).await.exits(0);
    snapshot(&["--audit-log", EXCERPT, "--user", "op-a", "--out", path(&after)]).await.exits(0);
    (before, after)
}

#[tokio::test]
async fn bars_are_for_terminals_in_the_strokes_of_their_locale() {
    let log = ["snapshot", "--audit-log", EXCERPT, "--user", "op-a"];
    let blocks = on_a_terminal(&log, "C.UTF-8");
    assert!(blocks.contains(&format!("\nwrites          4         0.5  {}\n", "█".repeat(24))), "{blocks}");
    assert!(blocks.contains(&format!("\nreads           2         0.3  {}\n", "█".repeat(12))), "{blocks}");
    let ascii = on_a_terminal(&log, "C");
    assert!(ascii.contains(&format!("\nwatches         1         0.1  {}\n", "=".repeat(6))), "{ascii}");
    assert!(ascii.is_ascii(), "{ascii}");
    let top = ["top", "--audit-log", EXCERPT, "--by", "verb"];
    assert!(on_a_terminal(&top, "C").contains(&format!("0.4       1  {}\n", "=".repeat(24))));
    let piped = snapshot(&log[1..]).await.exits(0).stdout;
    assert!(!piped.contains(['=', '█']), "{piped}");
    let asked = snapshot(&[&log[1..], &["-o", "wide"]].concat()).await.exits(0).stdout;
    assert!(asked.contains(&format!("  {}\n", "=".repeat(24))), "{asked}");
}

#[tokio::test]
async fn bars_of_a_comparison_show_what_went_and_what_came() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = sides(folder.path()).await;
    let fewer = on_a_terminal(&["diff", path(&before), path(&after)], "C");
    let total = fewer.lines().find(|line| line.starts_with("total")).unwrap();
    assert!(total.ends_with("======---"), "{fewer}");
    assert!(
        fewer.lines().any(|line| line.starts_with("GROUP") && line.ends_with("= kept - gone + new")),
        "{fewer}"
    );
    let more = on_a_terminal(&["diff", path(&after), path(&before)], "C.UTF-8");
    assert!(more.lines().any(|line| line.starts_with("create") && line.ends_with('▓')), "{more}");
}

#[tokio::test]
async fn a_comparison_can_be_for_each_object() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = sides(folder.path()).await;
    let sides = [path(&before), path(&after)];
    let json = diff(&[&sides[..], &["--per", "4,2", "-o", "json"]].concat()).await.exits(0).json();
    assert_eq!(json["objects"], serde_json::json!({"before": 4, "after": 2}));
    assert_eq!(json["perObject"], serde_json::json!({"before": 2.0, "after": 3.5}));
    let screen = diff(&[&sides[..], &["--per", "4"]].concat()).await.exits(0).stdout;
    assert!(screen.contains("PERCENT  BEFORE/OBJECT  AFTER/OBJECT\n"), "{screen}");
    assert!(screen.contains("-12.5%            2.0           1.8\n"), "{screen}");
    diff(&[&sides[..], &["--per", "0"]].concat()).await.exits(2);
    diff(&[&sides[..], &["--per", "1,2,3"]].concat()).await.exits(2);
}

/// The numbers in the order in which they stand behind their bars, and the lengths of these.
fn bars(svg: Node<'_, '_>) -> Vec<(String, u64, u64)> {
    let (mut bars, mut title) = (Vec::new(), String::new());
    let bar =
        |node: Node<'_, '_>| node.attribute("height") == Some("11") && node.attribute("x") != Some("16");
    for node in svg.children().filter(Node::is_element) {
        if node.attribute("text-anchor") == Some("end") {
            title = node.text().unwrap().to_owned();
        } else if bar(node) {
            let length = node.attribute("width").unwrap().parse().unwrap();
            let number = node.next_sibling_element().unwrap().text().unwrap().parse().unwrap();
            bars.push((title.clone(), number, length));
        }
    }
    bars
}

#[tokio::test]
async fn the_chart_is_a_picture_with_the_numbers_of_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = sides(folder.path()).await;
    let chart = folder.path().join("calls.svg");
    let json =
        diff(&[path(&before), path(&after), "--chart", path(&chart), "-o", "json"]).await.exits(0).json();
    let text = std::fs::read_to_string(&chart).unwrap();
    let svg = Document::parse(&text).unwrap();
    let root = svg.root_element();
    assert_eq!(
        (root.tag_name().name(), root.tag_name().namespace()),
        ("svg", Some("http://www.w3.org/2000/svg"))
    );
    let bars = bars(root);
    let mut wanted = vec![("all requests".to_owned(), json["total"].clone())];
    wanted.extend(
        json["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| (group["name"].as_str().unwrap().to_owned(), group.clone())),
    );
    wanted.extend(json["rows"].as_array().unwrap().iter().map(|row| {
        let [verb, resource, subresource] =
            ["verb", "resource", "subresource"].map(|field| row[field].as_str().unwrap());
        let subresource = if subresource.is_empty() { String::new() } else { format!("/{subresource}") };
        (format!("{verb} {resource}{subresource}"), row.clone())
    }));
    assert_eq!(bars.len(), 2 * wanted.len(), "{text}");
    for (title, row) in wanted {
        let drawn: Vec<u64> = bars.iter().filter(|bar| bar.0 == title).map(|bar| bar.1).collect();
        assert_eq!(serde_json::json!(drawn), serde_json::json!([row["before"], row["after"]]), "{title}");
    }
    // 8 requests are the longest, and lengths are in proportion.
    assert!(bars.iter().all(|(_, number, length)| *length == number * 430 / 8), "{bars:?}");
    assert!(
        text.contains("before: all &lt;clients&gt;") && text.contains("prefers-color-scheme:dark"),
        "{text}"
    );
}
