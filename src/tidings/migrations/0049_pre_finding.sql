-- tidings: oldest-release=0.1.0
-- A notification is found by what its sender wrote beside it, and knows which one it repeats.

ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS resent_from TEXT COLLATE "C";
COMMENT ON COLUMN notification.notifications.resent_from IS 'The notification that this one repeats, for a person who asked for it again.';

CREATE TABLE IF NOT EXISTS notification.searchable_metadata (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    key             TEXT COLLATE "C" NOT NULL,
    value_hash      TEXT COLLATE "C" NOT NULL,
    -- Led by the notification: an erasure takes away what its metadata was found by.
    CONSTRAINT pk_searchable_metadata PRIMARY KEY (tenant_id, notification_id, key, created_at),
    CONSTRAINT ck_searchable_metadata_hash CHECK (value_hash ~ '^sha256:[0-9a-f]{64}$')
) PARTITION BY RANGE (created_at);
CREATE INDEX IF NOT EXISTS ix_searchable_metadata_value
    ON notification.searchable_metadata (tenant_id, key, value_hash, created_at DESC, notification_id DESC);
COMMENT ON TABLE notification.searchable_metadata IS
    'What notifications are found by: values of the metadata keys that their tenant declared searchable.';
COMMENT ON COLUMN notification.searchable_metadata.created_at IS 'The time inside the notification''s id.';
COMMENT ON COLUMN notification.searchable_metadata.value_hash IS 'Under the tenant''s pepper, together with the key; the value is not kept here.';
CALL kernel.protect_tenant_table('notification.searchable_metadata', 'SELECT, INSERT, DELETE');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor, keep) VALUES
    ('notification.searchable_metadata', 'notify', 'month', 3, 'created_at', 100, 25)
ON CONFLICT (parent) DO NOTHING;

CALL kernel.assert_protected();
