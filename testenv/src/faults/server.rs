//! The listening side: who is let in, and what is open.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{mpsc, oneshot},
    task::{JoinHandle, JoinSet},
};

use super::{Shared, exchange::Exchange};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// What happens to those who want to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// They are served.
    Open,
    /// Nobody listens.
    Refusing,
    /// They are let in and reset.
    Resetting,
}

struct Command {
    /// None leaves it as it is.
    door: Option<Door>,
    done: oneshot::Sender<io::Result<()>>,
}

/// A listening proxy. Everything it has opened goes with it.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    commands: mpsc::UnboundedSender<Command>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) fn start(shared: Arc<Shared>) -> io::Result<Server> {
        let holder = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = holder.local_addr()?;
        let listener = Some(bind(address)?.listen(BACKLOG)?);
        let (commands, received) = mpsc::unbounded_channel();
        let connections = JoinSet::new();
        let gate = Gate { shared, holder, listener, door: Door::Open, connections };
        Ok(Server { address, commands, task: tokio::spawn(gate.run(received)) })
    }

    /// Cuts all connections and sets what happens to the next ones. Done when it is so.
    pub(super) async fn cut_all(&self, door: Option<Door>) -> io::Result<()> {
        let (done, answer) = oneshot::channel();
        let gone = |_| io::Error::other("the proxy's task has ended");
        self.commands.send(Command { door, done }).map_err(|_| gone(()))?;
        answer.await.map_err(|_| gone(()))?
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task behind a [`Server`].
struct Gate {
    shared: Arc<Shared>,
    /// Bound and never listening, so that the port stays ours while nobody listens and the system refuses.
    holder: TcpSocket,
    listener: Option<TcpListener>,
    door: Door,
    connections: JoinSet<()>,
}

impl Gate {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        loop {
            tokio::select! {
                command = commands.recv() => {
                    let Some(Command { door, done }) = command else { return };
                    self.connections.shutdown().await;
                    let _ = done.send(self.set(door.unwrap_or(self.door)));
                }
                stream = accept(self.listener.as_ref()) => self.accepted(stream),
                // Takes those out that have ended.
                Some(_) = self.connections.join_next() => {}
            }
        }
    }

    fn set(&mut self, door: Door) -> io::Result<()> {
        self.door = door;
        if door == Door::Refusing {
            self.listener = None;
        } else if self.listener.is_none() {
            self.listener = Some(bind(self.holder.local_addr()?)?.listen(BACKLOG)?);
        }
        Ok(())
    }

    fn accepted(&mut self, stream: TcpStream) {
        if self.door == Door::Resetting {
            self.shared.book.reset();
            // Closed with a reset instead of a farewell.
            let _ = stream.set_zero_linger();
            return;
        }
        self.shared.book.connected();
        self.connections.spawn(serve(stream, Arc::clone(&self.shared)));
    }
}

/// Serves one connection to its end.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Events are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| Exchange::serve(Arc::clone(&shared), request));
    // An error is a cut or a client that went away; both are in the log where they matter.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn accept(listener: Option<&TcpListener>) -> TcpStream {
    let Some(listener) = listener else { return std::future::pending().await };
    loop {
        // A connection that ended before it was accepted is nobody's business.
        if let Ok((stream, _)) = listener.accept().await {
            return stream;
        }
    }
}

/// A socket on a port that another socket of ours may be bound to as well, as long as only one listens.
fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
