CREATE TABLE change (
    seq INTEGER NOT NULL PRIMARY KEY,
    resource_key TEXT NOT NULL CHECK (length(resource_key) BETWEEN 1 AND 512),
    version INTEGER,
    changed_at INTEGER NOT NULL
) STRICT;

-- Numbers are given under the lock of this one row, so they become visible in their order.
CREATE TABLE change_head (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    deleted_through INTEGER NOT NULL
) STRICT;

INSERT INTO change_head (id, seq, deleted_through) VALUES (1, 0, 0);
