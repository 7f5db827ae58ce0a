-- What makes the router safe to repeat. Outbox and consumed events have the shape of notify's (0013).

CREATE TABLE IF NOT EXISTS chan.outbox (
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
CREATE OR REPLACE TRIGGER announce AFTER INSERT ON chan.outbox
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();
COMMENT ON TABLE chan.outbox IS 'Events of the router, written with the change they announce; the relay moves them to the bus.';
CALL kernel.protect_tenant_table('chan.outbox', 'INSERT');
CALL kernel.open_to_platform('chan.outbox', 'INSERT');
CALL kernel.open_to_worker('chan.outbox', 'SELECT, DELETE');

CREATE TABLE IF NOT EXISTS chan.delivery_outbox (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    recipient_id    TEXT COLLATE "C" NOT NULL,
    event_id        TEXT COLLATE "C" NOT NULL,
    execution_id    TEXT COLLATE "C" NOT NULL,
    subject         TEXT NOT NULL DEFAULT 'notification.delivery.outcome.v1',
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at      TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    CONSTRAINT pk_delivery_outbox PRIMARY KEY (tenant_id, notification_id, recipient_id),
    CONSTRAINT ck_delivery_outbox_event_id CHECK (event_id LIKE 'evt\_%' AND length(event_id) = 30)
);
CREATE INDEX IF NOT EXISTS ix_delivery_outbox_expiry ON chan.delivery_outbox (expires_at);
COMMENT ON TABLE chan.delivery_outbox IS
    'Proof that an outcome was announced: written with the outbox row, once per notification and recipient.';
COMMENT ON COLUMN chan.delivery_outbox.event_id IS 'The event in chan.outbox, which carries the payload.';
CALL kernel.protect_tenant_table('chan.delivery_outbox', 'SELECT, INSERT');
CALL kernel.open_to_worker('chan.delivery_outbox', 'SELECT, DELETE');

CREATE TABLE IF NOT EXISTS chan.delivery_inbox (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    message_id      TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    recipient_id    TEXT COLLATE "C" NOT NULL,
    received_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at      TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    CONSTRAINT pk_delivery_inbox PRIMARY KEY (tenant_id, message_id)
);
CREATE INDEX IF NOT EXISTS ix_delivery_inbox_expiry ON chan.delivery_inbox (expires_at);
COMMENT ON TABLE chan.delivery_inbox IS
    'Not used yet: dispatch requests already taken, by the message that brought them, where notify and router run apart.';
CALL kernel.protect_tenant_table('chan.delivery_inbox', 'SELECT, INSERT');
CALL kernel.open_to_worker('chan.delivery_inbox', 'SELECT, DELETE');

CREATE TABLE IF NOT EXISTS chan.consumed_events (
    consumer_name TEXT COLLATE "C" NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    tenant_id     TEXT COLLATE "C",
    consumed_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at    TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '30 days',
    CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id)
);
CREATE INDEX IF NOT EXISTS ix_consumed_events_expiry ON chan.consumed_events (expires_at);
COMMENT ON TABLE chan.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';
CALL kernel.protect_tenant_table('chan.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_platform('chan.consumed_events', 'SELECT, INSERT');
CALL kernel.open_to_worker('chan.consumed_events', 'SELECT (consumer_name, event_id, tenant_id, expires_at), DELETE');

CALL kernel.assert_protected();
