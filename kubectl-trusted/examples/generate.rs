//! Writes the files that are made from the command line: `cargo run -p kubectl-trusted --example generate`.

use std::error::Error;
use std::path::Path;

#[path = "../tests/generated/files.rs"]
mod files;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in files::FOLDERS {
        std::fs::create_dir_all(root.join(folder))?;
    }
    for (name, text) in files::all()? {
        std::fs::write(root.join(name), text)?;
    }
    Ok(())
}
