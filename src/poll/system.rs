//! What a router says of itself: the system group (RFC 3418).

use std::sync::LazyLock;
use std::time::Duration;

use super::Stop;
use crate::mib::Fault;
use crate::snmp::{Context, Failure, Oid, Session, Value};

const SYS_DESCR: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 1, 0];
const SYS_OBJECT_ID: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 2, 0];
const SYS_UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
const SYS_NAME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 5, 0];

/// In the order in which they are read.
static OBJECTS: LazyLock<[Oid; 4]> =
    LazyLock::new(|| [SYS_UP_TIME, SYS_OBJECT_ID, SYS_DESCR, SYS_NAME].map(Oid::new));

/// How much later than measured here a router may say it is, and still have passed the end
/// of its 32-bit count (every 497 days) rather than have restarted.
const WRAP_SLACK: Duration = Duration::from_secs(60);

/// The system group. What a view or context hides is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct System {
    /// sysUpTime in hundredths of a second.
    pub(super) up_time: Option<u32>,
    pub(super) object_id: Option<Oid>,
    pub(super) descr: Option<String>,
    pub(super) name: Option<String>,
}

impl System {
    /// Reads it in a context. Some hide it there, and have pools all the same.
    pub(super) async fn read(session: &mut Session, context: &Context) -> Result<Self, Failure> {
        let values = session.get(context, Self::objects()).await?;
        Ok(Self::of(values.into_iter().map(Some).collect()))
    }

    /// What is read.
    pub(super) fn objects() -> &'static [Oid] {
        &*OBJECTS
    }

    /// The values of these objects.
    pub(super) fn of(values: Vec<Option<Value>>) -> Self {
        let mut values = values.into_iter().map(|value| value.unwrap_or(Value::NoSuchObject));
        Self {
            up_time: values.next().and_then(ticks),
            object_id: values.next().and_then(object_id),
            descr: values.next().and_then(text),
            name: values.next().and_then(text),
        }
    }

    /// With what the default context tells, where the configured one hides it. A router may
    /// well be silent there.
    pub(super) async fn or_default(self, session: &mut Session) -> Self {
        let default = Self::read(session, &Context::default()).await.unwrap_or_default();
        Self { up_time: self.up_time, ..default }
    }

    /// Has sysUpTime come along with the tables, so that the last piece of them tells it.
    pub(super) fn keep_time(session: &mut Session, context: &Context) {
        session.take_along(context, Oid::new(SYS_UP_TIME));
    }

    /// Whether the router is the one that it was before: takes sysUpTime of the last answer, of
    /// the same moment as the last rows, or reads it again where that has none.
    pub(super) async fn still_up(
        &self,
        session: &mut Session,
        context: &Context,
        elapsed: Duration,
    ) -> Result<(), Stop> {
        let Some(before) = self.up_time else { return Ok(()) };
        let last = match session.came_along() {
            Some(value) => Some(value.clone()),
            None => {
                let values = session.get(context, &[Oid::new(SYS_UP_TIME)]).await.map_err(|failure| {
                    let detail = format!("sysUpTime could not be read at the end: {}", failure.detail);
                    Stop::new(Fault::Snmp(failure.reason), detail)
                })?;
                values.into_iter().next()
            }
        };
        match last.and_then(ticks) {
            Some(after) if !went_back(before, after, elapsed) => Ok(()),
            Some(after) => {
                let detail = format!("sysUpTime went back from {before} to {after} hundredths of a second");
                Err(Stop::new(Fault::Restarted, detail))
            }
            None => Err(Stop::new(Fault::Restarted, "sysUpTime was there at first and is gone")),
        }
    }
}

/// A count that ran over its end is no restart.
fn went_back(before: u32, after: u32, elapsed: Duration) -> bool {
    let ran = Duration::from_millis(u64::from(after.wrapping_sub(before)) * 10);
    after < before && ran > elapsed + WRAP_SLACK
}

fn ticks(value: Value) -> Option<u32> {
    match value {
        Value::TimeTicks(ticks) => Some(ticks),
        _ => None,
    }
}

fn object_id(value: Value) -> Option<Oid> {
    match value {
        Value::ObjectId(oid) => Some(oid),
        _ => None,
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Octets(octets) => Some(String::from_utf8_lossy(&octets).trim().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_up_time_is_a_restart_unless_the_count_ran_over() {
        let second = Duration::from_secs(1);
        assert!(!went_back(1000, 1000, second));
        assert!(!went_back(1000, 1100, second));
        assert!(went_back(1000, 999, second));
        assert!(went_back(123_456_789, 300, second));
        assert!(!went_back(u32::MAX - 50, 50, second));
        // Shortly before the end of the count, but far more than was measured.
        assert!(went_back(u32::MAX - 50, 60_000, second));
    }
}
