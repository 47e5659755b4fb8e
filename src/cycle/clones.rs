//! Routers that go by one SNMPv3 engine id, as clones and failover pairs do. Each is polled by
//! its own clock all the same; whoever looks after them should know.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use crate::table::Name;

/// Which BASes were heard under which engine id.
#[derive(Debug, Default)]
pub(super) struct Engines {
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    by_bas: HashMap<Name, (String, SocketAddr)>,
    by_id: HashMap<String, BTreeSet<Name>>,
}

impl Engines {
    /// Notes the engine id that a BAS was heard under, and gives the words on others that have
    /// it too, at other addresses: contexts of one agent share its engine by right.
    pub(super) fn note(&self, bas: &Name, address: SocketAddr, id: &str) -> Option<String> {
        // A panic elsewhere leaves no more than a note too many or too few.
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let before = heard.by_bas.insert(bas.clone(), (id.to_owned(), address));
        let is_new = before.as_ref().is_none_or(|(before, _)| before != id);
        if let Some((before, _)) = before.filter(|_| is_new)
            && let Some(names) = heard.by_id.get_mut(&before)
        {
            names.remove(bas);
        }
        heard.by_id.entry(id.to_owned()).or_default().insert(bas.clone());
        let elsewhere = |other: &&Name| heard.by_bas.get(*other).is_some_and(|(_, there)| *there != address);
        let others: Vec<&str> =
            heard.by_id.get(id)?.iter().filter(elsewhere).map(|other| other.as_str()).take(5).collect();
        if others.is_empty() {
            return None;
        }
        let others = others.join(", ");
        if is_new {
            tracing::warn!(%bas, engine = id, others, "routers go by one SNMPv3 engine id");
        }
        Some(format!("its SNMPv3 engine id {id} is that of {others} too: a clone, or a failover pair"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::config::Polling;
    use crate::cycle::{Fleet, community_polling};
    use crate::mib::Library;
    use crate::poll::{Choice, State};
    use crate::snmp::{
        AuthProtocol, Context, Credentials, Recording, ReplayAgent, ReplayEngine, Secret, Transport, User,
    };

    const WALK: &str = include_str!("../../tests/data/walks/huawei-control-plane.snmprec");

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, last], 161))
    }

    #[test]
    fn clones_are_named_and_contexts_of_one_agent_are_none() {
        let engines = Engines::default();
        let note = |bas: &str, last, id| engines.note(&bas.into(), at(last), id);
        assert_eq!(note("a", 1, "80aa"), None);
        assert_eq!(note("a", 1, "80aa"), None);
        assert_eq!(note("a-vr2", 1, "80aa"), None, "another context of the same agent");
        assert_eq!(note("b", 2, "80bb"), None);
        let words = "its SNMPv3 engine id 80aa is that of a, a-vr2 too: a clone, or a failover pair";
        assert_eq!(note("c", 3, "80aa").as_deref(), Some(words));
        let words = "its SNMPv3 engine id 80aa is that of c too: a clone, or a failover pair";
        assert_eq!(note("a", 1, "80aa").as_deref(), Some(words));
        // It was given an id of its own.
        assert_eq!(note("c", 3, "80cc"), None);
        assert_eq!(note("a", 1, "80aa"), None);
    }

    #[tokio::test]
    async fn clones_are_all_polled_and_told_of() {
        let user = User {
            name: "u".into(),
            auth: Some((AuthProtocol::Sha1, Secret::new("authpass-12345"))),
            privacy: None,
            key_extension: Default::default(),
            engine_id: None,
        };
        let first = ReplayEngine::new(*b"\x80clone", vec![user.clone()]).await.unwrap();
        let first = first.serving(Context::default(), Recording::parse(WALK).unwrap());
        let mut agents = Vec::new();
        for (boots, time) in [(5, 1_000), (2, 900_000)] {
            let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
            agents.push(ReplayAgent::start_v3(anywhere, first.clone().at(boots, time)).await.unwrap());
        }
        let fleet = Fleet::of_strangers(Arc::new(Library::built_in()), Transport::new().unwrap());
        let polling = Polling {
            credentials: Some(Credentials::V3(user)),
            ..community_polling(Secret::new(*b"unused"))
        };
        let mut noted = Vec::new();
        for round in 0..4 {
            for (name, agent) in ["one", "two"].into_iter().zip(&agents) {
                let endpoint = agent.address().to_string().parse().unwrap();
                let choice = Choice::Auto(Arc::clone(fleet.library()));
                let now = Timestamp::UNIX_EPOCH;
                let job = fleet.stranger(name, endpoint, polling.clone(), choice, now).unwrap();
                let polled = fleet.poll(job).await;
                assert_eq!(polled.state, State::Complete, "{}", polled.detail);
                let notes = polled.notes.iter().filter(|note| note.contains("is that of"));
                noted.extend(notes.map(|note| (round, name, note.contains("is that of one too"))));
            }
        }
        // Only the very first poll could not know.
        assert_eq!(noted.len(), 7);
        assert!(noted.iter().all(|(_, name, of_one)| (*name == "two") == *of_one));
    }
}
