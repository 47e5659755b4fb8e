//! Printing: data to standard output as text or JSON, everything else to standard error.

use std::io::{self, Write};

use serde::Serialize;

use super::exit::Exit;

/// What a command found: printed as text or as JSON, from the same value.
pub(crate) trait Report: Serialize {
    /// The report for people, lines ended.
    fn text(&self) -> String;

    /// The exit code that goes with it.
    fn exit(&self) -> Exit {
        Exit::Ok
    }

    /// What should be said on standard error beside the report.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Prints a report and gives its exit code.
pub(crate) fn print<R: Report>(report: &R, json: bool) -> Exit {
    if json {
        match serde_json::to_string_pretty(report) {
            Ok(text) => write_out(text.as_bytes(), true),
            Err(e) => {
                complain(&format!("the report cannot be written as JSON: {e}"));
                return Exit::Failed;
            }
        }
    } else {
        write_out(report.text().as_bytes(), false);
    }
    for remark in report.remarks() {
        complain(&remark);
    }
    report.exit()
}

/// Writes octets to standard output. A reader that has left (`| head`) is no error.
pub(crate) fn write_out(octets: &[u8], line_end: bool) {
    let mut out = anstream::stdout().lock();
    let _reader_left =
        out.write_all(octets).and_then(|()| if line_end { out.write_all(b"\n") } else { Ok(()) });
    let _reader_left = out.flush();
}

/// Writes text to standard output; false where nobody reads it any more.
pub(crate) fn show(text: &str) -> bool {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Says something on standard error.
pub(crate) fn complain(text: &str) {
    let mut out = anstream::stderr().lock();
    let _nobody_listens: io::Result<()> = writeln!(out, "{text}");
}
