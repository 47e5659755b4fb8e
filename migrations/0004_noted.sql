-- Small changes of a large table are noted here, and entered into `entry` when they have become
-- many: there the rows lie by address, and a few changes all over it touch as many pages.
--
-- A row of `entry` or `begun` that `ended` has too, with the same from_gen and key, is valid no
-- longer: of it what `ended` says is true. Both tables grow at their ends only.
CREATE TABLE begun (
    space     INTEGER NOT NULL,
    family    INTEGER NOT NULL CHECK (family IN (4, 6)),
    first     BLOB NOT NULL CHECK (length(first) = 16),
    last      BLOB NOT NULL CHECK (length(last) = 16),
    owner     INTEGER NOT NULL,
    bas       INTEGER,
    pool      BLOB NOT NULL,
    pool_text TEXT,
    vrf       INTEGER NOT NULL,
    class     INTEGER NOT NULL CHECK (class BETWEEN 0 AND 3),
    from_gen  INTEGER NOT NULL,
    PRIMARY KEY (from_gen, space, family, first)
) STRICT, WITHOUT ROWID;

-- As `entry`, of what ended since.
CREATE TABLE ended (
    to_gen    INTEGER NOT NULL,
    space     INTEGER NOT NULL,
    family    INTEGER NOT NULL CHECK (family IN (4, 6)),
    first     BLOB NOT NULL CHECK (length(first) = 16),
    last      BLOB NOT NULL CHECK (length(last) = 16),
    owner     INTEGER NOT NULL,
    bas       INTEGER,
    pool      BLOB NOT NULL,
    pool_text TEXT,
    vrf       INTEGER NOT NULL,
    class     INTEGER NOT NULL CHECK (class BETWEEN 0 AND 3),
    from_gen  INTEGER NOT NULL,
    PRIMARY KEY (to_gen, space, family, first)
) STRICT, WITHOUT ROWID;
