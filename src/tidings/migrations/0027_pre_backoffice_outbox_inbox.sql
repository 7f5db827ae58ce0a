-- What makes the back office safe to repeat. Outbox and idempotency keys have the shape of notify's (0013).

CREATE TABLE IF NOT EXISTS bff_backoffice.outbox (
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
CREATE OR REPLACE TRIGGER announce AFTER INSERT ON bff_backoffice.outbox
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();
COMMENT ON TABLE bff_backoffice.outbox IS 'Events of the back office, written with the change they announce; the relay moves them to the bus.';
CALL kernel.protect_tenant_table('bff_backoffice.outbox', 'INSERT');
CALL kernel.open_to_platform('bff_backoffice.outbox', 'INSERT');
CALL kernel.open_to_worker('bff_backoffice.outbox', 'SELECT, DELETE');

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

CREATE TABLE IF NOT EXISTS bff_backoffice.idempotency_keys (
    tenant_id    TEXT COLLATE "C",
    scope        TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    request_hash TEXT COLLATE "C" NOT NULL,
    state        TEXT NOT NULL DEFAULT 'in_progress',
    locked_until TIMESTAMPTZ,
    status       INTEGER,
    response     TEXT,
    device_id    TEXT COLLATE "C",
    operator_id  TEXT COLLATE "C",
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at   TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '24 hours',
    CONSTRAINT uq_idempotency_keys_key UNIQUE NULLS NOT DISTINCT (tenant_id, scope, key),
    CONSTRAINT ck_idempotency_keys_key CHECK (length(key) BETWEEN 1 AND 255),
    CONSTRAINT ck_idempotency_keys_state CHECK (state IN ('in_progress', 'done')),
    CONSTRAINT ck_idempotency_keys_done CHECK (state <> 'done' OR (status IS NOT NULL AND response IS NOT NULL))
);
ALTER TABLE bff_backoffice.idempotency_keys REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_idempotency_keys_expiry ON bff_backoffice.idempotency_keys (expires_at);
COMMENT ON TABLE bff_backoffice.idempotency_keys IS 'Answers to operators'' requests that carried an Idempotency-Key.';
CALL kernel.protect_tenant_table('bff_backoffice.idempotency_keys', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_platform('bff_backoffice.idempotency_keys', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('bff_backoffice.idempotency_keys', 'SELECT (tenant_id, scope, key, expires_at), DELETE');

CALL kernel.assert_protected();
