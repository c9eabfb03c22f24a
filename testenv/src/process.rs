//! Child processes that never outlive this process.
//!
//! Purpose: end every child when we end, in every case: a panic, Ctrl-C, even `kill -9`. The kernel would do it
//! for us by a parent-death signal, but setting one takes unsafe code. Instead each child runs under a small shell
//! that holds the reading end of a pipe from us. Whatever ends us closes the pipe, and the shell kills the child.
//!
//! Owns: the children, their log files, and the removal of the data folder.
//!
//! Must not: hand its pipes to other children (the standard library opens them close-on-exec).

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::Error;

/// Runs `"$@"` with its output in `$log`, writes its process id as the first line, and kills it when standard
/// input ends. `cat` must read from a copy of standard input, because a shell gives background commands
/// `/dev/null` instead. The watcher is ended with the program, so that it never kills a recycled process id.
const SUPERVISE: &str = r#"
log=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- >>"$log" 2>&1 &
pid=$!
echo "$pid"
exec >/dev/null
{ cat <&3; kill -KILL "$pid"; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$pid"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"#;

/// Removes a folder once standard input ends. Processes that are being killed at that moment may still write
/// into it, hence the repetition.
const REMOVE: &str = r#"
cat >/dev/null
n=0
while [ -e "$1" ] && [ "$n" -lt 100 ]; do
  sleep 0.1
  rm -rf "$1" 2>/dev/null
  n=$((n + 1))
done
"#;

/// A running child and its log.
#[derive(Debug)]
pub struct Process {
    name: String,
    shell: Child,
    pid: u32,
    log: PathBuf,
}

impl Process {
    /// Starts `command` (program, arguments, environment and folder are taken from it) with its output in `log`.
    pub fn start(name: &str, command: &Command, log: &Path) -> Result<Process, Error> {
        let mut shell = supervisor(SUPERVISE);
        shell.arg(log).arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(key, value),
                None => shell.env_remove(key),
            };
        }
        if let Some(dir) = command.get_current_dir() {
            shell.current_dir(dir);
        }
        let spawn_error = |source| Error::Spawn { program: name.to_owned(), source };
        let mut shell = shell.stdout(Stdio::piped()).spawn().map_err(spawn_error)?;
        let mut line = String::new();
        if let Some(stdout) = shell.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(spawn_error)?;
        }
        let pid = line.trim().parse().map_err(|_| Error::Spawn {
            program: name.to_owned(),
            source: std::io::Error::other("its supervisor did not report a process id"),
        })?;
        Ok(Process { name: name.to_owned(), shell, pid, log: log.to_owned() })
    }

    /// The name it was started under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process id of the program itself, not of its supervisor.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Where its output goes.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.shell.try_wait().ok().flatten()
    }

    /// The last `lines` lines of its log.
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }

    /// Sends the program a signal, by its name without SIG.
    pub fn signal(&self, name: &str) -> Result<(), Error> {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.pid.to_string())
            .stderr(Stdio::null())
            .status();
        match sent {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Error::Command {
                command: format!("kill -{name}"),
                output: format!("{status}; {} may have ended", self.name),
            }),
            Err(source) => Err(Error::Spawn { program: "kill".to_owned(), source }),
        }
    }

    /// Asks the program to stop (SIGTERM) and waits for it; kills it after `grace`. True when it stopped by itself.
    pub fn stop(mut self, grace: Duration) -> bool {
        // A program that has ended already cannot be asked, which is as good.
        let _ = self.signal("TERM");
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline {
            if self.ended().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Closing the pipe makes the supervisor kill the program; waiting leaves no zombie behind.
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// What a shell does once this process has ended, however it ended.
#[derive(Debug)]
pub(crate) struct Afterwards {
    shell: Child,
}

impl Afterwards {
    /// Has `script`, which begins by waiting for the end of its standard input, run with these arguments.
    pub(crate) fn run(script: &str, arguments: &[&OsStr]) -> Result<Afterwards, Error> {
        let shell = supervisor(script)
            .args(arguments)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|source| Error::Spawn { program: "sh".to_owned(), source })?;
        Ok(Afterwards { shell })
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A folder that disappears with this process, however it ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _removal: Afterwards,
}

impl DataDir {
    /// A new folder in the system's place for temporary files.
    pub fn create() -> Result<DataDir, Error> {
        let parent = std::env::temp_dir();
        let path =
            tempfile::Builder::new().prefix("trusted-testenv-").tempdir().map_err(Error::io(parent))?.keep();
        let removal = Afterwards::run(REMOVE, &[path.as_os_str()])?;
        Ok(DataDir { path, _removal: removal })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A shell in a process group of its own (so that Ctrl-C in a terminal reaches us alone) with a pipe from us.
fn supervisor(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args([OsStr::new("-c"), OsStr::new(script), OsStr::new("testenv-supervisor")])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    shell
}

/// The last `lines` lines of a file, or why there are none.
pub(crate) fn tail(path: &Path, lines: usize) -> String {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let all: Vec<&str> = text.lines().collect();
            all[all.len().saturating_sub(lines)..].join("\n")
        }
        Err(error) => format!("({}: {error})", path.display()),
    }
}
