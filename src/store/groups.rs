//! Groups, their edges and their owners, with validity intervals.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::memory;
use super::names::Names;
use super::rows::{self, OPEN};
use crate::table::{Group, GroupEdge, Groups, Name, Part, Token};

/// The groups of a generation.
pub(super) const GROUPS_AT: &str =
    "SELECT to_gen, token, service FROM edge_group WHERE to_gen > ?1 AND from_gen <= ?1";

/// The groups as they were at a generation ([`OPEN`] less one: as they are).
pub(super) async fn at(conn: &mut SqliteConnection, names: &Names, generation: i64) -> Result<Groups, Fault> {
    let mut groups = Groups::default();
    // A token is one row at a generation; its edges carry the same `to_gen`.
    let mut until: BTreeMap<Token, i64> = BTreeMap::new();
    for row in sqlx::query(GROUPS_AT).bind(generation).fetch_all(&mut *conn).await? {
        let token = token(row.try_get(1)?)?;
        let service = names.name(row.try_get(2)?)?;
        until.insert(token.clone(), row.try_get(0)?);
        groups.groups.insert(token.clone(), Group { token, service, edges: Vec::new() });
    }
    let sql = "SELECT to_gen, token, edge, weight FROM group_edge WHERE to_gen > ?1 \
               ORDER BY to_gen, token, position";
    for row in sqlx::query(sql).bind(generation).fetch_all(&mut *conn).await? {
        let token = token(row.try_get(1)?)?;
        let weight: i64 = row.try_get(3)?;
        if until.get(&token) != Some(&row.try_get(0)?) {
            continue;
        }
        if let Some(group) = groups.groups.get_mut(&token) {
            let name = names.name(row.try_get(2)?)?;
            group.edges.push(GroupEdge { name, weight: self::weight(weight)? });
        }
    }
    let sql = "SELECT owner, service, token FROM owner_group WHERE to_gen > ?1 AND from_gen <= ?1";
    for row in sqlx::query(sql).bind(generation).fetch_all(&mut *conn).await? {
        let key = (names.name(row.try_get(0)?)?, names.name(row.try_get(1)?)?);
        groups.of_owner.insert(key, token(row.try_get(2)?)?);
    }
    let sql = "SELECT owner, service, body FROM shed WHERE to_gen > ?1 AND from_gen <= ?1";
    for row in sqlx::query(sql).bind(generation).fetch_all(&mut *conn).await? {
        let key = (names.name(row.try_get(0)?)?, names.name(row.try_get(1)?)?);
        let part: Part = rows::unpack(row.try_get(2)?)?;
        groups.shed.insert(key, Arc::new(part));
    }
    Ok(groups)
}

pub(super) fn token(text: &str) -> Result<Token, Fault> {
    Token::new(text).ok_or_else(|| Fault::Damaged(format!("`{text}` is no token of a group")))
}

pub(super) fn weight(stored: i64) -> Result<u32, Fault> {
    u32::try_from(stored).map_err(|_| Fault::Damaged(format!("an edge has a weight of {stored}")))
}

/// What is to end and what is to begin for the groups to become others.
pub(super) struct Difference<'a> {
    closed: Vec<Token>,
    opened: Vec<&'a Group>,
    owners_closed: Vec<(Name, Name)>,
    owners_opened: Vec<(&'a (Name, Name), &'a Token)>,
    parts_closed: Vec<(Name, Name)>,
    parts_opened: Vec<(&'a (Name, Name), &'a Arc<Part>)>,
}

/// What turns `before` into `after`.
pub(super) fn difference<'a>(before: &Groups, after: &'a Groups) -> Difference<'a> {
    let gone = |(token, group): &(&Token, &Group)| after.groups.get(*token) != Some(*group);
    let gone_owner = |(owner, token): &(&(Name, Name), &Token)| after.of_owner.get(*owner) != Some(*token);
    let gone_part = |(owner, part): &(&(Name, Name), &Arc<Part>)| after.shed.get(*owner) != Some(*part);
    Difference {
        parts_closed: before.shed.iter().filter(gone_part).map(|(owner, _)| owner.clone()).collect(),
        parts_opened: after
            .shed
            .iter()
            .filter(|(owner, part)| before.shed.get(*owner) != Some(*part))
            .collect(),
        closed: before.groups.iter().filter(gone).map(|(token, _)| token.clone()).collect(),
        opened: after
            .groups
            .iter()
            .filter(|(token, group)| before.groups.get(*token) != Some(*group))
            .map(|(_, group)| group)
            .collect(),
        owners_closed: before.of_owner.iter().filter(gone_owner).map(|(owner, _)| owner.clone()).collect(),
        owners_opened: after
            .of_owner
            .iter()
            .filter(|(owner, token)| before.of_owner.get(*owner) != Some(*token))
            .collect(),
    }
}

impl Difference<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.closed.is_empty()
            && self.opened.is_empty()
            && self.owners_closed.is_empty()
            && self.owners_opened.is_empty()
            && self.parts_closed.is_empty()
            && self.parts_opened.is_empty()
    }

    /// Writes it as a generation's.
    pub(super) async fn apply(
        &self,
        conn: &mut SqliteConnection,
        names: &mut Names,
        generation: i64,
    ) -> Result<(), Fault> {
        self.close(conn, names, generation).await?;
        self.open(conn, names, generation).await
    }

    async fn close(
        &self,
        conn: &mut SqliteConnection,
        names: &mut Names,
        generation: i64,
    ) -> Result<(), Fault> {
        // The edges follow their group by the foreign key.
        for token in &self.closed {
            sqlx::query("UPDATE edge_group SET to_gen = ?1 WHERE to_gen = ?2 AND token = ?3")
                .bind(generation)
                .bind(OPEN)
                .bind(token.as_str())
                .execute(&mut *conn)
                .await?;
        }
        let of_owners =
            "UPDATE owner_group SET to_gen = ?1 WHERE to_gen = ?2 AND owner = ?3 AND service = ?4";
        let of_parts = "UPDATE shed SET to_gen = ?1 WHERE to_gen = ?2 AND owner = ?3 AND service = ?4";
        let owners = self.owners_closed.iter().map(|key| (of_owners, key));
        for (sql, (owner, service)) in owners.chain(self.parts_closed.iter().map(|key| (of_parts, key))) {
            sqlx::query(sql)
                .bind(generation)
                .bind(OPEN)
                .bind(names.id(owner))
                .bind(names.id(service))
                .execute(&mut *conn)
                .await?;
        }
        Ok(())
    }

    async fn open(
        &self,
        conn: &mut SqliteConnection,
        names: &mut Names,
        generation: i64,
    ) -> Result<(), Fault> {
        let head = "INSERT INTO edge_group (to_gen, token, service, from_gen)";
        rows::insert(conn, head, 4, &self.opened, |put, group| {
            put.value(OPEN);
            put.value(group.token.as_str());
            put.value(names.id(&group.service));
            put.value(generation);
        })
        .await?;
        let edges: Vec<(&Token, i64, &GroupEdge)> = self
            .opened
            .iter()
            .flat_map(|group| (0..).zip(&group.edges).map(|(place, edge)| (&group.token, place, edge)))
            .collect();
        let head = "INSERT INTO group_edge (to_gen, token, position, edge, weight)";
        rows::insert(conn, head, 5, &edges, |put, (token, position, edge)| {
            put.value(OPEN);
            put.value(token.as_str());
            put.value(*position);
            put.value(names.id(&edge.name));
            put.value(i64::from(edge.weight));
        })
        .await?;
        let head = "INSERT INTO owner_group (to_gen, owner, service, token, from_gen)";
        rows::insert(conn, head, 5, &self.owners_opened, |put, ((owner, service), token)| {
            put.value(OPEN);
            put.value(names.id(owner));
            put.value(names.id(service));
            put.value(token.as_str());
            put.value(generation);
        })
        .await?;
        let mut parts = Vec::new();
        for (key, part) in &self.parts_opened {
            parts.push((*key, memory::to_json(part)?));
        }
        let head = "INSERT INTO shed (to_gen, owner, service, body, from_gen)";
        rows::insert(conn, head, 5, &parts, |put, ((owner, service), body)| {
            put.value(OPEN);
            put.value(names.id(owner));
            put.value(names.id(service));
            put.value(body.as_str());
            put.value(generation);
        })
        .await
    }
}
