//! Who may send notifications: the configured BASes, known by their addresses.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::snmp::Credentials;
use crate::table::Name;

/// The BASes at one address: side by side, so that the place in one list is that in the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Their names.
    pub names: Vec<Name>,
    /// How each is polled.
    pub credentials: Vec<Credentials>,
}

/// Who may send notifications.
#[derive(Clone, Debug, Default)]
pub struct Senders {
    by_address: HashMap<IpAddr, Arc<Known>>,
}

impl Senders {
    /// Adds a BAS at an address; false where it was known there.
    pub fn add(&mut self, address: IpAddr, bas: &Name, credentials: &Credentials) -> bool {
        let known = Arc::make_mut(self.by_address.entry(address.to_canonical()).or_default());
        if known.names.contains(bas) {
            return false;
        }
        known.names.push(bas.clone());
        known.credentials.push(credentials.clone());
        true
    }

    /// The BASes at an address; none where it is nobody's.
    pub fn at(&self, address: IpAddr) -> Option<Arc<Known>> {
        self.by_address.get(&address.to_canonical()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::Secret;

    #[test]
    fn a_sender_is_known_by_its_address_however_it_is_written() {
        let secret = |text: &str| Credentials::V2c(Secret::new(text));
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let mut senders = Senders::default();
        assert!(senders.add(address("192.0.2.1"), &"a".into(), &secret("x")));
        assert!(senders.add(address("::ffff:192.0.2.1"), &"b".into(), &secret("y")));
        assert!(!senders.add(address("192.0.2.1"), &"a".into(), &secret("x")));
        let known = senders.at(address("::ffff:192.0.2.1")).unwrap();
        assert_eq!(known.names, ["a".into(), Name::from("b")]);
        assert_eq!(known.credentials, [secret("x"), secret("y")]);
        assert_eq!(senders.at(address("192.0.2.2")), None);
    }
}
