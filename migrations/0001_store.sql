-- The store of poolsync. Never edited once released: what comes later is a new file.
--
-- Conventions
--   * Names (spaces, owners, BASes, VRFs, ...) are kept once, in `name`, and referred to by
--     number. The big tables do not declare that as a foreign key: four look-ups a row are
--     what a first commit of a million rows cannot afford; one writer interns them all.
--   * Addresses are 16 octets, big-endian, IPv4 in the last four; family is 4 or 6.
--   * Times are nanoseconds since 1970 UTC. They may step back: generation numbers are
--     what orders the store, times are for people and for the guard's window.
--   * A row that generations tell apart is valid for from_gen <= N < to_gen; to_gen is
--     9223372036854775807 while it is valid. Each such table is clustered by to_gen: the
--     state at N is the one range to_gen > N, filtered by from_gen, and the current state
--     lies together, in the table's order.

-- One row: what is true of the whole store.
CREATE TABLE meta (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    session INTEGER NOT NULL,            -- 64 random bits, as signed
    filled  INTEGER NOT NULL CHECK (filled IN (0, 1)),
    oldest  INTEGER NOT NULL,            -- the oldest generation whose table can be told
    shown   INTEGER                      -- the first generation that was published
) STRICT;
INSERT INTO meta (id, session, filled, oldest) VALUES (1, random(), 0, 0);

CREATE TABLE name (
    id   INTEGER NOT NULL PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE generation (
    number    INTEGER NOT NULL PRIMARY KEY,
    committed INTEGER NOT NULL,
    entries   INTEGER NOT NULL,          -- how many entries the table has
    digest    INTEGER NOT NULL,          -- wrapping sum of the entries' hashes
    added     INTEGER NOT NULL,
    removed   INTEGER NOT NULL,
    altered   INTEGER NOT NULL,
    groups    INTEGER NOT NULL CHECK (groups IN (0, 1))   -- whether groups changed
) STRICT;
CREATE INDEX generation_committed ON generation (committed);

CREATE TABLE entry (
    to_gen    INTEGER NOT NULL,
    space     INTEGER NOT NULL,
    family    INTEGER NOT NULL CHECK (family IN (4, 6)),
    first     BLOB NOT NULL CHECK (length(first) = 16),
    last      BLOB NOT NULL CHECK (length(last) = 16),
    owner     INTEGER NOT NULL,
    bas       INTEGER,                   -- null: a static line that names edges
    pool      BLOB NOT NULL,             -- the octets
    pool_text TEXT,                      -- null: what the octets are as UTF-8, \xNN else
    vrf       INTEGER NOT NULL,
    class     INTEGER NOT NULL CHECK (class BETWEEN 0 AND 3),
    from_gen  INTEGER NOT NULL,
    PRIMARY KEY (to_gen, space, family, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge_group (
    to_gen   INTEGER NOT NULL,
    token    TEXT NOT NULL,
    service  INTEGER NOT NULL,
    from_gen INTEGER NOT NULL,
    PRIMARY KEY (to_gen, token)
) STRICT, WITHOUT ROWID;

-- The edges of a group, nearest first; they come and go with their group's row.
CREATE TABLE group_edge (
    to_gen   INTEGER NOT NULL,
    token    TEXT NOT NULL,
    position INTEGER NOT NULL,
    edge     INTEGER NOT NULL,
    weight   INTEGER NOT NULL,
    PRIMARY KEY (to_gen, token, position),
    FOREIGN KEY (to_gen, token) REFERENCES edge_group (to_gen, token)
        ON UPDATE CASCADE ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE owner_group (
    to_gen   INTEGER NOT NULL,
    owner    INTEGER NOT NULL,
    service  INTEGER NOT NULL,
    token    TEXT NOT NULL,
    from_gen INTEGER NOT NULL,
    PRIMARY KEY (to_gen, owner, service)
) STRICT, WITHOUT ROWID;

-- What is remembered of a BAS between polls; JSON, except for what it lists. `seen` is
-- [[space, family, first, last, since], ...] and the same with a count of polls, addresses
-- in hex.
CREATE TABLE bas_state (
    bas   INTEGER NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,                 -- all that is not below
    seen  TEXT NOT NULL,                 -- since when listed, how often missed
    used  TEXT NOT NULL                  -- addresses in use, by `listed.position`
) STRICT;

-- The ranges that a BAS listed last, and those not read since.
CREATE TABLE listed (
    bas       INTEGER NOT NULL REFERENCES bas_state (bas) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    source    INTEGER NOT NULL,          -- the descriptor's table
    context   INTEGER NOT NULL,          -- the row: SNMP context ...
    arcs      BLOB NOT NULL,             -- ... and index, four octets an arc
    space     INTEGER,                   -- null: the VRF belongs to no space
    vrf       INTEGER NOT NULL,
    pool      BLOB NOT NULL,
    pool_text TEXT,
    family    INTEGER NOT NULL CHECK (family IN (4, 6)),
    first     BLOB NOT NULL CHECK (length(first) = 16),
    last      BLOB NOT NULL CHECK (length(last) = 16),
    size      INTEGER,                   -- the router's own count, 64 bits as signed
    standing  INTEGER NOT NULL CHECK (standing IN (0, 1)),   -- 0 listed, 1 unread
    PRIMARY KEY (bas, position)
) STRICT, WITHOUT ROWID;

-- The guard: one row for what is not a hold, and one a hold. JSON.
CREATE TABLE guard (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    body TEXT NOT NULL
) STRICT;
CREATE TABLE hold (
    id   INTEGER NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- Acts of an operator. A pin shows the ranges of `generation` in the place of those of
-- from_gen <= N < to_gen; to_gen is 9223372036854775807 while it holds.
CREATE TABLE pin (
    id         INTEGER NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('rollback', 'freeze')),
    generation INTEGER NOT NULL,         -- whose ranges are published
    by         TEXT NOT NULL,
    reason     TEXT NOT NULL,
    since      INTEGER NOT NULL,
    expires    INTEGER NOT NULL,
    from_gen   INTEGER NOT NULL,
    to_gen     INTEGER NOT NULL
) STRICT;
CREATE TABLE drain (
    edge   INTEGER NOT NULL PRIMARY KEY,
    by     TEXT NOT NULL,
    reason TEXT NOT NULL,
    since  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The whole lists of the groups that lack drained edges, of now.
CREATE TABLE drained_group (
    token    TEXT NOT NULL,
    position INTEGER NOT NULL,
    edge     INTEGER NOT NULL,
    weight   INTEGER NOT NULL,
    PRIMARY KEY (token, position)
) STRICT, WITHOUT ROWID;
-- What was done by whom.
CREATE TABLE act (
    id         INTEGER NOT NULL PRIMARY KEY,
    at         INTEGER NOT NULL,
    generation INTEGER NOT NULL,         -- the newest one when it was done
    kind       TEXT NOT NULL,
    by         TEXT NOT NULL,
    reason     TEXT NOT NULL,
    detail     TEXT NOT NULL
) STRICT;

-- Counts of use: the most in an hour, the last and the day's peak of a pool. Never part of a
-- generation.
CREATE TABLE use_hour (
    bas  INTEGER NOT NULL REFERENCES bas_state (bas) ON DELETE CASCADE,
    hour INTEGER NOT NULL,               -- hours since 1970 UTC
    size INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (bas, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE use_pool (
    bas       INTEGER NOT NULL REFERENCES bas_state (bas) ON DELETE CASCADE,
    vrf       INTEGER NOT NULL,
    pool      BLOB NOT NULL,
    pool_text TEXT,
    at        INTEGER NOT NULL,          -- when `size` and `used` were read
    size      INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    day       INTEGER NOT NULL,          -- days since 1970 UTC, of `peak`
    peak      INTEGER NOT NULL,
    PRIMARY KEY (bas, vrf, pool)
) STRICT, WITHOUT ROWID;
