-- tidings: oldest-release=0.1.0
-- Events that other systems send: what they said is kept for as long as the bus keeps what follows from it, and that they came for
-- much longer, so that a repeat is known as one.

CREATE TABLE IF NOT EXISTS notification.received_events (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    received_at        TIMESTAMPTZ NOT NULL,
    source             TEXT COLLATE "C" NOT NULL,
    source_event_id    TEXT COLLATE "C" NOT NULL,
    type               TEXT COLLATE "C" NOT NULL,
    subject            TEXT COLLATE "C",
    happened_at        TIMESTAMPTZ NOT NULL,
    is_test            BOOLEAN NOT NULL DEFAULT false,
    content_ciphertext BYTEA NOT NULL,
    CONSTRAINT pk_received_events PRIMARY KEY (tenant_id, id, received_at),
    CONSTRAINT ck_received_events_id CHECK (id LIKE 'evt\_%' AND length(id) = 30)
) PARTITION BY RANGE (received_at);
COMMENT ON TABLE notification.received_events IS 'Events that other systems sent. One partition a day, dropped after eight: a day later than the bus drops what follows from them.';
COMMENT ON COLUMN notification.received_events.id IS 'Ours; the event that announces it on the bus has the same.';
COMMENT ON COLUMN notification.received_events.received_at IS 'The time inside the id.';
COMMENT ON COLUMN notification.received_events.source_event_id IS 'The sender''s own: with the source it says which event this is.';
COMMENT ON COLUMN notification.received_events.happened_at IS 'The CloudEvents attribute time; received_at where the sender left it out.';
COMMENT ON COLUMN notification.received_events.content_ciphertext IS 'Data and extension attributes, which may be about people: sealed with the tenant''s key for events.';
CALL kernel.protect_tenant_table('notification.received_events', 'SELECT, INSERT');
CALL kernel.open_to_sets('notification.received_events');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor, keep) VALUES
    ('notification.received_events', 'notify', 'day', 3, 'received_at', 100, 8)
ON CONFLICT (parent) DO NOTHING;

-- A unique key over the partitioned events cannot be had: this narrow table is it.
CREATE TABLE IF NOT EXISTS notification.received_event_ledger (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    identity_hash BYTEA NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_received_event_ledger PRIMARY KEY (tenant_id, identity_hash)
);
CREATE INDEX IF NOT EXISTS ix_received_event_ledger_expiry ON notification.received_event_ledger (expires_at);
COMMENT ON TABLE notification.received_event_ledger IS 'Which events have been received: one for each sender, source and id.';
COMMENT ON COLUMN notification.received_event_ledger.identity_hash IS
    'SHA-256 of who sent it (the tenant live, the tenant in tests, the platform), its source and its id there.';
COMMENT ON COLUMN notification.received_event_ledger.expires_at IS
    'It outlives the bus''s retention plus the longest schedule offset.';
CALL kernel.protect_tenant_table('notification.received_event_ledger', 'SELECT, INSERT');
CALL kernel.open_to_sets('notification.received_event_ledger');
-- Events about tenants come from the platform.
CALL kernel.open_to_platform('notification.received_event_ledger', 'SELECT, INSERT');
CALL kernel.open_to_worker('notification.received_event_ledger', 'SELECT (expires_at), DELETE');
CALL kernel.store_as_ledger('notification.received_event_ledger');

CALL kernel.assert_protected();
