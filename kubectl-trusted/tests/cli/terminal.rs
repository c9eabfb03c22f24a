//! The binary on a terminal: questions, Ctrl-C, narrow screens.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::run::Plugin;

/// A program whose three streams are one terminal, which does not tell its size.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

const PATIENCE: Duration = Duration::from_secs(30);

impl Terminal {
    pub(crate) fn run(plugin: &Plugin, arguments: &[&str]) -> Terminal {
        Terminal::run_in(plugin, arguments, &[])
    }

    pub(crate) fn run_in(plugin: &Plugin, arguments: &[&str], environment: &[(&str, &str)]) -> Terminal {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a usable terminal");
        let name = ptsname(&controller, Vec::new()).expect("the terminal's name");
        let name = name.to_str().expect("a UTF-8 path").to_owned();
        let open =
            || Stdio::from(File::options().read(true).write(true).open(&name).expect("the terminal opens"));
        let child = plugin
            .command()
            .into_std()
            .args(arguments)
            .env("TERM", "xterm")
            .envs(environment.iter().copied())
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .expect("the binary runs");
        let keyboard = File::from(controller);
        let screen = watched(keyboard.try_clone().expect("the terminal is shared").into());
        Terminal { child, keyboard, screen, seen: String::new() }
    }

    /// Waits until the screen has shown this.
    pub(crate) fn shows(&mut self, text: &str) -> &str {
        let deadline = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            match self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("the screen never showed {text:?}, but:\n{}", self.seen),
            }
        }
        &self.seen
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal takes it");
    }

    /// Sends what Ctrl-C sends.
    pub(crate) fn interrupt(&self) {
        let process = self.child.id().to_string();
        std::process::Command::new("kill").args(["-INT", &process]).status().expect("kill runs");
    }

    /// The exit code and all that the screen showed.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            assert!(Instant::now() < deadline, "the program does not end; it showed:\n{}", self.seen);
            std::thread::sleep(Duration::from_millis(20));
        };
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (status.code().expect("it ended by itself"), std::mem::take(&mut self.seen))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Already ended in the good case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watched(controller: OwnedFd) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut controller = File::from(controller);
        let mut buffer = [0; 4096];
        while let Ok(read) = controller.read(&mut buffer) {
            if read == 0 || sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
