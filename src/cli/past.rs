//! What was, and why: `history`, `diff`, `conflicts`, `explain`; and what is: `status`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use super::args::{DiffArgs, ExplainArgs, HistoryArgs, StatusArgs};
use super::exit::Exit;
use super::output::{Report, complain, print, show};
use super::owner::{read, shape};
use super::read::address;
use super::stop::Stop;
use crate::cycle::shapes::{
    ConflictShape, DiffShape, ExplainShape, GenerationShape, HistoryShape, StatusShape,
};
use crate::cycle::{DiffRequest, ExplainRequest, HistoryRequest, Operation};

/// How often `status --watch` looks.
const WATCH: Duration = Duration::from_secs(2);
/// Home, and everything below erased (ECMA-48).
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Runs `history`.
pub(crate) async fn history(args: &HistoryArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = HistoryRequest { of: args.of.clone(), limit: args.limit };
    let answer = read(config, Operation::History(request)).await?;
    Ok(match args.of {
        Some(_) => print(&shape::<HistoryShape>(answer)?, json),
        None => print(&shape::<Vec<GenerationShape>>(answer)?, json),
    })
}

/// Runs `diff`.
pub(crate) async fn diff(args: &DiffArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = DiffRequest { from: args.from, to: args.to };
    Ok(print(&shape::<DiffShape>(read(config, Operation::Diff(request)).await?)?, json))
}

/// Runs `conflicts`.
pub(crate) async fn conflicts(config: &Path, json: bool) -> Result<Exit, Stop> {
    Ok(print(&shape::<Vec<ConflictShape>>(read(config, Operation::Conflicts).await?)?, json))
}

/// Runs `explain`.
pub(crate) async fn explain(args: &ExplainArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = ExplainRequest {
        ip: address(&args.address)?,
        space: args.space.clone(),
        service: args.service.clone(),
    };
    Ok(print(&shape::<ExplainShape>(read(config, Operation::Explain(request)).await?)?, json))
}

/// Runs `status`.
pub(crate) async fn status(args: &StatusArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    if !args.watch {
        return Ok(print(&shape::<StatusShape>(read(config, Operation::Status).await?)?, json));
    }
    let clear = !json && std::io::stdout().is_terminal();
    loop {
        let text = match read(config, Operation::Status).await {
            Ok(answer) => watched(&shape(answer)?, json)?,
            // A daemon that starts anew is waited for; a broken configuration is not.
            Err(Stop { exit: Exit::Failed, message }) if !json => format!("{message}\n"),
            Err(Stop { exit: Exit::Failed, message }) => {
                complain(&format!("poolsync: {message}"));
                String::new()
            }
            Err(stop) => return Err(stop),
        };
        if !show(&format!("{}{text}", if clear { CLEAR } else { "" })) {
            return Ok(Exit::Ok);
        }
        tokio::time::sleep(WATCH).await;
    }
}

/// One look: with JSON an object a line.
fn watched(status: &StatusShape, json: bool) -> Result<String, Stop> {
    if !json {
        return Ok(status.text());
    }
    let line = serde_json::to_string(status).map_err(|e| Stop::failed(e.to_string()))?;
    Ok(format!("{line}\n"))
}
