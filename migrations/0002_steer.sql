-- Steering by load.

-- The entries of an owner that are answered with another group than the owner's.
CREATE TABLE shed (
    to_gen   INTEGER NOT NULL,
    owner    INTEGER NOT NULL,
    service  INTEGER NOT NULL,
    body     TEXT NOT NULL,              -- which entries, and where they go; JSON
    from_gen INTEGER NOT NULL,
    PRIMARY KEY (to_gen, owner, service)
) STRICT, WITHOUT ROWID;

-- What steering remembers from one reading of the loads to the next; one row, JSON.
CREATE TABLE steering (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    body TEXT NOT NULL
) STRICT;
