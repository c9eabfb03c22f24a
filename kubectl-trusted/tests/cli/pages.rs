//! A server of scripted pages on loopback, for what a real API server cannot be brought to say: an address with several
//! behind it, pages cut short. What it serves is made from pages of the real one.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
    /// The length that is declared; without one the end of the connection is the end of the body.
    length: Option<usize>,
    date: Option<&'static str>,
}

impl Answer {
    pub(crate) fn page(body: impl Into<String>) -> Answer {
        Answer::of("text/plain; version=0.0.4", body)
    }

    pub(crate) fn of(content_type: &'static str, body: impl Into<String>) -> Answer {
        Answer { status: 200, content_type, body: body.into(), length: None, date: None }
    }

    pub(crate) fn status(self, status: u16) -> Answer {
        Answer { status, ..self }
    }

    /// Tells this time, as HTTP has it.
    pub(crate) fn dated(self, date: &'static str) -> Answer {
        Answer { date: Some(date), ..self }
    }

    /// Declares more than it sends.
    pub(crate) fn longer(self) -> Answer {
        Answer { length: Some(self.body.len() + 100), ..self }
    }

    fn bytes(&self) -> Vec<u8> {
        let length = self.length.map(|length| format!("content-length: {length}\r\n")).unwrap_or_default();
        let date = self.date.map(|date| format!("date: {date}\r\n")).unwrap_or_default();
        let Answer { status, content_type, body, .. } = self;
        format!("HTTP/1.1 {status} Some\r\ncontent-type: {content_type}\r\n{length}{date}connection: close\r\n\r\n{body}")
            .into_bytes()
    }
}

/// Serves until it is dropped.
pub(crate) struct Pages {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Pages {
    /// On loopback.
    pub(crate) async fn serve(script: impl FnMut(&str) -> Answer + Send + 'static) -> Pages {
        Pages::serve_at(IpAddr::from([127, 0, 0, 1]), script).await
    }

    pub(crate) async fn serve_at(at: IpAddr, script: impl FnMut(&str) -> Answer + Send + 'static) -> Pages {
        let listener = TcpListener::bind((at, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let script = Arc::new(Mutex::new(script));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let script = Arc::clone(&script);
                tokio::spawn(answer(stream, move |path| (script.lock().expect("no panic"))(path)));
            }
        });
        Pages { address, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, script: impl FnOnce(&str) -> Answer) {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    // Who hangs up has what it wanted.
    let _ = stream.write_all(&script(path).bytes()).await;
    let _ = stream.shutdown().await;
}

/// API servers made of one real page: each counts our readings and a kind of its own.
pub(crate) struct Twins {
    page: String,
    readings: BTreeMap<usize, u64>,
}

impl Twins {
    pub(crate) fn of(page: String) -> Twins {
        Twins { page, readings: BTreeMap::new() }
    }

    /// The page of one instance, that has answered `step` lists of widgets more since the last one.
    pub(crate) fn page(&mut self, instance: usize, start: f64, step: u64) -> Answer {
        let before = *self.readings.entry(instance).and_modify(|count| *count += 1).or_default();
        let lines = self.page.lines().filter(|line| !line.starts_with("process_start_time_seconds "));
        let mut page: String = lines.map(|line| format!("{line}\n")).collect();
        let series = |resource: &str, subresource: &str, verb: &str, count: u64| {
            format!(
                "apiserver_request_total{{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"{resource}\",\
                 scope=\"\",subresource=\"{subresource}\",verb=\"{verb}\",version=\"\"}} {count}\n"
            )
        };
        page.push_str(&series("widgets", "", "LIST", 1000 * (instance as u64 + 1) + before * step));
        page.push_str(&series("", "/metrics", "GET", before));
        page.push_str(&format!("process_start_time_seconds {start}\n"));
        Answer::page(page)
    }
}
