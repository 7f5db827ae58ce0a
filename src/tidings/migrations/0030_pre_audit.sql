-- The hash-chained audit: one shape in two schemas, the heads of its streams, and the signed anchors.
-- A stream is a tenant and an entity type. Its rows are numbered without gaps and each holds the hash of the
-- one before. An anchor signs how far every stream had come, so that older partitions may be dropped.

CREATE TABLE IF NOT EXISTS notification.audit (
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
    CONSTRAINT ck_audit_id CHECK (id ~ '^aud_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_audit_entity_type CHECK (entity_type ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_audit_action CHECK (action ~ '^[a-z][a-z0-9_.]{1,62}$'),
    CONSTRAINT ck_audit_seq CHECK (seq >= 1),
    CONSTRAINT ck_audit_first CHECK ((seq = 1) = (prev_hash IS NULL)),
    CONSTRAINT ck_audit_prev_hash CHECK (prev_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT ck_audit_record_hash CHECK (record_hash ~ '^[0-9a-f]{64}$')
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_audit_entity ON notification.audit (tenant_id, entity_type, entity_id, occurred_at DESC);
COMMENT ON TABLE notification.audit IS 'Who changed what in notify, append-only and hash-chained. tenant_id null: the platform''s own.';
COMMENT ON COLUMN notification.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';
COMMENT ON COLUMN notification.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';
COMMENT ON COLUMN notification.audit.before IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN notification.audit.after IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN notification.audit.ip_hash IS 'Peppered; the raw address is not kept.';
COMMENT ON COLUMN notification.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';
CALL kernel.make_append_only('notification.audit');
CALL kernel.protect_tenant_table('notification.audit', 'SELECT, INSERT', true);
CALL kernel.open_to_platform('notification.audit', 'SELECT, INSERT', true);
-- Verification asks whose rows there are, then reads them tenant by tenant.
CALL kernel.open_to_worker('notification.audit', 'SELECT (tenant_id)');

CREATE TABLE IF NOT EXISTS notification.audit_heads (
    tenant_id   TEXT COLLATE "C",
    entity_type TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL,
    record_hash TEXT COLLATE "C",
    last_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type),
    CONSTRAINT ck_audit_heads_seq CHECK (seq >= 0)
) WITH (fillfactor = 50);
ALTER TABLE notification.audit_heads REPLICA IDENTITY FULL;
COMMENT ON TABLE notification.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';
CALL kernel.protect_tenant_table('notification.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('notification.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('notification.audit_heads', 'SELECT (tenant_id)');

CREATE TABLE IF NOT EXISTS chan.audit (
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
    CONSTRAINT ck_audit_id CHECK (id ~ '^chan_audit_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_audit_entity_type CHECK (entity_type ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_audit_action CHECK (action ~ '^[a-z][a-z0-9_.]{1,62}$'),
    CONSTRAINT ck_audit_seq CHECK (seq >= 1),
    CONSTRAINT ck_audit_first CHECK ((seq = 1) = (prev_hash IS NULL)),
    CONSTRAINT ck_audit_prev_hash CHECK (prev_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT ck_audit_record_hash CHECK (record_hash ~ '^[0-9a-f]{64}$')
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_audit_entity ON chan.audit (tenant_id, entity_type, entity_id, occurred_at DESC);
COMMENT ON TABLE chan.audit IS
    'Who or what changed policies, adapters, routes, sessions, profiles and circuits, append-only and hash-chained.';
COMMENT ON COLUMN chan.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';
COMMENT ON COLUMN chan.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';
COMMENT ON COLUMN chan.audit.before IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN chan.audit.after IS 'JSON, redacted: no address, body or secret.';
COMMENT ON COLUMN chan.audit.ip_hash IS 'Peppered; the raw address is not kept.';
COMMENT ON COLUMN chan.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';
CALL kernel.make_append_only('chan.audit');
CALL kernel.protect_tenant_table('chan.audit', 'SELECT, INSERT', true);
CALL kernel.open_to_platform('chan.audit', 'SELECT, INSERT', true);
CALL kernel.open_to_worker('chan.audit', 'SELECT (tenant_id)');

CREATE TABLE IF NOT EXISTS chan.audit_heads (
    tenant_id   TEXT COLLATE "C",
    entity_type TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL,
    record_hash TEXT COLLATE "C",
    last_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type),
    CONSTRAINT ck_audit_heads_seq CHECK (seq >= 0)
) WITH (fillfactor = 50);
ALTER TABLE chan.audit_heads REPLICA IDENTITY FULL;
COMMENT ON TABLE chan.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';
CALL kernel.protect_tenant_table('chan.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('chan.audit_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('chan.audit_heads', 'SELECT (tenant_id)');

CREATE TABLE IF NOT EXISTS kernel.audit_anchors (
    log          TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL,
    covers_from  TIMESTAMPTZ,
    covers_until TIMESTAMPTZ NOT NULL,
    taken_at     TIMESTAMPTZ NOT NULL,
    stream_count BIGINT NOT NULL,
    row_count    BIGINT NOT NULL,
    root         TEXT COLLATE "C" NOT NULL,
    prev_digest  TEXT COLLATE "C",
    digest       TEXT COLLATE "C" NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    signature    BYTEA NOT NULL,
    CONSTRAINT pk_audit_anchors PRIMARY KEY (log, number),
    CONSTRAINT uq_audit_anchors_id UNIQUE (id),
    CONSTRAINT ck_audit_anchors_log CHECK (log IN ('notification', 'chan')),
    CONSTRAINT ck_audit_anchors_kind CHECK (kind IN ('month', 'demand')),
    CONSTRAINT ck_audit_anchors_number CHECK (number >= 1),
    CONSTRAINT ck_audit_anchors_first CHECK ((number = 1) = (prev_digest IS NULL))
);
COMMENT ON TABLE kernel.audit_anchors IS 'Signed statements of how far every stream of an audit log had come. Append-only, kept for ever.';
COMMENT ON COLUMN kernel.audit_anchors.root IS 'Hash over this anchor''s lines in order of tenant and entity type.';
COMMENT ON COLUMN kernel.audit_anchors.digest IS 'Hash of what was signed; the next anchor repeats it, so that none can vanish in between.';
CALL kernel.make_append_only('kernel.audit_anchors');
CALL kernel.protect_platform_table('kernel.audit_anchors', 'SELECT, INSERT');

CREATE TABLE IF NOT EXISTS kernel.audit_anchor_lines (
    log           TEXT COLLATE "C" NOT NULL,
    anchor_number BIGINT NOT NULL,
    tenant_id     TEXT COLLATE "C",
    entity_type   TEXT COLLATE "C" NOT NULL,
    seq           BIGINT NOT NULL,
    record_hash   TEXT COLLATE "C" NOT NULL,
    last_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_audit_anchor_lines_line UNIQUE NULLS NOT DISTINCT (log, anchor_number, tenant_id, entity_type)
);
CREATE INDEX IF NOT EXISTS ix_audit_anchor_lines_stream ON kernel.audit_anchor_lines (tenant_id, log, entity_type, seq);
ALTER TABLE kernel.audit_anchor_lines REPLICA IDENTITY FULL;
COMMENT ON TABLE kernel.audit_anchor_lines IS 'One stream in one anchor: its last row before the anchor''s end. Only streams that grew since the last anchor.';
CALL kernel.make_append_only('kernel.audit_anchor_lines');
CALL kernel.protect_tenant_table('kernel.audit_anchor_lines', 'SELECT', true);
CALL kernel.open_to_platform('kernel.audit_anchor_lines', 'SELECT, INSERT');
CALL kernel.open_to_worker('kernel.audit_anchor_lines', 'SELECT (log, tenant_id)');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor) VALUES
    ('notification.audit', 'notify', 'month', 3, 'occurred_at', 100),
    ('chan.audit', 'router', 'month', 3, 'occurred_at', 100)
ON CONFLICT (parent) DO NOTHING;

CALL kernel.assert_protected();
