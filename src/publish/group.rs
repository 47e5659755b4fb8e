//! Groups of the system, by name.

use std::fs;
use std::io::{self, ErrorKind};

const GROUPS: &str = "/etc/group";

/// The number of a group. Looked up in `/etc/group`, where the groups of packaged servers
/// are; a number stands for itself.
pub(super) fn number(name: &str) -> io::Result<u32> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    find(&fs::read_to_string(GROUPS)?, name)
        .ok_or_else(|| io::Error::new(ErrorKind::NotFound, format!("no group `{name}` in {GROUPS}")))
}

/// `name:password:number:members`, a line a group.
fn find(groups: &str, name: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let own = fields.next() == Some(name);
        own.then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_by_its_whole_name_or_number() {
        let groups = "root:x:0:\nknotty:x:7:a,b\nknot:x:118:\nbroken\nodd:x:y:\n";
        assert_eq!(find(groups, "knot"), Some(118));
        assert_eq!(find(groups, "kno"), None);
        assert_eq!(find(groups, "broken"), None);
        assert_eq!(find(groups, "odd"), None);
        assert_eq!(number("118").unwrap(), 118);
        assert_eq!(number("root").unwrap(), 0);
        assert!(number("no such group").unwrap_err().to_string().contains("no such group"));
    }
}
