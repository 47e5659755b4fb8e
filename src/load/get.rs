//! One HTTP GET.

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HOST, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::error::LoadError;
use super::url::Url;

/// What an answer may have at most, in octets.
const MOST: usize = 16 * 1024 * 1024;

/// The body of the answer to a GET. The caller sets the time that it may take.
pub(super) async fn get(url: &Url, authorization: Option<&str>) -> Result<Bytes, LoadError> {
    let failed = |detail: String| LoadError::Http { url: url.to_string(), detail };
    let stream =
        TcpStream::connect((url.host.as_str(), url.port)).await.map_err(|e| failed(e.to_string()))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(e.to_string()))?;
    let driver = Driver(tokio::spawn(async move {
        // What breaks the connection also breaks the request, which reports it.
        let _ = connection.await;
    }));
    let mut request = Request::get(&url.path)
        .header(HOST, url.authority())
        .header(USER_AGENT, concat!("poolsync/", env!("CARGO_PKG_VERSION")));
    if let Some(authorization) = authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    let request = request.body(Empty::<Bytes>::new()).map_err(|e| failed(e.to_string()))?;
    let response = sender.send_request(request).await.map_err(|e| failed(e.to_string()))?;
    if response.status() != StatusCode::OK {
        return Err(failed(format!("status {}", response.status())));
    }
    let body = Limited::new(response.into_body(), MOST).collect().await.map_err(|e| failed(e.to_string()))?;
    drop(driver);
    Ok(body.to_bytes())
}

/// The task that drives a connection, which ends with the request, also where that is given up.
struct Driver(tokio::task::JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}
