-- tidings: oldest-release=0.1.0
-- No release has written these tables.
-- squawk-ignore-file ban-drop-column, ban-drop-table, constraint-missing-not-valid, ban-drop-constraint
-- The back office gets what the other services have: a ledger of consumed events in the kernel's form, and an audit log.

DROP TABLE IF EXISTS bff_backoffice.inbox;
CREATE TABLE IF NOT EXISTS bff_backoffice.consumed_events (
    consumer_name TEXT COLLATE "C" NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    tenant_id     TEXT COLLATE "C",
    consumed_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at    TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id)
);
CREATE INDEX IF NOT EXISTS ix_consumed_events_expiry ON bff_backoffice.consumed_events (expires_at);
COMMENT ON TABLE bff_backoffice.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';
COMMENT ON COLUMN bff_backoffice.consumed_events.consumer_name IS 'Not personal: the consumer group.';
CALL kernel.protect_tenant_table('bff_backoffice.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_platform('bff_backoffice.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_worker('bff_backoffice.consumed_events', 'SELECT (consumer_name, event_id, tenant_id, expires_at), DELETE');
CALL kernel.open_to_sets('bff_backoffice.consumed_events');
CALL kernel.store_as_ledger('bff_backoffice.consumed_events');

-- An operator and their device are part of the scope that a key is unique within.
ALTER TABLE bff_backoffice.idempotency_keys
    DROP COLUMN IF EXISTS device_id,
    DROP COLUMN IF EXISTS operator_id;

CREATE TABLE IF NOT EXISTS bff_backoffice.audit (
    tenant_id       TEXT COLLATE "C",
    entity_type     TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    occurred_at     TIMESTAMPTZ NOT NULL,
    entity_id       TEXT COLLATE "C" NOT NULL,
    action          TEXT COLLATE "C" NOT NULL,
    actor           TEXT COLLATE "C" NOT NULL,
    before          TEXT,
    after           TEXT,
    ip_hash         TEXT COLLATE "C",
    user_agent_hash TEXT COLLATE "C",
    trace_id        TEXT COLLATE "C",
    reason          TEXT,
    prev_hash       TEXT COLLATE "C",
    record_hash     TEXT COLLATE "C" NOT NULL,
    CONSTRAINT uq_audit_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id),
    CONSTRAINT uq_audit_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type, seq, occurred_at),
    CONSTRAINT ck_audit_id CHECK (id ~ '^bff_audit_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_audit_entity_type CHECK (entity_type ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_audit_action CHECK (action ~ '^[a-z][a-z0-9_.]{1,62}$'),
    CONSTRAINT ck_audit_seq CHECK (seq >= 1),
    CONSTRAINT ck_audit_first CHECK ((seq = 1) = (prev_hash IS NULL)),
    CONSTRAINT ck_audit_prev_hash CHECK (prev_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT ck_audit_record_hash CHECK (record_hash ~ '^[0-9a-f]{64}$')
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_audit_entity ON bff_backoffice.audit (tenant_id, entity_type, entity_id, occurred_at DESC);
COMMENT ON TABLE bff_backoffice.audit IS
    'Who changed operators, their rights and their sessions, append-only and hash-chained. tenant_id null: the platform''s own.';
COMMENT ON COLUMN bff_backoffice.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';
COMMENT ON COLUMN bff_backoffice.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';
COMMENT ON COLUMN bff_backoffice.audit.before IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN bff_backoffice.audit.after IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN bff_backoffice.audit.ip_hash IS 'Peppered; the raw address is not kept.';
COMMENT ON COLUMN bff_backoffice.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';
CALL kernel.make_append_only('bff_backoffice.audit');
CALL kernel.protect_tenant_table('bff_backoffice.audit', 'SELECT, INSERT', true);
CALL kernel.open_to_platform('bff_backoffice.audit', 'SELECT, INSERT', true);
CALL kernel.open_to_worker('bff_backoffice.audit', 'SELECT (tenant_id)');

CREATE TABLE IF NOT EXISTS bff_backoffice.audit_heads (
    tenant_id   TEXT COLLATE "C",
    entity_type TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL,
    record_hash TEXT COLLATE "C",
    last_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type),
    CONSTRAINT ck_audit_heads_seq CHECK (seq >= 0)
) WITH (fillfactor = 50);
ALTER TABLE bff_backoffice.audit_heads REPLICA IDENTITY FULL;
COMMENT ON TABLE bff_backoffice.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';
CALL kernel.protect_tenant_table('bff_backoffice.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('bff_backoffice.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('bff_backoffice.audit_heads', 'SELECT (tenant_id)');

ALTER TABLE kernel.audit_anchors
    DROP CONSTRAINT IF EXISTS ck_audit_anchors_log,
    ADD CONSTRAINT ck_audit_anchors_log CHECK (log IN ('notification', 'chan', 'bff_backoffice'));

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor) VALUES
    ('bff_backoffice.audit', 'backoffice', 'month', 3, 'occurred_at', 100)
ON CONFLICT (parent) DO NOTHING;

CALL kernel.assert_protected();
