-- One row: who this installation is, and when one of its instances was last known to be alive.
CREATE TABLE installation (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    installation_id TEXT NOT NULL,
    alive_at INTEGER,
    blackout_seq INTEGER NOT NULL
) STRICT;

-- Stretches of time in which nobody was watching. Numbered, since the clock may go back.
CREATE TABLE blackout (
    seq INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('own', 'egress')),
    begins_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;

CREATE INDEX blackout_by_end ON blackout (ends_at);

ALTER TABLE monitor_state ADD COLUMN blackout_seq INTEGER NOT NULL DEFAULT 0;

-- What the last sample saw.
ALTER TABLE monitor_state ADD COLUMN evidence TEXT;

ALTER TABLE outbox ADD COLUMN channel_kind TEXT NOT NULL DEFAULT '';

-- Where people read it, what is due for one channel and group goes out as one message.
ALTER TABLE outbox ADD COLUMN merge_group TEXT NOT NULL DEFAULT '';

CREATE TABLE storm_window (
    channel_id TEXT NOT NULL,
    merge_group TEXT NOT NULL,
    opened_at INTEGER,
    PRIMARY KEY (channel_id, merge_group)
) STRICT;

CREATE TABLE delivery_attempt (
    id TEXT NOT NULL PRIMARY KEY,
    notice_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    firing_id TEXT NOT NULL,
    attempted_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    result TEXT NOT NULL CHECK (length(result) <= 64),
    detail TEXT NOT NULL CHECK (length(detail) <= 1000)
) STRICT;

CREATE INDEX delivery_attempt_by_channel ON delivery_attempt (channel_id, id);
CREATE INDEX delivery_attempt_by_firing ON delivery_attempt (firing_id, id);
CREATE INDEX delivery_attempt_by_age ON delivery_attempt (attempted_at);

-- What Pegel says about itself, such as that a channel is broken.
CREATE TABLE own_alert (
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    subject TEXT NOT NULL CHECK (length(subject) <= 128),
    firing_id TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT;
