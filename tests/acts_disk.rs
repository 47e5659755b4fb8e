//! A disk that is full while the service works.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use acts_support::{Plant, Pool};
use support::site::content;

const BEFORE: &[Pool] = &[("home", "198.18.0.0", "198.18.15.255")];

/// So many more pools that their commit does not fit into the log as it is.
fn many() -> Vec<Pool> {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let pool = |i: usize| {
        let (name, address) = (leak(format!("p{i}")), leak(format!("198.19.{}.{}", i / 100, i % 100 * 2)));
        (name, address, address)
    };
    BEFORE.iter().copied().chain((0..2000).map(pool)).collect()
}

/// A file system of a few MiB, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "none"]).arg(folder.path()).output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn fill(&self) {
        let mut file = fs::File::create(self.path().join("filler")).unwrap();
        for size in [4096, 1] {
            while file.write(&vec![0; size]).is_ok_and(|written| written > 0) {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_costs_nothing_that_was_there_and_what_is_new_comes_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("SKIPPED: a_full_disk_costs_nothing_that_was_there: cannot mount a small tmpfs here");
        return;
    };
    let place = disk.path().display().to_string();
    let plant = Plant::with(&[("bas-a", "east", BEFORE)], |text| {
        let text = text.replacen("[guard]\n", "[guard]\nadd = \"1000%\"\nadd-bas = \"1000%\"\n", 1);
        text.replace("\"poolsync.db\"", &format!("\"{place}/poolsync.db\""))
            .replace("\"export/", &format!("\"{place}/"))
    });
    plant.run(&["poll"]).expect(0);
    let mut daemon = plant.daemon();
    let (table, file) = (plant.site.table(), content(&disk.path().join("edges.conf")));

    disk.fill();
    plant.set("bas-a", &many());
    for _ in 0..3 {
        let refused = plant.run(&["poll", "bas-a"]).expect(1);
        assert!(refused.stderr.contains("no space left"), "{}", refused.stderr);
        assert_eq!(plant.site.table(), table);
    }
    assert_eq!(content(&disk.path().join("edges.conf")), file, "half a file, or another");

    // It dies, and what it had is told while the disk is still full.
    daemon.kill();
    drop(daemon);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    disk.free();
    let _daemon = plant.daemon();
    plant.run(&["poll", "bas-a"]).expect(0);
    assert_eq!(plant.entries().len(), 2001);
    assert!(content(&disk.path().join("edges.conf")).contains("198.19.19.198/32"));
}
