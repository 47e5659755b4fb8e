//! The routes, and the way a request takes to the one task that owns the store.

use axum::body::Bytes;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::peer::Asking;
use crate::cycle::{Answer, Operation, Problem, Reply, Who};

/// One request on its way to the owner of the store.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub operation: Operation,
    /// Who asks.
    pub who: Who,
    /// Where the reply goes. Whoever asked may have left.
    pub reply: oneshot::Sender<Reply>,
}

/// What handlers hold: the way to the owner of the store.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: mpsc::Sender<Request>,
}

impl Handle {
    /// A handle, and the end at which its requests arrive.
    pub fn new(depth: usize) -> (Self, mpsc::Receiver<Request>) {
        let (requests, arriving) = mpsc::channel(depth);
        (Self { requests }, arriving)
    }

    /// Asks, and waits for the reply.
    ///
    /// # Errors
    /// What the owner of the store answers; `stopping` where it no longer does.
    pub async fn ask(&self, operation: Operation) -> Reply {
        self.ask_as(operation, Who::nobody()).await
    }

    /// The same, for somebody.
    ///
    /// # Errors
    /// As for [`Handle::ask`].
    pub async fn ask_as(&self, operation: Operation, who: Who) -> Reply {
        let (reply, answer) = oneshot::channel();
        if self.requests.send(Request { operation, who, reply }).await.is_err() {
            return Err(stopping());
        }
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }
}

fn stopping() -> Problem {
    Problem::new(503, "stopping", "the daemon is stopping", "try again when it runs")
}

/// The routes that only read, for TCP.
pub fn reading(handle: Handle) -> Router {
    read_only().fallback(nothing_there).with_state(handle)
}

/// The routes of the control socket.
pub fn router(handle: Handle) -> Router {
    read_only()
        .route("/api/v1/held/approve", act(Operation::Approve))
        .route("/api/v1/held/reject", act(Operation::Reject))
        .route("/api/v1/edges/drain", act(Operation::Drain))
        .route("/api/v1/edges/undrain", act(Operation::Undrain))
        .route("/api/v1/rollback", act(Operation::Rollback))
        .route("/api/v1/freeze", act(Operation::Freeze))
        .route("/api/v1/release", act(Operation::Release))
        .route("/api/v1/poll", act(Operation::Poll))
        .route("/api/v1/reload", act(Operation::Reload))
        .fallback(nothing_there)
        .with_state(handle)
}

fn read_only() -> Router<Handle> {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/api/v1/status", ask(Operation::Status))
        .route("/api/v1/held", ask(Operation::Held))
        .route("/api/v1/edges", ask(Operation::Edges))
        .route("/api/v1/conflicts", ask(Operation::Conflicts))
        .route("/api/v1/plan", ask(Operation::Plan))
        .route("/api/v1/diff", act(Operation::Diff))
        .route("/api/v1/explain", act(Operation::Explain))
        .route("/api/v1/history", act(Operation::History))
        .route("/api/v1/lookup", act(Operation::Lookup))
        .route("/api/v1/export", act(Operation::Export))
}

/// What is asked without a body.
fn ask(operation: Operation) -> MethodRouter<Handle> {
    get(async move |State(handle): State<Handle>| respond(handle.ask(operation).await))
}

/// What is asked with a body.
fn act<T: DeserializeOwned + Send + 'static>(make: fn(T) -> Operation) -> MethodRouter<Handle> {
    post(async move |State(handle): State<Handle>, Asking(who): Asking, Body(request): Body<T>| {
        respond(handle.ask_as(make(request), who).await)
    })
}

async fn ready(State(handle): State<Handle>) -> Response {
    match handle.ask(Operation::Status).await {
        Ok(Answer::Json(status)) if status.get("filled") == Some(&serde_json::Value::Bool(true)) => {
            "ready\n".into_response()
        }
        Ok(_) => {
            let wait = [(header::RETRY_AFTER, "30")];
            let detail = "not enough of the fleet has been read; /api/v1/status shows how far it is";
            (wait, problem(Problem::new(503, "not-filled", "nothing is published yet", detail)))
                .into_response()
        }
        Err(refusal) => problem(refusal),
    }
}

async fn nothing_there() -> Response {
    problem(Problem::new(404, "not-found", "nothing is there", "the paths begin with /api/v1/"))
}

fn respond(reply: Reply) -> Response {
    match reply {
        Ok(Answer::Json(value)) => Json(value).into_response(),
        Ok(Answer::File(octets)) => {
            ([(header::CONTENT_TYPE, "application/octet-stream")], Bytes::from(octets)).into_response()
        }
        Err(refusal) => problem(refusal),
    }
}

fn problem(problem: Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, kind, serde_json::to_vec(&problem).unwrap_or_default()).into_response()
}

/// A JSON body; what is wrong with it is answered as a problem.
struct Body<T>(T);

impl<S: Send + Sync, T> FromRequest<S> for Body<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
{
    type Rejection = Response;

    async fn from_request(request: axum::extract::Request, state: &S) -> Result<Self, Response> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(problem(Problem::new(
                rejection.status().as_u16(),
                "bad-request",
                "the request cannot be read",
                &rejection.body_text(),
            ))),
        }
    }
}
