//! A generation as one export sees it: the rows of a space, each with its group.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ptr;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::carried::carried;
use super::known::Known;
use crate::address::Range;
use crate::table::{Edge, Entry, Group, GroupEdge, Name, Part, Session, Snapshot, Token};

/// Which generation a file is made from: what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The store's identity.
    pub session: Session,
    /// The generation's number.
    pub generation: u64,
    /// When it was committed.
    pub committed: Timestamp,
}

impl From<&Snapshot> for Stamp {
    fn from(snapshot: &Snapshot) -> Self {
        Self { session: snapshot.session, generation: snapshot.generation, committed: snapshot.committed }
    }
}

/// What an export shows of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// One space; none: all of them, for the formats that name the space in each row.
    pub space: Option<Name>,
    /// The service whose groups answer.
    pub service: Name,
}

/// Why a generation cannot be shown. Each of them means that steering and table do not fit
/// together, and that a file made from them would be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ViewError {
    /// An entry's owner has no group.
    #[error("no group answers for {owner} and service {service}")]
    NoGroup {
        /// The entry's owner.
        owner: Name,
        /// The service asked for.
        service: Name,
    },
    /// A group names an edge that the generation does not have.
    #[error("group {token} names edge {edge}, which is not there")]
    NoEdge {
        /// The group.
        token: Token,
        /// The edge that it names.
        edge: Name,
    },
}

/// One row: an entry of the table and the group that answers for it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The entry: space, range, owner, BAS, pool, VRF, origin.
    pub entry: &'a Entry,
    /// What it is answered with.
    pub group: &'a Group,
}

/// Addresses that are answered with one group: touching rows of a space and group are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The space.
    pub space: &'a Name,
    /// The addresses.
    pub range: Range,
    /// The group's token.
    pub token: &'a Token,
}

/// One generation, seen for one [`Scope`]. Rows are sorted by space, family and first
/// address, and disjoint.
#[derive(Clone, Debug)]
pub struct View<'a> {
    rows: Vec<Row<'a>>,
    groups: BTreeMap<Token, Cow<'a, Group>>,
    default: Cow<'a, Group>,
    edges: &'a BTreeMap<Name, Edge>,
    default_edge: &'a Name,
    beside_groups: bool,
}

impl<'a> View<'a> {
    /// The snapshot's rows within the scope.
    ///
    /// # Errors
    /// An owner without a group, a group with an unknown edge.
    pub fn new(snapshot: &'a Snapshot, scope: &Scope) -> Result<Self, ViewError> {
        let (rows, used) = rows(snapshot, scope)?;
        let default = default_group(snapshot, &scope.service);
        let mut groups = BTreeMap::from([(default.token.clone(), default.clone())]);
        for group in used {
            groups.entry(group.token.clone()).or_insert(Cow::Borrowed(group));
        }
        let view = Self {
            rows,
            groups,
            default,
            edges: &snapshot.edges,
            default_edge: &snapshot.default_edge,
            beside_groups: false,
        };
        view.check_edges()?;
        Ok(view)
    }

    /// The view with no other rows than those of the entries that are wanted: all other
    /// addresses are answered with the default group.
    pub fn only(mut self, wanted: impl Fn(&Entry) -> bool) -> Self {
        self.rows.retain(|row| wanted(row.entry));
        let used: HashSet<&Token> = self.rows.iter().map(|row| &row.group.token).collect();
        self.groups.retain(|token, _| *token == self.default.token || used.contains(token));
        self
    }

    /// The view for a table that has a groups file beside it: what that says of weights and of
    /// the order of edges, the table leaves to it, so as not to change with them.
    pub fn beside_groups(self, beside: bool) -> Self {
        Self { beside_groups: beside, ..self }
    }

    /// Whether a groups file says which edges a group is answered with.
    pub fn is_beside_groups(&self) -> bool {
        self.beside_groups
    }

    /// The rows.
    pub fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }

    /// The groups that rows use, and the default one; by token.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values().map(AsRef::as_ref)
    }

    /// What an address in no row is answered with.
    pub fn default_group(&self) -> &Group {
        &self.default
    }

    /// The name of the edge for addresses in no row.
    pub fn default_edge(&self) -> &'a Name {
        self.default_edge
    }

    /// The edge of a name.
    pub fn edge(&self, name: &Name) -> Option<&'a Edge> {
        self.edges.get(name)
    }

    /// The edges of a group, in order, with their weights.
    pub fn edges_of<'s>(&'s self, group: &'s Group) -> impl Iterator<Item = (&'s Edge, u32)> {
        group.edges.iter().filter_map(|e| Some((self.edges.get(&e.name)?, e.weight)))
    }

    /// The rows as a consumer sees them that is told only the token.
    pub fn answers(&self) -> impl Iterator<Item = Answer<'_>> {
        Answers { rows: self.rows.as_slice() }
    }

    /// What a file can say of the rows whose format cannot speak of `excluded`
    /// ([`super::Format::excluded`]): addresses in order, and what answers them.
    pub fn told(&self, excluded: &'static [Range]) -> impl Iterator<Item = (Range, &Token)> {
        self.answers().flat_map(move |a| carried(a.range, excluded).map(move |range| (range, a.token)))
    }

    fn check_edges(&self) -> Result<(), ViewError> {
        self.groups().try_for_each(|group| check_edges(group, self.edges))
    }
}

/// The answers of rows. See [`View::answers`].
struct Answers<'v> {
    rows: &'v [Row<'v>],
}

impl<'v> Iterator for Answers<'v> {
    type Item = Answer<'v>;

    #[inline]
    fn next(&mut self) -> Option<Answer<'v>> {
        let (first, mut rows) = self.rows.split_first()?;
        let (space, token) = (&first.entry.space, &first.group.token);
        let mut range = first.entry.range;
        while let Some((next, behind)) = rows.split_first()
            && let Some(joined) = join(range, next.entry.range)
            && *token == next.group.token
            && *space == next.entry.space
        {
            (range, rows) = (joined, behind);
        }
        self.rows = rows;
        Some(Answer { space, range, token })
    }
}

fn check_edges(group: &Group, edges: &BTreeMap<Name, Edge>) -> Result<(), ViewError> {
    match group.edges.iter().find(|edge| !edges.contains_key(&edge.name)) {
        Some(edge) => Err(ViewError::NoEdge { token: group.token.clone(), edge: edge.name.clone() }),
        None => Ok(()),
    }
}

/// The groups that answer for owners, in their order, as a view of their entries has them
/// where no part of these is answered with another group.
///
/// # Errors
/// As for [`View::new`].
pub fn groups_of<'a, 'n>(
    snapshot: &'a Snapshot,
    owners: impl Iterator<Item = &'n Name>,
    service: &Name,
) -> Result<Vec<&'a Group>, ViewError> {
    check_edges(&default_group(snapshot, service), &snapshot.edges)?;
    let group = |owner: &Name| {
        let group = snapshot.groups.of(owner, service);
        let lacking = || ViewError::NoGroup { owner: owner.clone(), service: service.clone() };
        let group = group.ok_or_else(lacking)?;
        check_edges(group, &snapshot.edges).map(|()| group)
    };
    owners.map(group).collect()
}

/// Two touching ranges as one.
#[inline]
pub(super) fn join(range: Range, next: Range) -> Option<Range> {
    if !range.touches(next) {
        return None;
    }
    Range::from_bits(range.family(), range.first_bits(), next.last_bits())
}

/// The rows, and the groups that they have; a group may be there more than once.
fn rows<'a>(snapshot: &'a Snapshot, scope: &Scope) -> Result<(Vec<Row<'a>>, Vec<&'a Group>), ViewError> {
    // With the part of the owner's entries that another group answers for.
    let mut of_owner: HashMap<&'a str, (&'a Group, Option<&'a Part>)> = HashMap::new();
    let mut of_place = Known::new();
    let mut rows = Vec::with_capacity(snapshot.table.entries().len());
    let (mut used, mut met) = (Vec::new(), Known::new());
    // Whether it is the wanted one is asked once of a space that many entries share.
    let mut last: Option<(&Name, bool)> = None;
    for entry in snapshot.table.entries() {
        let wanted = match last {
            Some((space, wanted)) if ptr::eq(space.as_str(), entry.space.as_str()) => wanted,
            _ => scope.space.as_ref().is_none_or(|space| *space == entry.space),
        };
        last = Some((&entry.space, wanted));
        if !wanted {
            continue;
        }
        let owner = &entry.owner;
        let known = of_place.get(owner, "").or_else(|| of_owner.get(owner.as_str()).copied());
        let (group, part) = match known {
            Some(known) => known,
            None => {
                let none = || ViewError::NoGroup { owner: owner.clone(), service: scope.service.clone() };
                let group = snapshot.groups.of(owner, &scope.service).ok_or_else(none)?;
                let known = (group, snapshot.groups.part(owner, &scope.service));
                used.extend(known.1.is_none().then_some(group));
                of_owner.insert(owner, known);
                of_place.learn(owner, "", known);
                known
            }
        };
        let Some(part) = part else {
            rows.push(Row { entry, group });
            continue;
        };
        let shed = part.of(entry).and_then(|(_, token)| snapshot.groups.groups.get(token));
        let group = shed.unwrap_or(group);
        if met.get(group.token.as_str(), "").is_none() {
            met.learn(group.token.as_str(), "", ());
            used.push(group);
        }
        rows.push(Row { entry, group });
    }
    Ok((rows, used))
}

/// The group of addresses in no row: the one whose token is the default edge's name, else
/// the one that consists of this edge alone, else one made for the purpose.
pub fn default_group<'a>(snapshot: &'a Snapshot, service: &Name) -> Cow<'a, Group> {
    let name = &snapshot.default_edge;
    let token = Token::new(name);
    let groups = &snapshot.groups.groups;
    let alone = |g: &&Group| g.service == *service && g.edges.iter().map(|e| &e.name).eq([name]);
    let known = match &token {
        Some(token) => groups.get(token),
        None => groups.values().find(alone),
    };
    match known {
        Some(group) => Cow::Borrowed(group),
        None => Cow::Owned(Group {
            token: token.unwrap_or_else(|| digest_token(name)),
            service: service.clone(),
            edges: vec![GroupEdge { name: name.clone(), weight: 1 }],
        }),
    }
}

/// A token for a default edge whose name is none.
fn digest_token(name: &Name) -> Token {
    let digest = Sha256::new().chain_update(b"default-edge\n").chain_update(name.as_bytes()).finalize();
    let hex: String = digest.iter().take(5).map(|octet| format!("{octet:02x}")).collect();
    Token::new(&format!("g-{hex}")).expect("`g-` and ten hex digits are a token")
}
