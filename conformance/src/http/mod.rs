//! HTTP/1.1 over a socket of its own for every request, byte for byte as asked: also what a client library would refuse
//! to send, such as two key headers or a NUL, and requests held back before their last byte so that many arrive at once.

mod parse;
mod target;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

pub(crate) use parse::Answer;
pub use target::{Target, TargetError};

/// A request, as it goes over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// In this order, with these names, letter for letter.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Option<Vec<u8>>,
}

impl Request {
    fn bytes(&self, target: &Target) -> Vec<u8> {
        let mut out = format!("{} {}{} HTTP/1.1\r\n", self.method, target.prefix, self.path).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        };
        line("Host", target.host_header.as_bytes());
        line("Connection", b"close");
        line("User-Agent", concat!("warifu-conformance/", env!("CARGO_PKG_VERSION")).as_bytes());
        line("Accept-Encoding", b"identity");
        for (name, value) in &self.headers {
            line(name, value);
        }
        if let Some(body) = &self.body {
            line("Content-Length", body.len().to_string().as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(self.body.as_deref().unwrap_or_default());
        out
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// No connection.
    #[error("no connection: {0}")]
    Connect(String),
    /// None in time.
    #[error("no answer within {} s", .0.as_secs())]
    Deadline(Duration),
    /// The connection ended first.
    #[error("the connection ended without an answer")]
    Closed,
    /// What came is no HTTP.
    #[error("what came is no HTTP answer: {0}")]
    Malformed(String),
}

/// Plain or encrypted.
enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection with a request on it.
pub(crate) struct Exchange {
    socket: Socket,
    /// What is still held back.
    rest: Vec<u8>,
    /// Why writing failed; there may be an answer all the same.
    broken: Option<io::Error>,
    deadline: Duration,
}

impl Exchange {
    /// Connects, and writes the request but for its last byte.
    pub(crate) async fn begin(target: &Target, request: &Request, deadline: Duration) -> Result<Self, NoAnswer> {
        let opened = tokio::time::timeout(deadline, target.connect())
            .await
            .map_err(|_| NoAnswer::Connect(format!("not within {} s", deadline.as_secs())))?;
        let socket = opened.map_err(|error| NoAnswer::Connect(error.to_string()))?;
        let mut bytes = request.bytes(target);
        let rest = bytes.split_off(bytes.len().saturating_sub(1));
        let mut exchange = Self { socket, rest, broken: None, deadline };
        exchange.write(&bytes).await?;
        Ok(exchange)
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), NoAnswer> {
        let writing = async {
            self.socket.write_all(bytes).await?;
            self.socket.flush().await
        };
        match tokio::time::timeout(self.deadline, writing).await {
            Ok(Ok(())) => {}
            // A server may answer a request that it does not want to read to its end.
            Ok(Err(error)) => self.broken = Some(error),
            Err(_) => return Err(NoAnswer::Deadline(self.deadline)),
        }
        Ok(())
    }

    /// Writes the last byte: now the server has the request.
    pub(crate) async fn release(&mut self) -> Result<(), NoAnswer> {
        let rest = std::mem::take(&mut self.rest);
        if self.broken.is_some() { Ok(()) } else { self.write(&rest).await }
    }

    /// Waits for the whole answer.
    pub(crate) async fn answer(mut self) -> Result<Answer, NoAnswer> {
        let deadline = self.deadline;
        let reading = async {
            let mut bytes = Vec::new();
            let mut buffer = vec![0; 16 * 1024];
            loop {
                if let Some(answer) = parse::whole(&bytes, false)? {
                    return Ok(answer);
                }
                // An end without TLS's farewell, or a reset, is an end.
                match self.socket.read(&mut buffer).await.unwrap_or(0) {
                    0 => return parse::whole(&bytes, true)?.ok_or(NoAnswer::Closed),
                    count => bytes.extend_from_slice(&buffer[..count]),
                }
                if bytes.len() > parse::LIMIT {
                    return Err(NoAnswer::Malformed("it is too long".to_owned()));
                }
            }
        };
        tokio::time::timeout(deadline, reading).await.unwrap_or(Err(NoAnswer::Deadline(deadline)))
    }

    /// Waits until the answer begins, so that the server is done, and closes the connection without having read it.
    pub(crate) async fn lose_answer(mut self) -> Result<(), NoAnswer> {
        let mut first = [0];
        match tokio::time::timeout(self.deadline, self.socket.read(&mut first)).await {
            Err(_) => Err(NoAnswer::Deadline(self.deadline)),
            Ok(Ok(1)) => Ok(()),
            Ok(_) => Err(NoAnswer::Closed),
        }
    }
}

/// Sends a request and waits for its answer.
pub(crate) async fn send(target: &Target, request: &Request, deadline: Duration) -> Result<Answer, NoAnswer> {
    let mut exchange = Exchange::begin(target, request, deadline).await?;
    exchange.release().await?;
    exchange.answer().await
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
