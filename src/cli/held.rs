//! `held approve` and `held reject`.

use std::path::Path;

use super::args::ApproveArgs;
use super::exit::Exit;
use super::output::{complain, print};
use super::owner::{change, shape};
use super::stop::Stop;
use super::text::counted;
use crate::cycle::shapes::HeldShape;
use crate::cycle::{ApproveRequest, Operation};

/// Runs `held approve`.
pub(crate) async fn approve(args: &ApproveArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let approved: Vec<HeldShape> = shape(change(config, Operation::Approve(request(args))).await?)?;
    complain(&format!("approved {}", counted(approved.len(), "change", "changes")));
    Ok(print(&approved, json))
}

/// Runs `held reject`.
pub(crate) async fn reject(args: &ApproveArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let rejected: Vec<HeldShape> = shape(change(config, Operation::Reject(request(args))).await?)?;
    let count = counted(rejected.len(), "change", "changes");
    complain(&format!("rejected {count}: held as before, and not confirmed by polls any more"));
    Ok(print(&rejected, json))
}

fn request(args: &ApproveArgs) -> ApproveRequest {
    ApproveRequest {
        ids: args.ids.clone(),
        incident: args.incident,
        bas: args.bas.clone(),
        digest: args.digest.clone(),
        reason: args.signed.reason.clone(),
        by: args.signed.by.clone(),
    }
}
