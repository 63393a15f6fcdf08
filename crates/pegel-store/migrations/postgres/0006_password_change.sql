ALTER TABLE app_user ADD COLUMN must_change_password BIGINT NOT NULL DEFAULT 0 CHECK (must_change_password IN (0, 1));
