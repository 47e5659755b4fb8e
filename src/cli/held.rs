//! `held approve`.

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
    let request = ApproveRequest {
        ids: args.ids.clone(),
        incident: args.incident,
        bas: args.bas.clone(),
        digest: args.digest.clone(),
        reason: args.reason.clone(),
    };
    let approved: Vec<HeldShape> = shape(change(config, Operation::Approve(request)).await?)?;
    complain(&format!("approved {}", counted(approved.len(), "change", "changes")));
    Ok(print(&approved, json))
}
