//! Who does something: the user at the other end of the control socket, or of this process.

use std::fmt;
use std::fs;

use crate::table::Name;

/// Who does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    user: Name,
}

impl Who {
    /// A user of this system.
    pub fn user(uid: u32) -> Self {
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = match login(&passwd, uid) {
            Some(login) => format!("{login} (uid {uid})"),
            None => format!("uid {uid}"),
        };
        Self { user: user.into() }
    }

    /// The user of this process.
    pub fn of_process() -> Self {
        use std::os::unix::fs::MetadataExt as _;
        // The owner of a process's own folder is its effective user (proc(5)).
        fs::metadata("/proc/self").map_or_else(|_| Self::program(), |found| Self::user(found.uid()))
    }

    /// The program by itself.
    pub fn program() -> Self {
        Self { user: "poolsync".into() }
    }

    /// Somebody of whom nothing is known.
    pub fn nobody() -> Self {
        Self { user: "somebody".into() }
    }

    /// The user, behind the name that was given with what is to be done.
    pub fn signed(&self, name: Option<&str>) -> Name {
        match name.map(str::trim) {
            Some(name) if !name.is_empty() => Name::from(format!("{name}, {}", self.user)),
            _ => self.user.clone(),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.user)
    }
}

/// The login name of a user, in the lines of passwd(5).
fn login(passwd: &str, uid: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_told_by_login_and_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n#\nnoc:x:1042:100::/home/noc:/bin/sh\n";
        assert_eq!(
            (login(passwd, 0), login(passwd, 1042), login(passwd, 7)),
            (Some("root"), Some("noc"), None)
        );
        let nobody = Who::user(4_000_000_000);
        assert_eq!(nobody.to_string(), "uid 4000000000");
        assert_eq!(nobody.signed(Some(" alice ")).as_str(), "alice, uid 4000000000");
        assert_eq!(nobody.signed(Some("")).as_str(), "uid 4000000000");
    }

    #[test]
    fn a_process_has_a_user() {
        let user = Who::of_process().to_string();
        assert!(user.contains("uid "), "{user}");
    }
}
