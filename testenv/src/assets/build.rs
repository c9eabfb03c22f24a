//! Builds the control plane's programs with Go.
//!
//! Purpose: one build for all processes of a machine, with progress, in a temporary folder that is renamed at the
//! end, so that an interrupted build leaves nothing that looks finished.

use std::{
    env,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{KUBERNETES_VERSION, Program, modules_dir};
use crate::{Error, process::Process, progress::Progress};

/// How many lines of Go's output an error shows.
const ERROR_LINES: usize = 20;

/// Between two looks at what Go has compiled.
const LOOK: Duration = Duration::from_millis(200);

/// How the folder of a build in progress begins.
const WORK_PREFIX: &str = "build-";

/// Builds what is missing in `target`; waits instead where another process is already building.
pub(super) fn build(target: &Path, wanted: &[Program], go: Option<PathBuf>) -> Result<(), Error> {
    let parent = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(Error::io(parent))?;
    let absent = |programs: &[Program]| -> Vec<Program> {
        programs.iter().copied().filter(|program| !target.join(program.name()).is_file()).collect()
    };
    let Some(go) = go else {
        let missing: Vec<&str> = absent(wanted).iter().map(|program| program.name()).collect();
        return Err(Error::NoAssets { missing: missing.join(", ") });
    };
    let _lock = lock(&parent.join("lock"))?;
    // Whoever held the lock may have built everything meanwhile. All programs are built together, so that the
    // cache folder is complete whenever it exists.
    if absent(wanted).is_empty() {
        return Ok(());
    }
    remove_leftovers(parent);
    let work = tempfile::Builder::new().prefix(WORK_PREFIX).tempdir_in(parent).map_err(Error::io(parent))?;
    let progress = Progress::steps(
        Program::ALL.len() as u64,
        "building a Kubernetes control plane, once (usually about 8 minutes on 2 cores)",
    );
    for program in Program::ALL {
        build_program(&go, program, work.path(), &progress)?;
        progress.advance();
    }
    progress.finish("the control plane is built");
    if target.exists() {
        fs::remove_dir_all(target).map_err(Error::io(target))?;
    }
    fs::rename(work.keep(), target).map_err(Error::io(target))
}

/// Removes what builds left that were killed. Only the holder of the lock builds, so none of it is in use.
fn remove_leftovers(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(WORK_PREFIX)) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Waits until no other process builds.
fn lock(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let progress =
                Progress::steps(1, "another process is building the control plane; waiting for it");
            file.lock().map_err(Error::io(path))?;
            progress.finish("the other build has ended");
            Ok(file)
        }
        Err(TryLockError::Error(source)) => Err(Error::io(path)(source)),
    }
}

/// The Go command, from PATH or from where its own installer puts it.
pub(super) fn find_go() -> Option<PathBuf> {
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search)
        .chain([PathBuf::from("/usr/local/go/bin")])
        .map(|dir| dir.join("go"))
        .find(|path| path.is_file())
}

/// Runs `go build -v`, which names each package when it is compiled, under a supervisor that ends it with us.
fn build_program(go: &Path, program: Program, target: &Path, progress: &Progress) -> Result<(), Error> {
    let mut command = Command::new(go);
    command
        .current_dir(modules_dir().join(program.module()))
        .args(["build", "-v", "-trimpath", "-ldflags", &linker_flags(program), "-o"])
        .arg(target.join(program.name()))
        .arg(program.package())
        .env("CGO_ENABLED", "0");
    let log = target.join(format!("{}.log", program.name()));
    let mut process = Process::start("go build", &command, &log)?;
    progress.message(program.name());
    let status = loop {
        if let Some(status) = process.ended() {
            break status;
        }
        std::thread::sleep(LOOK);
        let lines = fs::read_to_string(&log).unwrap_or_default();
        let (packages, last) = (lines.lines().count(), lines.lines().last().unwrap_or_default());
        progress.message(&format!("{}: {packages} packages, {last}", program.name()));
    };
    if status.success() {
        return fs::remove_file(&log).map_err(Error::io(log));
    }
    Err(Error::Build { program: program.name().to_owned(), output: process.log_tail(ERROR_LINES) })
}

/// Without the version, /version says v0.0.0 and clients warn.
fn linker_flags(program: Program) -> String {
    let (version, major, minor) = KUBERNETES_VERSION;
    match program.module() {
        "kubernetes" => format!(
            "-s -w -X k8s.io/component-base/version.gitVersion={version} \
             -X k8s.io/component-base/version.gitMajor={major} -X k8s.io/component-base/version.gitMinor={minor}"
        ),
        _ => "-s -w".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_go_the_error_names_both_remedies_and_what_is_missing() {
        let cache = tempfile::tempdir().unwrap();
        let target = cache.path().join("hash");
        let error = build(&target, &[Program::Scheduler, Program::Kwok], None).unwrap_err().to_string();
        for part in ["kube-scheduler, kwok", "KUBEBUILDER_ASSETS", "install Go"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!target.exists());
    }

    #[test]
    fn whoever_waited_for_another_build_uses_its_result() {
        let cache = tempfile::tempdir().unwrap();
        let target = cache.path().join("hash");
        let held = File::create(cache.path().join("lock")).unwrap();
        held.lock().unwrap();
        let waiting = std::thread::spawn({
            let target = target.clone();
            move || build(&target, &[Program::Kwok], Some(PathBuf::from("/no/such/go")))
        });
        fs::create_dir(&target).unwrap();
        fs::write(target.join(Program::Kwok.name()), "").unwrap();
        held.unlock().unwrap();
        waiting.join().unwrap().expect("nothing is left to build");
    }

    #[test]
    fn a_failed_build_leaves_nothing_behind() {
        let cache = tempfile::tempdir().unwrap();
        let target = cache.path().join("hash");
        fs::create_dir(cache.path().join("build-killed")).unwrap();
        let error = build(&target, &[Program::Kwok], Some(PathBuf::from("false"))).unwrap_err();
        assert!(matches!(error, Error::Build { .. }), "{error}");
        let left: Vec<_> =
            fs::read_dir(cache.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["lock"]);
    }
}
