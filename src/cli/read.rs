//! The commands that only read: `lookup`, `held list`, `held show`, `export`.

use std::io::Read as _;
use std::net::IpAddr;
use std::path::Path;

use super::args::{ExportArgs, LookupArgs};
use super::exit::Exit;
use super::output::{complain, print, write_out};
use super::owner::{read, shape};
use super::stop::Stop;
use super::text::time;
use crate::cycle::shapes::{HeldShape, LookupShape};
use crate::cycle::{Answer, ExportRequest, LookupRequest, Operation, TemplateRequest};
use crate::format::{Template, by_name};

/// Runs `lookup`.
pub(crate) async fn lookup(args: &LookupArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let mut ips = Vec::new();
    for text in &args.addresses {
        if text == "-" {
            let mut input = String::new();
            std::io::stdin()
                .read_to_string(&mut input)
                .map_err(|e| Stop::failed(format!("standard input cannot be read: {e}")))?;
            for line in input.lines().map(str::trim).filter(|line| !line.is_empty()) {
                ips.push(address(line)?);
            }
        } else {
            ips.push(address(text)?);
        }
    }
    let request = LookupRequest {
        ips,
        space: args.space.clone(),
        service: args.service.clone(),
        at: args.at.as_deref().map(time).transpose().map_err(Stop::usage)?,
        generation: args.generation,
    };
    Ok(print(&shape::<Vec<LookupShape>>(read(config, Operation::Lookup(request)).await?)?, json))
}

pub(super) fn address(text: &str) -> Result<IpAddr, Stop> {
    text.parse().map_err(|_| Stop::usage(format!("`{text}` is not an IPv4 or IPv6 address")))
}

/// Runs `held list`.
pub(crate) async fn held_list(config: &Path, json: bool) -> Result<Exit, Stop> {
    Ok(print(&shape::<Vec<HeldShape>>(read(config, Operation::Held).await?)?, json))
}

/// Runs `held show`.
pub(crate) async fn held_show(id: u64, config: &Path, json: bool) -> Result<Exit, Stop> {
    let held: Vec<HeldShape> = shape(read(config, Operation::Held).await?)?;
    let hold = held.into_iter().find(|hold| hold.id == id);
    let hold =
        hold.ok_or_else(|| Stop::usage(format!("there is no held change {id}; see `poolsync held list`")))?;
    Ok(print(&hold, json))
}

/// Runs `export`. The file is what the format says; `--json` changes nothing about it.
pub(crate) async fn export(args: &ExportArgs, config: &Path) -> Result<Exit, Stop> {
    by_name(&args.format).map_err(|e| Stop::usage(e.to_string()))?;
    let request = ExportRequest {
        format: args.format.clone(),
        space: args.space.clone(),
        service: args.service.clone(),
        generation: args.generation,
        template: args.template.as_ref().map(|from| template(from, args)).transpose()?,
    };
    let Answer::File(octets) = read(config, Operation::Export(request)).await? else {
        return Err(Stop::failed("the answer is not understood"));
    };
    match &args.output {
        Some(path) => {
            crate::publish::write_file(path, &octets).map_err(|e| Stop::failed(e.detail))?;
            complain(&format!("wrote {} octets to {}", octets.len(), path.display()));
        }
        None => write_out(&octets, false),
    }
    Ok(Exit::Ok)
}

/// The lines that an export is made of: a template that is built in, or a file's.
fn template(from: &str, args: &ExportArgs) -> Result<TemplateRequest, Stop> {
    if args.format != "template" {
        return Err(Stop::usage("`--template` goes with `-f template`"));
    }
    let text = match Template::text(from) {
        Ok(text) => text.to_owned(),
        Err(unknown) => std::fs::read_to_string(from)
            .map_err(|e| Stop::usage(format!("{unknown}; nor is it a file: {e}")))?,
    };
    let (name, ttl, nameserver) = (args.name.clone(), Some(args.ttl), args.nameserver.clone());
    Ok(TemplateRequest { text, name, ttl, nameserver })
}
