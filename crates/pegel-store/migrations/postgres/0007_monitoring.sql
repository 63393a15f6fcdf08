CREATE TABLE monitor (
    id TEXT NOT NULL PRIMARY KEY,
    cluster_slug TEXT REFERENCES cluster (slug) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    target TEXT NOT NULL,
    rule TEXT NOT NULL,
    heartbeat_rule TEXT,
    labels TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX monitor_by_cluster ON monitor (cluster_slug, id);

-- What changes with every sample, apart from what people write.
CREATE TABLE monitor_state (
    monitor_id TEXT NOT NULL PRIMARY KEY REFERENCES monitor (id) ON DELETE CASCADE,
    verdict TEXT NOT NULL,
    heartbeat TEXT,
    revision BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    wake_at BIGINT,
    lease_owner TEXT,
    lease_until BIGINT
);

CREATE INDEX monitor_state_by_wake ON monitor_state (wake_at);

CREATE TABLE heartbeat_key (
    key_hash BYTEA NOT NULL PRIMARY KEY CHECK (length(key_hash) = 32),
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL
);

CREATE INDEX heartbeat_key_by_monitor ON heartbeat_key (monitor_id);

CREATE TABLE heartbeat_ping (
    id TEXT NOT NULL PRIMARY KEY,
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    received_at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    exit_code BIGINT,
    run_id TEXT,
    source_id TEXT,
    remote TEXT NOT NULL CHECK (length(remote) <= 64),
    body BYTEA NOT NULL,
    body_bytes BIGINT NOT NULL
);

CREATE INDEX heartbeat_ping_by_monitor ON heartbeat_ping (monitor_id, id);
CREATE INDEX heartbeat_ping_by_age ON heartbeat_ping (received_at);

-- An incident outlives its monitor, so it keeps a copy of what it needs of it.
CREATE TABLE incident (
    id TEXT NOT NULL PRIMARY KEY,
    monitor_id TEXT NOT NULL,
    cluster_slug TEXT,
    monitor_name TEXT NOT NULL,
    labels TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('bad', 'no_data')),
    severity TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    since BIGINT NOT NULL,
    fired_at BIGINT NOT NULL,
    announced_at BIGINT,
    acknowledged_at BIGINT,
    ended_at BIGINT,
    closed_at BIGINT,
    ending TEXT CHECK (ending IN ('recovered', 'data_back', 'paused', 'deleted')),
    version BIGINT NOT NULL
);

CREATE INDEX incident_by_monitor ON incident (monitor_id, id);
CREATE INDEX incident_by_end ON incident (closed_at, id);

CREATE TABLE incident_event (
    id TEXT NOT NULL PRIMARY KEY,
    incident_id TEXT NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
    happened_at BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    actor TEXT NOT NULL CHECK (length(actor) <= 256),
    detail TEXT NOT NULL
);

CREATE INDEX incident_event_by_incident ON incident_event (incident_id, id);

CREATE TABLE channel (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    settings TEXT NOT NULL,
    is_enabled BIGINT NOT NULL CHECK (is_enabled IN (0, 1)),
    failing_since BIGINT,
    broken_at BIGINT,
    broken_reason TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE TABLE route (
    id TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL UNIQUE,
    definition TEXT NOT NULL
);

-- Routes are changed together, since their order is a part of what they mean.
CREATE TABLE route_list (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

INSERT INTO route_list (id, version) VALUES (1, 0);

CREATE TABLE quiet_time (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('silence', 'maintenance')),
    definition TEXT NOT NULL,
    comment TEXT NOT NULL CHECK (length(comment) <= 1024),
    created_by TEXT NOT NULL CHECK (length(created_by) <= 256),
    ends_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX quiet_time_by_end ON quiet_time (ends_at);

CREATE TABLE outbox (
    id TEXT NOT NULL PRIMARY KEY,
    channel_id TEXT NOT NULL,
    firing_id TEXT NOT NULL,
    monitor_id TEXT NOT NULL,
    delivery_key TEXT NOT NULL,
    notice TEXT NOT NULL,
    payload TEXT NOT NULL,
    progress TEXT NOT NULL
        CHECK (progress IN ('never_sent', 'sending', 'ambiguous', 'delivered', 'dead', 'cancelled')),
    may_have_arrived BIGINT NOT NULL CHECK (may_have_arrived IN (0, 1)),
    attempt_count BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    last_error TEXT,
    ended_at BIGINT
);

CREATE INDEX outbox_by_lane ON outbox (channel_id, firing_id, id);
CREATE INDEX outbox_open ON outbox (next_at, id) WHERE ended_at IS NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;

-- Samples in columns: one row for a target and a stretch of time.
CREATE TABLE sample_chunk (
    target_id TEXT NOT NULL CHECK (length(target_id) BETWEEN 1 AND 128),
    resolution_ms BIGINT NOT NULL,
    begins_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    sample_count BIGINT NOT NULL,
    is_open BIGINT NOT NULL CHECK (is_open IN (0, 1)),
    data BYTEA NOT NULL,
    PRIMARY KEY (target_id, resolution_ms, begins_at)
);

CREATE INDEX sample_chunk_by_age ON sample_chunk (resolution_ms, ends_at);
