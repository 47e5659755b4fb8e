//! The format of an export's table.

use std::ops::Deref;
use std::sync::Arc;

use crate::format::{Format, Template};

/// A format of the list, or a template of the operator's.
#[derive(Clone, Debug)]
pub enum TableFormat {
    /// One of the list.
    Known(&'static dyn Format),
    /// A template.
    Template(Arc<Template>),
}

impl Deref for TableFormat {
    type Target = dyn Format;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Known(format) => *format,
            Self::Template(template) => template.as_ref(),
        }
    }
}

impl From<&'static dyn Format> for TableFormat {
    fn from(format: &'static dyn Format) -> Self {
        Self::Known(format)
    }
}

impl From<Template> for TableFormat {
    fn from(template: Template) -> Self {
        Self::Template(Arc::new(template))
    }
}
