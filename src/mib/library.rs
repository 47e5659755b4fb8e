//! The descriptors at hand: those built into the binary, and those of a folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::descriptor::{Descriptor, Origin};
use super::error::DescriptorError;
use crate::snmp::Oid;
use crate::table::Name;

/// The files of `mibs/`, built in.
const BUILT_IN: [(&str, &str); 14] = [
    ("cisco-ios-xr.toml", include_str!("../../mibs/cisco-ios-xr.toml")),
    ("cisco-ios.toml", include_str!("../../mibs/cisco-ios.toml")),
    ("ericsson-redback.toml", include_str!("../../mibs/ericsson-redback.toml")),
    ("ericsson-ssr.toml", include_str!("../../mibs/ericsson-ssr.toml")),
    ("h3c-comware.toml", include_str!("../../mibs/h3c-comware.toml")),
    ("huawei.toml", include_str!("../../mibs/huawei.toml")),
    ("juniper-junos.toml", include_str!("../../mibs/juniper-junos.toml")),
    ("juniper-junose.toml", include_str!("../../mibs/juniper-junose.toml")),
    ("netelastic-flexbng.toml", include_str!("../../mibs/netelastic-flexbng.toml")),
    ("nokia-sros.toml", include_str!("../../mibs/nokia-sros.toml")),
    ("standard-connected.toml", include_str!("../../mibs/standard-connected.toml")),
    ("standard-inet-routes.toml", include_str!("../../mibs/standard-inet-routes.toml")),
    ("standard-ip-routes.toml", include_str!("../../mibs/standard-ip-routes.toml")),
    ("zte-uas.toml", include_str!("../../mibs/zte-uas.toml")),
];

/// The descriptors at hand, by name.
#[derive(Clone, Debug)]
pub struct Library {
    descriptors: BTreeMap<Name, Arc<Descriptor>>,
}

/// Why a descriptor, or a folder of them, cannot be used.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// A descriptor is refused.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    /// A file or folder cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Two files of the folder describe the same.
    #[error("{second}: descriptor `{name}` stands in {first} already")]
    Twice {
        /// The descriptor's name.
        name: Name,
        /// The file read first.
        first: PathBuf,
        /// The file refused.
        second: PathBuf,
    },
}

impl Library {
    /// The descriptors built into the binary.
    pub fn built_in() -> Self {
        let parse = |(file, source): &(&str, &str)| {
            Descriptor::parse(file, source, Origin::BuiltIn)
                .expect("every built-in descriptor is parsed by a test")
        };
        let named = |descriptor: Descriptor| (descriptor.name().clone(), Arc::new(descriptor));
        Self { descriptors: BUILT_IN.iter().map(parse).map(named).collect() }
    }

    /// These, and those of a folder's `*.toml` files; a file's descriptor takes the place of
    /// a built-in one of the same name.
    ///
    /// # Errors
    /// Where the folder or a file cannot be read, or a descriptor is refused.
    pub fn with_folder(mut self, folder: &Path) -> Result<Self, LibraryError> {
        let unreadable = |source| LibraryError::Unreadable { path: folder.to_owned(), source };
        let entries = std::fs::read_dir(folder).map_err(unreadable)?;
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut paths = paths.map_err(unreadable)?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        for path in paths {
            self.add(Descriptor::read(&path)?, path)?;
        }
        Ok(self)
    }

    fn add(&mut self, descriptor: Descriptor, path: PathBuf) -> Result<(), LibraryError> {
        let name = descriptor.name().clone();
        if let Some(Origin::File(first)) = self.get(&name).map(|other| other.origin()) {
            return Err(LibraryError::Twice { name, first: first.clone(), second: path });
        }
        self.descriptors.insert(name, Arc::new(descriptor));
        Ok(())
    }

    /// The descriptor of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Descriptor>> {
        self.descriptors.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Descriptor>> {
        self.descriptors.values()
    }

    /// The descriptors that know a router by the longest prefix of its sysObjectID. More
    /// than one: its tables must be asked which of them it answers to. Descriptors that are
    /// only chosen by name are never among them.
    pub fn candidates(&self, sys_object_id: &Oid, sys_descr: &str) -> Vec<Arc<Descriptor>> {
        let known = self
            .iter()
            .filter_map(|descriptor| Some((descriptor.knows(sys_object_id, sys_descr)?, descriptor)));
        let known: Vec<(usize, &Arc<Descriptor>)> = known.collect();
        let longest = known.iter().map(|(length, _)| *length).max().unwrap_or_default();
        known.into_iter().filter(|(length, _)| *length == longest).map(|(_, d)| Arc::clone(d)).collect()
    }
}

impl Descriptor {
    /// Reads a descriptor's file.
    ///
    /// # Errors
    /// Where the file cannot be read, or is refused.
    pub fn read(path: &Path) -> Result<Self, LibraryError> {
        let source = std::fs::read_to_string(path)
            .map_err(|source| LibraryError::Unreadable { path: path.to_owned(), source })?;
        Ok(Self::parse(&path.display().to_string(), &source, Origin::File(path.to_owned()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_descriptor_parses_and_is_named_as_its_file() {
        let library = Library::built_in();
        assert_eq!(library.iter().len(), BUILT_IN.len());
        for (file, _) in BUILT_IN {
            assert!(library.get(file.strip_suffix(".toml").unwrap()).is_some(), "{file}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mibs");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|file| file.ends_with(".toml"))
            .collect();
        files.sort();
        assert_eq!(files, BUILT_IN.map(|(file, _)| file));
    }
}
