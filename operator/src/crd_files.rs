//! `trusted-operator crds`: the CustomResourceDefinitions as YAML.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Prints all definitions, or writes one file each into `folder`.
pub fn write(folder: Option<&Path>) -> anyhow::Result<()> {
    let manifests = trusted_crds::manifests()?;
    let Some(folder) = folder else {
        let documents: String = manifests.into_iter().map(|(_, yaml)| format!("---\n{yaml}")).collect();
        return print(&documents);
    };
    for (name, yaml) in manifests {
        let file = folder.join(name);
        std::fs::write(&file, yaml).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// A reader that has seen enough, such as `head`, is no failure.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}
