CREATE TABLE cluster (
    slug TEXT NOT NULL PRIMARY KEY CHECK (length(slug) BETWEEN 1 AND 63),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    environment TEXT NOT NULL CHECK (environment IN ('production', 'staging', 'development', 'test')),
    read_only BIGINT NOT NULL CHECK (read_only IN (0, 1)),
    options TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
