//! Acts of an operator: `edge`, `rollback`, `freeze`, `unfreeze`.

use std::path::Path;

use super::act_args::{DrainArgs, EdgeCommand, FreezeArgs, RollbackArgs, SignedArgs};
use super::exit::Exit;
use super::output::print;
use super::owner::{change, read, shape};
use super::stop::Stop;
use crate::cycle::shapes::{EdgeShape, PinnedShape};
use crate::cycle::{DrainRequest, FreezeRequest, Operation, ReleaseRequest, RollbackRequest, UndrainRequest};

/// Runs `edge`.
pub(crate) async fn edge(command: &EdgeCommand, config: &Path, json: bool) -> Result<Exit, Stop> {
    let operation = match command {
        EdgeCommand::List => {
            return Ok(print(&shape::<Vec<EdgeShape>>(read(config, Operation::Edges).await?)?, json));
        }
        EdgeCommand::Drain(DrainArgs { name, reason, by }) => {
            Operation::Drain(DrainRequest { edge: name.clone(), reason: reason.clone(), by: by.clone() })
        }
        EdgeCommand::Undrain { name, signed } => Operation::Undrain(UndrainRequest {
            edge: name.clone(),
            reason: signed.reason.clone(),
            by: signed.by.clone(),
        }),
    };
    Ok(print(&shape::<EdgeShape>(change(config, operation).await?)?, json))
}

/// Runs `rollback`.
pub(crate) async fn rollback(args: &RollbackArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let Some(generation) = args.generation else { return unfreeze(&args.signed, config, json).await };
    let request = RollbackRequest {
        generation,
        for_s: args.lasts.seconds(),
        reason: args.signed.reason.clone(),
        by: args.signed.by.clone(),
    };
    pinned(Operation::Rollback(request), config, json).await
}

/// Runs `freeze`.
pub(crate) async fn freeze(args: &FreezeArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = FreezeRequest {
        for_s: args.lasts.seconds(),
        reason: args.signed.reason.clone(),
        by: args.signed.by.clone(),
    };
    pinned(Operation::Freeze(request), config, json).await
}

/// Runs `unfreeze`, and `rollback --release`.
pub(crate) async fn unfreeze(signed: &SignedArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = ReleaseRequest { reason: signed.reason.clone(), by: signed.by.clone() };
    pinned(Operation::Release(request), config, json).await
}

async fn pinned(operation: Operation, config: &Path, json: bool) -> Result<Exit, Stop> {
    Ok(print(&shape::<PinnedShape>(change(config, operation).await?)?, json))
}
