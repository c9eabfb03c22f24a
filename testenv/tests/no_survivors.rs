//! However the parent ends, nothing of a control plane survives it.

#![allow(clippy::expect_used, reason = "a test that cannot start its subject has failed")]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long the supervisors may take to clear up.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts `testenv up` and waits for its last line, which names a file in the data folder.
fn up() -> (Child, PathBuf) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_testenv"))
        .arg("up")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("testenv starts");
    let lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let kubeconfig = lines
        .map(|line| line.expect("its output is text"))
        .find_map(|line| line.strip_prefix("export KUBECONFIG=").map(PathBuf::from))
        .expect("it prints the export line");
    let data = kubeconfig.ancestors().nth(2).expect("the kubeconfig lies in the data folder").to_owned();
    (child, data)
}

/// Command lines of processes that mention the data folder.
fn processes(data: &Path) -> Vec<String> {
    let needle = data.display().to_string();
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    entries
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
        .filter(|line| line.contains(&needle))
        .collect()
}

fn assert_nothing_is_left(data: &Path) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let left = processes(data);
        if left.is_empty() && !data.exists() {
            return;
        }
        assert!(Instant::now() < deadline, "left: {left:#?}, data folder there: {}", data.exists());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_killed_parent_leaves_neither_processes_nor_data() {
    testenv::needs!(OwnCluster);
    let (mut child, data) = up();
    let running = processes(&data);
    for program in ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"] {
        assert!(running.iter().any(|line| line.contains(&format!("/{program} "))), "{program}: {running:#?}");
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert_nothing_is_left(&data);
}

#[test]
fn an_interrupted_parent_leaves_neither_processes_nor_data() {
    testenv::needs!(OwnCluster);
    let (mut child, data) = up();
    let status = Command::new("sh")
        .args(["-c", r#"kill -INT "$1""#, "kill", &child.id().to_string()])
        .status()
        .expect("sh runs");
    assert!(status.success());
    let status = child.wait().expect("it ends");
    assert!(status.success(), "Ctrl-C is the way to end it: {status}");
    assert_nothing_is_left(&data);
}
