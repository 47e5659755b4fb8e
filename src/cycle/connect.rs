//! Whether the BASes of a configuration can be spoken to: a first word with each, and what
//! to do about those that do not answer as they should.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::fleet::{Fleet, Job, candidates, resolve};
use super::shapes::Problem;
use super::state::State;
use crate::mib::Fault;
use crate::poll::{Greeting, Heard, Running, greet};
use crate::snmp::{Credentials, Reason};

/// How often a request is repeated at most: more patience than a person has helps nobody.
const RETRIES: u32 = 1;

/// What keeps a BAS from being read. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Nothing.
    None,
    /// Its name cannot be resolved.
    Unresolved,
    /// Nothing answers there.
    Unreachable,
    /// Nothing answers there, or not to this community: SNMPv2c does not tell.
    UnreachableOrWrongCommunity,
    /// An SNMP agent is there, and does not answer this community.
    WrongCommunity,
    /// The agent does not know the user.
    UnknownUser,
    /// The password, or the protocol it is for, is wrong.
    WrongKey,
    /// The agent does not offer the user this level of security.
    WrongLevel,
    /// The agent does not know the context.
    UnknownContext,
    /// It answers, and shows no row of its tables: a view hides them, or there is none.
    ViewHidesTable,
    /// No descriptor knows it.
    UnknownBox,
    /// Something else.
    Other,
}

impl Cause {
    /// What to do next.
    pub const fn next(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Unresolved => "Look at its `address`, and at the name server that this machine asks.",
            Self::Unreachable => {
                "See that the address is right, that SNMP is on, and that no firewall and no access list of the \
                 router keeps UDP 161 from this machine."
            }
            Self::UnreachableOrWrongCommunity => {
                "SNMPv2c does not tell which: a wrong community is answered with silence, as by a router that is \
                 not there. Ping it; if it answers, compare the community, then look for a firewall or an access \
                 list that keeps UDP 161 from this machine."
            }
            Self::WrongCommunity => {
                "The router is there and speaks SNMPv3, so it is the community, or the access list that goes with \
                 it: compare both with the router's configuration."
            }
            Self::UnknownUser => {
                "Make the user on the router, or correct `user` of its [snmp.NAME]; the name is exact to the letter."
            }
            Self::WrongKey => {
                "Compare passwords and protocols of `auth` and `privacy` with the router's; for AES-192 and AES-256 \
                 try the other `key-extension`."
            }
            Self::WrongLevel => {
                "Give [snmp.NAME] the level that the router wants: `auth`, or `auth` and `privacy`."
            }
            Self::UnknownContext => "Correct `context`, or make that context known to the router.",
            Self::ViewHidesTable => {
                "Open the view of this community or user for the tables that `poolsync mib show NAME` names; if the \
                 router shows them to others, see that it has a pool at all."
            }
            Self::UnknownBox => {
                "Name its descriptor in the configuration (`mib`), or write one: `poolsync mib list`, \
                 `poolsync walk NAME --save FILE`, mibs/README.md."
            }
            Self::Other => "`poolsync walk NAME` tells more.",
        }
    }
}

/// How one BAS answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectShape {
    /// The BAS.
    pub name: String,
    /// Where it was asked.
    pub address: String,
    /// What keeps it from being read.
    pub cause: Cause,
    /// In words; null where nothing is wrong.
    pub detail: Option<String>,
    /// The descriptor that knows it.
    pub descriptor: Option<String>,
    /// sysObjectID, dotted.
    pub sys_object_id: Option<String>,
    /// sysDescr.
    pub sys_descr: Option<String>,
}

impl State {
    /// First words to every BAS, so many at a time. `done` is told of each.
    ///
    /// # Errors
    /// A configuration without its secrets.
    pub async fn connect(
        &self,
        fleet: &Fleet,
        now: Timestamp,
        mut done: impl FnMut(&ConnectShape),
    ) -> Result<Vec<ConnectShape>, Problem> {
        let jobs = self.jobs(fleet, &[], false, now)?;
        let most = usize::try_from(self.config.poll.concurrency).unwrap_or(usize::MAX);
        let slots = Arc::new(Semaphore::new(most.max(1)));
        let mut running = Running::on(fleet.runtime());
        for job in jobs {
            let (fleet, slots) = (fleet.clone(), Arc::clone(&slots));
            running.spawn(async move {
                let _slot = slots.acquire().await;
                fleet.greeted(job).await
            });
        }
        let mut all = Vec::new();
        while let Some(result) = running.next().await {
            match result {
                Ok(one) => {
                    done(&one);
                    all.push(one);
                }
                Err(e) => tracing::error!(error = %e, "a first word was broken off"),
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

impl Fleet {
    /// Says a first word to a router, at each of its addresses until one answers.
    async fn greeted(&self, job: Job) -> ConnectShape {
        let Job { endpoint, mut request, .. } = job;
        request.target.limits.retries = request.target.limits.retries.min(RETRIES);
        let found = resolve(&endpoint).await;
        let addresses = match candidates(found, None, request.target.reach.source) {
            Ok(addresses) if !addresses.is_empty() => addresses,
            Ok(_) => {
                let detail = format!("{endpoint} has no address to be asked at");
                return shape(
                    &Greeting::unsaid(&request, Fault::Unresolved, detail),
                    &endpoint.to_string(),
                    true,
                );
            }
            Err(detail) => {
                return shape(
                    &Greeting::unsaid(&request, Fault::Unresolved, detail),
                    &endpoint.to_string(),
                    true,
                );
            }
        };
        let v2c = matches!(request.target.credentials, Credentials::V2c(_));
        let mut last = None;
        for address in addresses {
            request.target.address = address;
            let greeting = greet(self.transport(), &request).await;
            let one = shape(&greeting, &address.to_string(), v2c);
            let silent = matches!(one.cause, Cause::Unreachable | Cause::UnreachableOrWrongCommunity);
            last = Some(one);
            if !silent {
                break;
            }
        }
        last.unwrap_or_else(|| {
            shape(&Greeting::unsaid(&request, Fault::Unresolved, String::new()), &endpoint.to_string(), v2c)
        })
    }
}

fn shape(greeting: &Greeting, address: &str, v2c: bool) -> ConnectShape {
    let cause = cause(greeting.heard, v2c);
    let detail = match greeting.heard {
        Heard::Table => None,
        Heard::NoRow => Some(format!(
            "it is known as {} and shows no row of its tables",
            greeting.descriptor.as_deref().unwrap_or("nothing")
        )),
        Heard::NoSystem => Some("it answers, and shows nothing of its system group".to_owned()),
        Heard::OtherCommunity => Some(format!("{}; it answers to SNMPv3", greeting.detail)),
        Heard::Fault(_) => Some(greeting.detail.clone()),
    };
    ConnectShape {
        name: greeting.name.to_string(),
        address: address.to_owned(),
        cause,
        detail,
        descriptor: greeting.descriptor.as_ref().map(ToString::to_string),
        sys_object_id: greeting.sys_object_id.clone(),
        sys_descr: greeting.sys_descr.clone(),
    }
}

fn cause(heard: Heard, v2c: bool) -> Cause {
    let fault = match heard {
        Heard::Table => return Cause::None,
        Heard::NoRow | Heard::NoSystem => return Cause::ViewHidesTable,
        Heard::OtherCommunity => return Cause::WrongCommunity,
        Heard::Fault(fault) => fault,
    };
    match fault {
        Fault::Unresolved => Cause::Unresolved,
        Fault::NoDescriptor | Fault::AmbiguousDescriptor => Cause::UnknownBox,
        Fault::Snmp(reason) => match reason {
            Reason::Timeout if v2c => Cause::UnreachableOrWrongCommunity,
            Reason::Timeout | Reason::Unreachable | Reason::SendFailed | Reason::Deadline => {
                Cause::Unreachable
            }
            Reason::UnknownUser => Cause::UnknownUser,
            Reason::WrongDigest | Reason::DecryptionError => Cause::WrongKey,
            Reason::UnsupportedLevel => Cause::WrongLevel,
            Reason::UnknownContext => Cause::UnknownContext,
            Reason::AuthorizationError => Cause::ViewHidesTable,
            _ => Cause::Other,
        },
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_means_less_in_v2c() {
        let silent = Heard::Fault(Fault::Snmp(Reason::Timeout));
        assert_eq!(cause(silent, true), Cause::UnreachableOrWrongCommunity);
        assert_eq!(cause(silent, false), Cause::Unreachable);
        assert_eq!(cause(Heard::OtherCommunity, true), Cause::WrongCommunity);
    }

    #[test]
    fn every_cause_has_a_next_step() {
        for (reason, wanted) in [
            (Reason::UnknownUser, Cause::UnknownUser),
            (Reason::WrongDigest, Cause::WrongKey),
            (Reason::DecryptionError, Cause::WrongKey),
            (Reason::UnsupportedLevel, Cause::WrongLevel),
            (Reason::UnknownContext, Cause::UnknownContext),
            (Reason::AuthorizationError, Cause::ViewHidesTable),
            (Reason::SendFailed, Cause::Unreachable),
            (Reason::Malformed, Cause::Other),
        ] {
            let found = cause(Heard::Fault(Fault::Snmp(reason)), false);
            assert_eq!(found, wanted);
            assert!(!found.next().is_empty(), "{found:?}");
        }
        assert_eq!(cause(Heard::Fault(Fault::NoDescriptor), true), Cause::UnknownBox);
        assert_eq!(Cause::None.next(), "");
    }
}
