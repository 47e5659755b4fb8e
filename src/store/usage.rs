//! How much of the pools is in use.

use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::names::Names;
use super::rows::{self, Put};
use super::time;
use crate::table::{HourUse, Name, PoolName, PoolUse, Usage};

/// What is known of the use of one BAS's pools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The most in each hour, the oldest first.
    pub hours: Vec<HourUse>,
    /// Each pool, by VRF and name.
    pub pools: Vec<PoolUse>,
}

const HOUR: &str = "INSERT INTO use_hour (bas, hour, size, used) VALUES (?, ?, ?, ?) \
     ON CONFLICT (bas, hour) DO UPDATE SET size = excluded.size, used = excluded.used \
     WHERE excluded.used >= used";

const POOL: &str = "INSERT INTO use_pool (bas, vrf, pool, pool_text, at, size, used, day, peak) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (bas, vrf, pool) DO UPDATE SET \
     pool_text = excluded.pool_text, at = excluded.at, size = excluded.size, used = excluded.used, \
     peak = iif(day = excluded.day, max(peak, excluded.peak), excluded.peak), day = excluded.day";

/// Adds what polls counted. The BAS has to be remembered already.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    names: &mut Names,
    bas: &Name,
    usage: &Usage,
) -> Result<(), Fault> {
    let id = names.id(bas);
    for hour in usage.hours() {
        let mut put = Put::default();
        put.value(id);
        put.value(hour.hour);
        put.value(stored(hour.size));
        put.value(stored(hour.used));
        put.execute(conn, HOUR.to_owned()).await?;
    }
    for pool in usage.pools() {
        let mut put = Put::default();
        put.value(id);
        put.value(names.id(&pool.vrf));
        rows::put_pool(&mut put, &pool.pool);
        put.value(time::stored(pool.at));
        put.value(stored(pool.size));
        put.value(stored(pool.used));
        put.value(pool.day);
        put.value(stored(pool.peak));
        put.execute(conn, POOL.to_owned()).await?;
    }
    Ok(())
}

/// A count, which SQL compares as a signed number: more than it holds is its most.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What is known of one BAS.
pub(super) async fn of(conn: &mut SqliteConnection, names: &Names, bas: &Name) -> Result<Used, Fault> {
    let mut used = Used::default();
    let sql = "SELECT hour, size, used FROM use_hour WHERE bas = (SELECT id FROM name WHERE text = ?1) \
               ORDER BY hour";
    for row in sqlx::query(sql).bind(bas.as_str()).fetch_all(&mut *conn).await? {
        let count = |column: usize| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
        used.hours.push(HourUse { hour: row.try_get(0)?, size: count(1)?, used: count(2)? });
    }
    let sql = "SELECT vrf, pool, pool_text, at, size, used, day, peak FROM use_pool \
               WHERE bas = (SELECT id FROM name WHERE text = ?1) ORDER BY vrf, pool";
    for row in sqlx::query(sql).bind(bas.as_str()).fetch_all(conn).await? {
        let count = |column: usize| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
        let raw: &[u8] = row.try_get(1)?;
        let text: Option<&str> = row.try_get(2)?;
        used.pools.push(PoolUse {
            vrf: names.name(row.try_get(0)?)?,
            pool: text.map_or_else(|| PoolName::new(raw), |text| PoolName::decoded(raw, text)),
            at: time::loaded(row.try_get(3)?)?,
            size: count(4)?,
            used: count(5)?,
            day: row.try_get(6)?,
            peak: count(7)?,
        });
    }
    used.pools.sort_by(|a, b| (&a.vrf, &a.pool).cmp(&(&b.vrf, &b.pool)));
    Ok(used)
}
