CREATE TABLE audit (
    seq INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    principal_kind TEXT NOT NULL CHECK (principal_kind IN ('user', 'token', 'system')),
    principal_id TEXT NOT NULL,
    principal_name TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX audit_by_principal ON audit (principal_id, seq);
CREATE INDEX audit_by_target ON audit (target, seq);

-- The newest row's number and hash: a row cut off at the end is missed.
CREATE TABLE audit_head (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, zeroblob(32));

-- Rows up to through_seq were removed by age; the chain goes on from this hash.
CREATE TABLE audit_anchor (
    through_seq INTEGER NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    row_count INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    anchored_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit rows are never changed');
END;

CREATE TRIGGER audit_is_removed_only_below_an_anchor BEFORE DELETE ON audit
WHEN OLD.seq > COALESCE((SELECT MAX(through_seq) FROM audit_anchor), 0)
BEGIN
    SELECT RAISE(ABORT, 'audit rows are removed only below an anchor');
END;

CREATE TRIGGER audit_anchor_is_never_changed BEFORE UPDATE ON audit_anchor
BEGIN
    SELECT RAISE(ABORT, 'audit anchors are never changed');
END;

CREATE TRIGGER audit_anchor_of_the_chain_stays BEFORE DELETE ON audit_anchor
WHEN OLD.through_seq = (SELECT MAX(through_seq) FROM audit_anchor)
BEGIN
    SELECT RAISE(ABORT, 'the newest audit anchor stays');
END;

CREATE TRIGGER audit_anchor_stands_for_a_row BEFORE INSERT ON audit_anchor
WHEN NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.through_seq AND hash = NEW.hash)
BEGIN
    SELECT RAISE(ABORT, 'an audit anchor stands for a row of the chain');
END;

CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the head of the audit chain stays');
END;
