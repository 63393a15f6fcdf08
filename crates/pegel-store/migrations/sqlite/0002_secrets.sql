CREATE TABLE secret (
    owner TEXT NOT NULL CHECK (length(owner) BETWEEN 1 AND 512),
    field TEXT NOT NULL CHECK (length(field) BETWEEN 1 AND 128),
    key_id TEXT NOT NULL,
    ciphertext BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (owner, field)
) STRICT;

CREATE INDEX secret_by_key ON secret (key_id);
