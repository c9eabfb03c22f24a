//! A test report as CI systems read it.
//!
//! Owns the XML. Source of the form: the elements `testsuite`, `testcase`, `failure` and `system-out` of the JUnit
//! report of Apache Ant, which all CI systems take.

use super::xml::escaped;

pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    /// Why it failed; none for a test that passed.
    pub(super) failure: Option<String>,
    pub(super) notes: String,
}

pub(super) fn suite(name: &str, cases: &[Case<'_>]) -> String {
    let failed = cases.iter().filter(|case| case.failure.is_some()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" \
         errors=\"0\" skipped=\"0\" time=\"0\">\n",
        escaped(name),
        cases.len()
    );
    for case in cases {
        text.push_str(&format!(
            "  <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n",
            escaped(name),
            escaped(case.name)
        ));
        if let Some(why) = &case.failure {
            let first = why.lines().next().unwrap_or_default();
            text.push_str(&format!(
                "    <failure message=\"{}\">{}</failure>\n",
                escaped(first),
                escaped(why)
            ));
        }
        if !case.notes.is_empty() {
            text.push_str(&format!("    <system-out>{}</system-out>\n", escaped(&case.notes)));
        }
        text.push_str("  </testcase>\n");
    }
    text + "</testsuite>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escaped("<a b=\"&\">\u{1b}[0m\n"), "&lt;a b=&quot;&amp;&quot;&gt;\\u{1b}[0m\n");
        let case = Case { name: "list=0", failure: Some("too many\nrows".into()), notes: String::new() };
        let text = suite("s", &[case]);
        assert!(
            text.contains("tests=\"1\" failures=\"1\"") && text.contains("message=\"too many\""),
            "{text}"
        );
    }
}
