//! The generated files in the repository are those that the command line makes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod files;

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let made = files::all().unwrap();
    let remedy = "run: cargo run -p kubectl-trusted --example generate";
    for (name, text) in &made {
        let kept = std::fs::read_to_string(root.join(name)).unwrap_or_default();
        assert!(kept == *text, "{name} is not what the command line makes; {remedy}");
    }
    let names: BTreeSet<_> = made.into_iter().map(|(name, _)| name).collect();
    for folder in files::FOLDERS {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.unwrap().file_name().display());
            assert!(names.contains(&name), "{name} is of a verb that is gone: delete it");
        }
    }
}
