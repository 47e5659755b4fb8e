//! How exports look in `status`.

use std::fmt::Write as _;

use super::text::{Grid, age, dash, local, state};
use crate::cycle::shapes::{EffectShape, ExportShape};

/// The exports, and below them what is wrong with some.
pub(super) fn exports_text(exports: &[ExportShape]) -> String {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut grid = Grid::new(&[
        "EXPORT",
        "STATE",
        "SINCE",
        "REASON",
        ">GENERATION",
        ">CONFIRMED",
        ">IN EFFECT WITHIN",
        "NEXT TRY",
    ]);
    let mut remarks = String::new();
    for export in exports {
        let EffectShape { poll_s, pace_s, publish_s, ttl_s } = export.effect;
        let parts: Vec<String> = [(poll_s, "poll"), (pace_s, "pace"), (publish_s, "publish"), (ttl_s, "ttl")]
            .into_iter()
            .filter(|(seconds, _)| *seconds > 0)
            .map(|(seconds, word)| format!("{word} {seconds} s"))
            .collect();
        grid.row([
            export.name.clone(),
            state(&export.state),
            or_dash(export.since.map(local)),
            dash(export.reason.as_deref()).to_owned(),
            or_dash(export.generation.map(|g| g.to_string())),
            or_dash(export.confirmed_age_s.map(|s| format!("{} ago", age(s)))),
            format!("{} s ({})", export.effect_s, parts.join(", ")),
            or_dash(export.retry_at.map(local)),
        ]);
        if let Some(detail) = &export.detail {
            let _ = writeln!(remarks, "{}: {detail}", export.name);
        }
    }
    grid.finish() + &remarks
}
