-- What makes notify safe to repeat: outbox, consumed events, idempotency keys, fan-out ledger.
-- The three services' outboxes have one shape, because one relay serves them; so have the idempotency tables.

CREATE TABLE IF NOT EXISTS notification.outbox (
    seq              BIGINT GENERATED ALWAYS AS IDENTITY,
    id               TEXT COLLATE "C" NOT NULL,
    tenant_id        TEXT COLLATE "C",
    subject          TEXT COLLATE "C" NOT NULL,
    ordering_key     TEXT COLLATE "C" NOT NULL,
    payload          TEXT NOT NULL,
    envelope         TEXT NOT NULL,
    enqueued_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    publish_attempts INTEGER NOT NULL DEFAULT 0,
    last_error       TEXT,
    CONSTRAINT pk_outbox PRIMARY KEY (seq),
    CONSTRAINT ck_outbox_id CHECK (id LIKE 'evt\_%' AND length(id) = 30)
);
CREATE OR REPLACE TRIGGER announce AFTER INSERT ON notification.outbox
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();
COMMENT ON TABLE notification.outbox IS 'Events of notify, written with the change they announce; the relay moves them to the bus.';
COMMENT ON COLUMN notification.outbox.seq IS
    'Given at insert, visible at commit: a lower number may appear after a higher one. The relay deletes what it moved.';
COMMENT ON COLUMN notification.outbox.payload IS 'JSON: the event''s data. Ids and facts; no address, no body, no secret.';
COMMENT ON COLUMN notification.outbox.envelope IS 'JSON: CloudEvents attributes, traceparent, schema version.';
CALL kernel.protect_tenant_table('notification.outbox', 'INSERT');
CALL kernel.open_to_platform('notification.outbox', 'INSERT');
CALL kernel.open_to_worker('notification.outbox', 'SELECT, DELETE');

CREATE TABLE IF NOT EXISTS notification.consumed_events (
    consumer_name TEXT COLLATE "C" NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    tenant_id     TEXT COLLATE "C",
    consumed_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at    TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id)
);
CREATE INDEX IF NOT EXISTS ix_consumed_events_expiry ON notification.consumed_events (expires_at);
COMMENT ON TABLE notification.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';
COMMENT ON COLUMN notification.consumed_events.event_id IS
    'Our own evt_ id. A producer''s id is not unique between tenants and must not stand here.';
CALL kernel.protect_tenant_table('notification.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_platform('notification.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_worker('notification.consumed_events', 'SELECT (consumer_name, event_id, tenant_id, expires_at), DELETE');

CREATE TABLE IF NOT EXISTS notification.idempotency_keys (
    tenant_id    TEXT COLLATE "C",
    scope        TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    request_hash TEXT COLLATE "C" NOT NULL,
    state        TEXT NOT NULL DEFAULT 'in_progress',
    locked_until TIMESTAMPTZ,
    status       INTEGER,
    response     TEXT,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at   TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '24 hours',
    CONSTRAINT uq_idempotency_keys_key UNIQUE NULLS NOT DISTINCT (tenant_id, scope, key),
    CONSTRAINT ck_idempotency_keys_key CHECK (length(key) BETWEEN 1 AND 255),
    CONSTRAINT ck_idempotency_keys_state CHECK (state IN ('in_progress', 'done')),
    CONSTRAINT ck_idempotency_keys_done CHECK (state <> 'done' OR (status IS NOT NULL AND response IS NOT NULL))
);
ALTER TABLE notification.idempotency_keys REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_idempotency_keys_expiry ON notification.idempotency_keys (expires_at);
COMMENT ON TABLE notification.idempotency_keys IS 'Answers to requests that carried an Idempotency-Key. tenant_id null: a request of the platform.';
COMMENT ON COLUMN notification.idempotency_keys.locked_until IS
    'While one request works, a second one with the same key waits or is told so; after this time it may take over.';
COMMENT ON COLUMN notification.idempotency_keys.response IS 'The body answered, replayed as it was: ids and states, no content, no secret.';
CALL kernel.protect_tenant_table('notification.idempotency_keys', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_platform('notification.idempotency_keys', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('notification.idempotency_keys', 'SELECT (tenant_id, scope, key, expires_at), DELETE');

-- A unique key over the partitioned notifications cannot be had: this narrow table is it.
CREATE TABLE IF NOT EXISTS notification.dedup_ledger (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    source_event_id TEXT COLLATE "C" NOT NULL,
    template_key    TEXT COLLATE "C" NOT NULL,
    recipient_id    TEXT COLLATE "C" NOT NULL,
    channel         TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_dedup_ledger PRIMARY KEY (tenant_id, source_event_id, template_key, recipient_id, channel)
);
CREATE INDEX IF NOT EXISTS ix_dedup_ledger_expiry ON notification.dedup_ledger (expires_at);
COMMENT ON TABLE notification.dedup_ledger IS 'One notification per event, template, recipient and channel.';
COMMENT ON COLUMN notification.dedup_ledger.expires_at IS
    'No default: it must outlive the bus''s retention plus the longest schedule offset.';
CALL kernel.protect_tenant_table('notification.dedup_ledger', 'SELECT, INSERT');
CALL kernel.open_to_worker('notification.dedup_ledger', 'SELECT, DELETE');
