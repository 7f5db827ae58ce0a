-- Emergency only: undoes 0099_pre_backoffice_audit. The audit of the back office is lost.

DELETE FROM kernel.partitioned_tables WHERE parent = 'bff_backoffice.audit';
ALTER TABLE kernel.audit_anchors
    DROP CONSTRAINT IF EXISTS ck_audit_anchors_log,
    ADD CONSTRAINT ck_audit_anchors_log CHECK (log IN ('notification', 'chan')) NOT VALID;
DROP TABLE IF EXISTS bff_backoffice.audit;
DROP TABLE IF EXISTS bff_backoffice.audit_heads;
ALTER TABLE bff_backoffice.idempotency_keys
    ADD COLUMN IF NOT EXISTS device_id TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS operator_id TEXT COLLATE "C";
DROP TABLE IF EXISTS bff_backoffice.consumed_events;
CREATE TABLE IF NOT EXISTS bff_backoffice.inbox (
    consumer_name TEXT COLLATE "C" NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    tenant_id     TEXT COLLATE "C",
    consumed_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at    TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    subject       TEXT COLLATE "C",
    processed_at  TIMESTAMPTZ,
    attempts      INTEGER NOT NULL DEFAULT 0,
    last_error    TEXT,
    CONSTRAINT pk_inbox PRIMARY KEY (consumer_name, event_id)
);
CREATE INDEX IF NOT EXISTS ix_inbox_expiry ON bff_backoffice.inbox (expires_at);
CREATE INDEX IF NOT EXISTS ix_inbox_unprocessed ON bff_backoffice.inbox (consumed_at) WHERE processed_at IS NULL;
COMMENT ON TABLE bff_backoffice.inbox IS 'Events the back office has consumed: notify''s consumed_events, and how their handling went.';
COMMENT ON COLUMN bff_backoffice.inbox.consumed_at IS 'When it was received.';
CALL kernel.protect_tenant_table('bff_backoffice.inbox', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_platform('bff_backoffice.inbox', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('bff_backoffice.inbox', 'SELECT (consumer_name, event_id, tenant_id, expires_at), DELETE');
