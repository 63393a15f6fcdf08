CREATE TABLE audit (
    seq BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    principal_kind TEXT NOT NULL CHECK (principal_kind IN ('user', 'token', 'system')),
    principal_id TEXT NOT NULL,
    principal_name TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    prev_hash BYTEA NOT NULL CHECK (length(prev_hash) = 32),
    hash BYTEA NOT NULL CHECK (length(hash) = 32)
);

CREATE INDEX audit_by_principal ON audit (principal_id, seq);
CREATE INDEX audit_by_target ON audit (target, seq);

-- The newest row's number and hash: a row cut off at the end is missed.
CREATE TABLE audit_head (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL CHECK (length(hash) = 32)
);

INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex'));

-- Rows up to through_seq were removed by age; the chain goes on from this hash.
CREATE TABLE audit_anchor (
    through_seq BIGINT NOT NULL PRIMARY KEY,
    hash BYTEA NOT NULL CHECK (length(hash) = 32),
    row_count BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    anchored_at BIGINT NOT NULL
);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of the audit chain are never changed';
END;
$$;

CREATE FUNCTION refuse_audit_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.seq > COALESCE((SELECT MAX(through_seq) FROM audit_anchor), 0) THEN
        RAISE EXCEPTION 'audit rows are removed only below an anchor';
    END IF;
    RETURN OLD;
END;
$$;

CREATE FUNCTION refuse_anchor_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.through_seq = (SELECT MAX(through_seq) FROM audit_anchor) THEN
        RAISE EXCEPTION 'the newest audit anchor stays';
    END IF;
    RETURN OLD;
END;
$$;

CREATE FUNCTION refuse_empty_anchor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.through_seq AND hash = NEW.hash) THEN
        RAISE EXCEPTION 'an audit anchor stands for a row of the chain';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_removed_only_below_an_anchor BEFORE DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_delete();
CREATE TRIGGER audit_anchor_is_never_changed BEFORE UPDATE ON audit_anchor
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_anchor_is_never_emptied BEFORE TRUNCATE ON audit_anchor
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_anchor_of_the_chain_stays BEFORE DELETE ON audit_anchor
    FOR EACH ROW EXECUTE FUNCTION refuse_anchor_delete();
CREATE TRIGGER audit_anchor_stands_for_a_row BEFORE INSERT ON audit_anchor
    FOR EACH ROW EXECUTE FUNCTION refuse_empty_anchor();
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
