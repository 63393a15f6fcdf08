CREATE TABLE app_user (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    name_key TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL CHECK (length(display_name) <= 256),
    role TEXT NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
    grants TEXT,
    scope TEXT NOT NULL,
    password_hash TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT,
    version BIGINT NOT NULL
);

CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    token_hash BYTEA NOT NULL UNIQUE,
    previous_hash BYTEA UNIQUE,
    previous_until BIGINT,
    source TEXT NOT NULL CHECK (length(source) <= 64),
    user_agent TEXT NOT NULL CHECK (length(user_agent) <= 512),
    created_at BIGINT NOT NULL,
    rotated_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE INDEX session_by_user ON session (user_id, id);
CREATE INDEX session_by_expiry ON session (expires_at);

CREATE TABLE api_token (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    token_hash BYTEA NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
    grants TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT
);

CREATE INDEX api_token_by_user ON api_token (user_id, id);

CREATE TABLE login_throttle (
    kind TEXT NOT NULL CHECK (kind IN ('name', 'source')),
    subject TEXT NOT NULL CHECK (length(subject) BETWEEN 1 AND 256),
    failure_count BIGINT NOT NULL,
    last_failure_at BIGINT NOT NULL,
    locked_until BIGINT,
    PRIMARY KEY (kind, subject)
);

CREATE INDEX login_throttle_by_age ON login_throttle (last_failure_at);
