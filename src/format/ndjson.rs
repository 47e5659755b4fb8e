//! `ndjson`: one entry a line, each an object as in `json`, and nothing else: for `jq`,
//! `split` and loaders that take a stream. Generation, row count and checksum are in the
//! manifest; the default is the reader's.

use super::entry_json::{self, EntryIn};
use super::readback::Collector;
use super::rest::Rest;
use super::{Format, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View};

/// See the module.
#[derive(Debug)]
pub(super) struct Ndjson;

impl Format for Ndjson {
    fn name(&self) -> &'static str {
        "ndjson"
    }

    fn about(&self) -> &'static str {
        "one JSON object a line, an entry each"
    }

    fn spaces(&self) -> Spaces {
        Spaces::Named
    }

    fn render(&self, view: &View<'_>, _stamp: &Stamp) -> Result<Rendered, RenderError> {
        let mut body = Vec::new();
        for row in view.rows() {
            entry_json::write(&mut body, row)?;
            body.push(b'\n');
        }
        Ok(Rendered { body, rows: view.rows().len() as u64, ..Rendered::default() })
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        proves(file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        let mut collector = Collector::default();
        let mut rest = file;
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            let error = |problem: String| ReadError::new(format!("line {number}"), problem);
            let end = rest.iter().position(|b| *b == b'\n');
            let (line, behind) = end
                .and_then(|end| rest.split_at_checked(end + 1))
                .ok_or_else(|| error("the line has no end".to_owned()))?;
            let entry: EntryIn<'_> = serde_json::from_slice(line).map_err(|e| error(e.to_string()))?;
            entry.collect(&mut collector).map_err(error)?;
            rest = behind;
        }
        Ok(collector.finish(None))
    }
}

/// Whether the file says what the view says, line by line. See [`Format::proves`].
fn proves(file: &[u8], view: &View<'_>) -> Option<()> {
    let mut rest = Rest(file);
    for row in view.rows() {
        entry_json::says(&mut rest, row)?;
        rest.text("\n")?;
    }
    rest.is_empty().then_some(())
}
