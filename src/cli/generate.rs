//! `generate`: what a package ships beside the program, made from the program itself.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_mangen::roff::{Roff, bold, roman};
use serde_json::json;

use super::args::{Cli, GenerateCommand};
use super::exit::Exit;
use super::output::write_out;
use super::stop::Stop;

/// The unit as it is shipped: the program and its configuration in a package's places.
const UNIT: &str = include_str!("../../config/poolsync.service");

/// The exit codes, as the manual pages list them.
const EXIT_CODES: [(&str, &str); 6] = [
    ("0", "Done."),
    ("1", "Not done."),
    ("2", "Asked for wrongly: an unknown name, an address that is none."),
    ("3", "Done, but something could not be read or published."),
    ("4", "Something is held back for a person, or two tables differ."),
    ("78", "The configuration is broken; the message names file, line and key."),
];

/// Runs `generate`; with `--json` the text is one string, as `text`.
pub(crate) fn run(command: &GenerateCommand, config: &Path, json: bool) -> Result<Exit, Stop> {
    let text = match command {
        GenerateCommand::Man { dir: Some(dir) } => return pages_to(dir, json),
        GenerateCommand::Man { dir: None } => page(&command_line())?,
        GenerateCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command_line(), "poolsync", &mut script);
            script
        }
        GenerateCommand::Unit => unit(config)?.into_bytes(),
    };
    if json {
        let text = String::from_utf8_lossy(&text);
        write_out(json!({ "text": text }).to_string().as_bytes(), true);
    } else {
        write_out(&text, false);
    }
    Ok(Exit::Ok)
}

/// The whole command line, with the global options known to each command.
fn command_line() -> clap::Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// One manual page (section 1).
fn page(command: &clap::Command) -> Result<Vec<u8>, Stop> {
    let man = clap_mangen::Man::new(command.clone()).manual("poolsync");
    let mut text = Vec::new();
    let mut more = Roff::default();
    more.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        more.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    more.control("SH", ["FILES"]);
    more.control("TP", []).text([bold("/etc/poolsync/config.toml")]).text([roman("The configuration.")]);
    let written = man.render(&mut text).and_then(|()| more.to_writer(&mut text));
    written.map_err(|e| Stop::failed(format!("the page cannot be made: {e}")))?;
    Ok(text)
}

/// A page for the program and for each command and its commands: `poolsync-held-list.1`.
fn pages_to(dir: &Path, json: bool) -> Result<Exit, Stop> {
    let mut files = Vec::new();
    std::fs::create_dir_all(dir).map_err(|e| Stop::failed(format!("{}: {e}", dir.display())))?;
    write_pages(&command_line(), dir, &mut files)?;
    if json {
        let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        write_out(json!({ "files": files }).to_string().as_bytes(), true);
    } else {
        let lines: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
        write_out(lines.as_bytes(), false);
    }
    Ok(Exit::Ok)
}

fn write_pages(command: &clap::Command, dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Stop> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let file = dir.join(format!("{name}.1"));
    std::fs::write(&file, page(command)?).map_err(|e| Stop::failed(format!("{}: {e}", file.display())))?;
    files.push(file);
    command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .try_for_each(|one| write_pages(one, dir, files))
}

/// The unit of the service manager, with this program and the configuration in their places.
fn unit(config: &Path) -> Result<String, Stop> {
    let here = |what: &str, path: std::io::Result<PathBuf>| {
        path.map_err(|e| Stop::failed(format!("where {what} is cannot be told: {e}")))
    };
    let program = quoted(&here("this program", std::env::current_exe())?)?;
    let config = quoted(&here("the configuration", std::path::absolute(config))?)?;
    Ok(UNIT.replace("/usr/bin/poolsync", &program).replace("/etc/poolsync/config.toml", &config))
}

/// A path as a word of a unit's command (systemd.service, "Command lines"): `%` and `$` are
/// doubled, and it is quoted where it has to be.
fn quoted(path: &Path) -> Result<String, Stop> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| {
        Stop::failed(format!("{}: a path that a unit cannot name; move it to a plain one", path.display()))
    })?;
    let doubled = text.replace('%', "%%").replace('$', "$$");
    if doubled.contains([' ', '"', '\'', '\\', ';']) {
        return Ok(format!("\"{}\"", doubled.replace('\\', "\\\\").replace('"', "\\\"")));
    }
    Ok(doubled)
}
