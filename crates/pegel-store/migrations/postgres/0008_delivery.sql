-- One row: who this installation is, and when one of its instances was last known to be alive.
CREATE TABLE installation (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    installation_id TEXT NOT NULL,
    alive_at BIGINT,
    blackout_seq BIGINT NOT NULL
);

-- Stretches of time in which nobody was watching. Numbered, since the clock may go back.
CREATE TABLE blackout (
    seq BIGINT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('own', 'egress')),
    begins_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);

CREATE INDEX blackout_by_end ON blackout (ends_at);

ALTER TABLE monitor_state ADD COLUMN blackout_seq BIGINT NOT NULL DEFAULT 0;

-- What the last sample saw.
ALTER TABLE monitor_state ADD COLUMN evidence TEXT;

ALTER TABLE outbox ADD COLUMN channel_kind TEXT NOT NULL DEFAULT '';

-- Where people read it, what is due for one channel and group goes out as one message.
ALTER TABLE outbox ADD COLUMN merge_group TEXT NOT NULL DEFAULT '';

CREATE TABLE storm_window (
    channel_id TEXT NOT NULL,
    merge_group TEXT NOT NULL,
    opened_at BIGINT,
    PRIMARY KEY (channel_id, merge_group)
);

CREATE TABLE delivery_attempt (
    id TEXT NOT NULL PRIMARY KEY,
    notice_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    firing_id TEXT NOT NULL,
    attempted_at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    result TEXT NOT NULL CHECK (length(result) <= 64),
    detail TEXT NOT NULL CHECK (length(detail) <= 1000)
);

CREATE INDEX delivery_attempt_by_channel ON delivery_attempt (channel_id, id);
CREATE INDEX delivery_attempt_by_firing ON delivery_attempt (firing_id, id);
CREATE INDEX delivery_attempt_by_age ON delivery_attempt (attempted_at);

-- What Pegel says about itself, such as that a channel is broken.
CREATE TABLE own_alert (
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    subject TEXT NOT NULL CHECK (length(subject) <= 128),
    firing_id TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
