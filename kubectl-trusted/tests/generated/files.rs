//! What is made from the command line: completion scripts, manual pages, the schema of `status`.

use std::io;

use clap_mangen::Man;

pub const FOLDERS: [&str; 3] = ["completions", "docs/man", "docs/schema"];

/// Path from the root of the repository, and contents.
pub fn all() -> io::Result<Vec<(String, String)>> {
    let scripts = kubectl_trusted::scripts().into_iter();
    let mut files: Vec<_> = scripts.map(|(name, text)| (format!("completions/{name}"), text)).collect();
    files.push(("docs/schema/status.json".to_owned(), kubectl_trusted::status_schema()));
    let mut command = kubectl_trusted::command().disable_version_flag(true);
    command.build();
    pages(&command, "kubectl-trusted", &mut files)?;
    Ok(files)
}

/// A page for each verb that does something, named as `man kubectl-trusted-VERB` finds it.
fn pages(command: &clap::Command, name: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    let page = command.clone().name(name.to_owned()).version(env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    // Without a date, so that the same source makes the same page.
    Man::new(page).title(name).date("").render(&mut text)?;
    files.push((format!("docs/man/{name}.1"), String::from_utf8_lossy(&text).into_owned()));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        pages(verb, &format!("{name}-{}", verb.get_name()), files)?;
    }
    Ok(())
}
