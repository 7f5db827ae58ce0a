-- tidings: oldest-release=0.1.0
-- Readers outside who let us keep their place in the feed of events, so that they can come back.

CREATE TABLE IF NOT EXISTS notification.event_readers (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    types      TEXT[] NOT NULL,
    cursor     TEXT COLLATE "C" NOT NULL,
    tests_only BOOLEAN NOT NULL DEFAULT false,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_event_readers PRIMARY KEY (tenant_id, name),
    CONSTRAINT ck_event_readers_name CHECK (name ~ '^[a-z][a-z0-9_.-]{0,99}$')
) WITH (fillfactor = 70);
COMMENT ON TABLE notification.event_readers IS 'Readers of the feed of events, each with its place in it.';
COMMENT ON COLUMN notification.event_readers.name IS 'Not personal: a system''s own word for itself, such as crm.';
COMMENT ON COLUMN notification.event_readers.types IS 'The types that it reads, as NATS writes subjects.';
COMMENT ON COLUMN notification.event_readers.cursor IS 'What it has read; opaque, the bus knows what it means.';
COMMENT ON COLUMN notification.event_readers.tests_only IS 'Made with a test key: it reads events of tests.';
CALL kernel.protect_tenant_table('notification.event_readers', 'SELECT, INSERT, UPDATE, DELETE');

CALL kernel.assert_protected();
