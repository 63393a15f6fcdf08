CREATE TABLE change (
    seq BIGINT NOT NULL PRIMARY KEY,
    resource_key TEXT NOT NULL CHECK (length(resource_key) BETWEEN 1 AND 512),
    version BIGINT,
    changed_at BIGINT NOT NULL
);

-- Numbers are given under the lock of this one row, so they become visible in their order.
CREATE TABLE change_head (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL,
    deleted_through BIGINT NOT NULL
);

INSERT INTO change_head (id, seq, deleted_through) VALUES (1, 0, 0);
