//! Old tables: read, and made into static files by `import`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::exit::Exit;
use super::old_args::{AgainstArgs, ImportArgs};
use super::output::{Report, complain, print};
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{counted, grouped};
use crate::coverage::{
    Column, Known, Legacy, LegacyError, LegacyFormat, ReadOptions, Remark, RemarkKind, StaticFile,
};
use crate::cycle::known_names;

/// The configuration that commands fall back to; without it `import` takes names as they are.
const DEFAULT_CONFIG: &str = "/etc/poolsync/config.toml";

/// A file, or standard input where it is called `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Stop> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let failed = |e: io::Error| Stop::failed(format!("{}: cannot be read: {e}", path.display()));
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(Stop::failed(format!("{}: is a folder", path.display())));
    }
    Ok(Box::new(file))
}

/// Its name in messages.
pub(super) fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// The old table that is to be held against the table, where one is named; what of it was
/// not taken is said.
pub(super) async fn reading(args: &AgainstArgs, site: &Site) -> Result<Option<Legacy>, Stop> {
    let Some(path) = args.against.clone() else { return Ok(None) };
    let known = known_names(&site.config);
    let options = options(args.against_format.as_deref(), args.columns.as_deref(), known)?;
    let read = tokio::task::spawn_blocking(move || {
        let old = read(&path, &options)?;
        remarks(&path, &old.remarks, old.more_remarks).iter().for_each(|remark| complain(remark));
        Ok(Some(old))
    });
    read.await.map_err(|e| Stop::failed(format!("the old table was not read: {e}")))?
}

fn read(path: &Path, options: &ReadOptions) -> Result<Legacy, Stop> {
    Legacy::read(open(path)?, options).map_err(|error| {
        let (name, detail) = (name_of(path), error.to_string());
        match error {
            LegacyError::Columns { .. } => Stop::usage(format!("{name}: {detail} (`--columns`)")),
            LegacyError::Nothing { format, first } => Stop::failed(format!(
                "{name}: none of its lines can be read as {format}; the first: {}",
                placed(path, &first)
            )),
            _ => Stop::failed(format!("{name}: {detail}")),
        }
    })
}

fn options(format: Option<&str>, columns: Option<&str>, known: Known) -> Result<ReadOptions, Stop> {
    let format = match format {
        None => None,
        Some(name) => Some(LegacyFormat::of_name(name).ok_or_else(|| {
            let known: Vec<&str> = LegacyFormat::ALL.iter().map(|format| format.name()).collect();
            Stop::usage(format!("`{name}` is no format of old tables; there are: {}", known.join(", ")))
        })?),
    };
    let columns = columns.map(|list| list.split(',').map(|word| word.trim().parse::<Column>()).collect());
    Ok(ReadOptions { format, columns: columns.transpose().map_err(Stop::usage)?, known })
}

/// Remarks as `FILE:LINE: what is the matter`.
fn remarks(path: &Path, remarks: &[Remark], more: u64) -> Vec<String> {
    let mut told: Vec<String> = remarks.iter().map(|remark| placed(path, remark)).collect();
    if more > 0 {
        told.push(format!("{}: and {} lines more", name_of(path), grouped(&more.to_string())));
    }
    told
}

fn placed(path: &Path, remark: &Remark) -> String {
    let name = name_of(path);
    let place = if remark.line > 0 { format!("{name}:{}", remark.line) } else { name };
    let text = if remark.text.is_empty() { String::new() } else { format!(": {}", remark.text) };
    let taken = if remark.kind.left_out() { "left out" } else { "taken" };
    format!("{place}: {taken}: {}{text}", remark.detail)
}

/// Whether something is lost with the line.
pub(super) const fn loses(kind: RemarkKind) -> bool {
    kind.left_out() && !matches!(kind, RemarkKind::Repeated | RemarkKind::Everything)
}

/// What `import` did.
#[derive(Debug, Serialize)]
struct Imported {
    file: String,
    format: LegacyFormat,
    /// Rows that were read.
    rows: u64,
    /// Lines of the static file.
    lines: u64,
    /// Lines of the old table that were left out, and are not in another one.
    lost: u64,
    /// What it gives to addresses in no row: the configuration's `default-edge` stands for it.
    default: Option<String>,
    /// Whether overlapping rows were cut into pieces.
    flattened: bool,
    /// Whether names were held against a configuration.
    checked: bool,
    /// Where the static file is; null: on standard output, or here.
    output: Option<PathBuf>,
    /// The static file, where it was written nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    csv: Option<String>,
    remarks: Vec<Remark>,
    more_remarks: u64,
}

impl Report for Imported {
    /// The static file itself goes to standard output where it goes nowhere else.
    fn text(&self) -> String {
        match (&self.csv, &self.output) {
            (Some(csv), _) => csv.clone(),
            (None, Some(path)) => format!("{}: {}\n", path.display(), self.told()),
            (None, None) => String::new(),
        }
    }

    fn exit(&self) -> Exit {
        if self.lost > 0 { Exit::Incomplete } else { Exit::Ok }
    }

    fn remarks(&self) -> Vec<String> {
        let mut told = remarks(Path::new(&self.file), &self.remarks, self.more_remarks);
        if self.output.is_none() {
            told.push(format!("{}: {}", self.file, self.told()));
        }
        if self.flattened {
            told.push(
                "note: overlapping rows were cut: which of them answers is not as static lines choose"
                    .to_owned(),
            );
        }
        if let Some(default) = &self.default {
            told.push(format!(
                "note: addresses in no row went to {default}: `default-edge` of the configuration says where they go"
            ));
        }
        if !self.checked {
            told.push(
                "note: there is no configuration: names were taken for edges, and not checked".to_owned(),
            );
        }
        told
    }
}

impl Imported {
    fn told(&self) -> String {
        let lost = match self.lost {
            0 => "nothing lost".to_owned(),
            lost => format!("{} left out", counted(lost as usize, "line", "lines")),
        };
        format!(
            "{} rows of {}, {} static lines; {lost}",
            grouped(&self.rows.to_string()),
            self.format,
            grouped(&self.lines.to_string())
        )
    }
}

/// Runs `import`.
pub(crate) fn import(args: &ImportArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    if let Some(path) = args.output.as_ref().filter(|path| !args.force && path.exists()) {
        return Err(Stop::usage(format!("{}: is there already; `--force` replaces it", path.display())));
    }
    let known = match config.exists() || config != Path::new(DEFAULT_CONFIG) {
        true => Some(known_names(&Site::load(config, Secrets::NotNeeded)?.config)),
        false => None,
    };
    let options =
        options(args.format.as_deref(), args.columns.as_deref(), known.clone().unwrap_or_default())?;
    let old = read(&args.file, &options)?;
    let made = old.static_file(known.as_ref());
    if let Some(path) = &args.output {
        write(path, &made.csv, args.force)?;
    }
    Ok(print(&imported(args, old, made), json))
}

fn imported(args: &ImportArgs, old: Legacy, made: StaticFile) -> Imported {
    let written = args.output.is_some();
    let remarks: Vec<Remark> = old.remarks.into_iter().chain(made.remarks).collect();
    Imported {
        file: name_of(&args.file),
        format: old.format,
        rows: old.rows.len() as u64,
        lines: made.rows,
        lost: remarks.iter().filter(|remark| loses(remark.kind)).count() as u64 + old.more_remarks,
        default: old.default.map(|target| target.label().to_string()),
        flattened: made.flattened,
        checked: !made.unchecked,
        output: args.output.clone(),
        csv: (!written).then_some(made.csv),
        remarks,
        more_remarks: old.more_remarks,
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str, replace: bool) -> Result<(), Stop> {
    let failed = |e: io::Error| Stop::failed(format!("{}: cannot be written: {e}", path.display()));
    if !replace {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        return file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error)).map(|_| ())
}
