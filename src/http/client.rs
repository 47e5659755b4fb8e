//! The command line's side of the control socket.

use std::io;
use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::UnixStream;

use crate::cycle::{Answer, Operation, Problem};

/// Why the daemon gave no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The daemon answered with a problem.
    #[error("{}: {}", .0.title, .0.detail)]
    Refused(Problem),
    /// The socket is there, but the conversation failed.
    #[error("the daemon at {} does not answer properly: {detail}", .path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// What went wrong.
        detail: String,
    },
    /// The socket may not be used by this user.
    #[error("the control socket {} may not be used by this user ({source}); run as the service's user or as root", .path.display())]
    Forbidden {
        /// The socket.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

/// A connection to a running daemon.
#[derive(Debug)]
pub struct ControlClient {
    path: PathBuf,
    stream: UnixStream,
}

impl ControlClient {
    /// Connects to the daemon; none where no daemon listens on the socket.
    ///
    /// # Errors
    /// Where one may listen there, but this user may not ask.
    pub async fn connect(path: &Path) -> Result<Option<Self>, ClientError> {
        match UnixStream::connect(path).await {
            Ok(stream) => Ok(Some(Self { path: path.to_owned(), stream })),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                Err(ClientError::Forbidden { path: path.to_owned(), source: e })
            }
            Err(_) => Ok(None),
        }
    }

    /// Asks, and waits for the answer, however long a poll takes.
    ///
    /// # Errors
    /// Where the daemon refuses, or the conversation fails.
    pub async fn ask(self, operation: Operation) -> Result<Answer, ClientError> {
        let path = self.path.clone();
        let broken = |detail: String| ClientError::Broken { path: path.clone(), detail };
        let request = request(operation).map_err(|e| broken(e.to_string()))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(self.stream))
            .await
            .map_err(|e| broken(e.to_string()))?;
        let driver = tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(|e| broken(e.to_string()))?;
        let status = response.status();
        let json =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().ends_with(b"json"));
        let body = response.into_body().collect().await.map_err(|e| broken(e.to_string()))?.to_bytes();
        driver.abort();
        answer(status, json, &body).map_err(|e| match e {
            Ok(problem) => ClientError::Refused(problem),
            Err(detail) => broken(detail),
        })
    }
}

fn answer(status: StatusCode, json: bool, body: &[u8]) -> Result<Answer, Result<Problem, String>> {
    if !status.is_success() {
        return Err(serde_json::from_slice(body).map_err(|_| format!("status {status}")));
    }
    if !json {
        return Ok(Answer::File(body.to_vec()));
    }
    serde_json::from_slice(body).map(Answer::Json).map_err(|e| Err(e.to_string()))
}

/// The HTTP request of an operation.
fn request(operation: Operation) -> Result<Request<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
    let post = |path, body: Result<Vec<u8>, serde_json::Error>| (path, Some(body));
    let (path, body) = match operation {
        Operation::Status => ("status", None),
        Operation::Held => ("held", None),
        Operation::Edges => ("edges", None),
        Operation::Conflicts => ("conflicts", None),
        Operation::Plan => ("plan", None),
        Operation::Diff(body) => post("diff", serde_json::to_vec(&body)),
        Operation::Explain(body) => post("explain", serde_json::to_vec(&body)),
        Operation::History(body) => post("history", serde_json::to_vec(&body)),
        Operation::Approve(body) => post("held/approve", serde_json::to_vec(&body)),
        Operation::Reject(body) => post("held/reject", serde_json::to_vec(&body)),
        Operation::Drain(body) => post("edges/drain", serde_json::to_vec(&body)),
        Operation::Undrain(body) => post("edges/undrain", serde_json::to_vec(&body)),
        Operation::Rollback(body) => post("rollback", serde_json::to_vec(&body)),
        Operation::Freeze(body) => post("freeze", serde_json::to_vec(&body)),
        Operation::Release(body) => post("release", serde_json::to_vec(&body)),
        Operation::Export(body) => post("export", serde_json::to_vec(&body)),
        Operation::Lookup(body) => post("lookup", serde_json::to_vec(&body)),
        Operation::Poll(body) => post("poll", serde_json::to_vec(&body)),
        Operation::Reload(body) => post("reload", serde_json::to_vec(&body)),
    };
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let body = body.transpose()?.unwrap_or_default();
    let mut request =
        Request::builder().method(method).uri(format!("/api/v1/{path}")).header(HOST, "localhost");
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    Ok(request.body(Full::new(Bytes::from(body)))?)
}
