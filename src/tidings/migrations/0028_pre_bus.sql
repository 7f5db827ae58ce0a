-- The bus on Postgres: one append-only stream, consumer groups with durable cursors, events set aside, dead letters.
-- docs/adr/0004-bus-on-postgres.md says why it has this shape.

-- Only the relay takes numbers, one relay at a time: they become visible in their order.
CREATE SEQUENCE IF NOT EXISTS kernel.bus_positions AS BIGINT CACHE 1;
COMMENT ON SEQUENCE kernel.bus_positions IS 'Places on the stream. Numbers may be missing; none appears after a higher one.';
REVOKE ALL ON SEQUENCE kernel.bus_positions FROM PUBLIC;
GRANT USAGE ON SEQUENCE kernel.bus_positions TO tidings_worker;

CREATE TABLE IF NOT EXISTS kernel.bus_events (
    position     BIGINT NOT NULL,
    published_at TIMESTAMPTZ NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    tenant_id    TEXT COLLATE "C",
    subject      TEXT COLLATE "C" NOT NULL,
    ordering_key TEXT COLLATE "C" NOT NULL,
    payload      TEXT NOT NULL,
    envelope     TEXT NOT NULL,
    CONSTRAINT pk_bus_events PRIMARY KEY (position, published_at)
) PARTITION BY RANGE (published_at);
COMMENT ON TABLE kernel.bus_events IS 'The stream: every published event in its order. One partition a day, dropped after seven.';
COMMENT ON COLUMN kernel.bus_events.published_at IS 'When the relay moved it here, by the server''s clock.';
CALL kernel.protect_tenant_table('kernel.bus_events', 'SELECT');
CALL kernel.open_to_worker('kernel.bus_events', 'SELECT, INSERT');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, keep)
VALUES ('kernel.bus_events', 'kernel', 'day', 3, 'published_at', 7)
ON CONFLICT (parent) DO NOTHING;

-- Half-empty pages: the row is rewritten with every set, and its new version stays on the page.
CREATE TABLE IF NOT EXISTS kernel.bus_consumers (
    group_name   TEXT COLLATE "C" NOT NULL,
    position     BIGINT NOT NULL,
    published_at TIMESTAMPTZ NOT NULL,
    owner        TEXT COLLATE "C",
    epoch        BIGINT NOT NULL DEFAULT 0,
    lease_until  TIMESTAMPTZ NOT NULL DEFAULT 'epoch',
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_bus_consumers PRIMARY KEY (group_name)
) WITH (fillfactor = 50);
COMMENT ON TABLE kernel.bus_consumers IS 'How far each consumer group has come on the stream, and which process reads for it now.';
COMMENT ON COLUMN kernel.bus_consumers.published_at IS 'Of the event at position; tells which partitions are behind.';
COMMENT ON COLUMN kernel.bus_consumers.epoch IS 'Grows with every new owner; a process with an older one may not write here any more.';
CALL kernel.protect_service_table('kernel.bus_consumers');
CALL kernel.open_to_worker('kernel.bus_consumers', 'SELECT, INSERT, UPDATE, DELETE');

-- The event is copied, so that dropping a day of the stream never takes one that is still to be tried.
CREATE TABLE IF NOT EXISTS kernel.bus_parked (
    group_name      TEXT COLLATE "C" NOT NULL,
    position        BIGINT NOT NULL,
    tenant_id       TEXT COLLATE "C",
    lane            TEXT COLLATE "C" NOT NULL,
    envelope        TEXT NOT NULL,
    payload         TEXT NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at TIMESTAMPTZ,
    last_error      TEXT,
    parked_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_bus_parked PRIMARY KEY (group_name, position),
    CONSTRAINT fk_bus_parked_consumer FOREIGN KEY (group_name)
        REFERENCES kernel.bus_consumers (group_name) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS ix_bus_parked_lane ON kernel.bus_parked (group_name, lane, position);
CREATE INDEX IF NOT EXISTS ix_bus_parked_due ON kernel.bus_parked (group_name, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
COMMENT ON TABLE kernel.bus_parked IS 'Events that failed in one group, and those that wait behind them to keep their order.';
COMMENT ON COLUMN kernel.bus_parked.lane IS 'Tenant and ordering key: where order holds.';
COMMENT ON COLUMN kernel.bus_parked.next_attempt_at IS 'Null while it waits behind an earlier event of its lane.';
COMMENT ON COLUMN kernel.bus_parked.last_error IS 'The code or class of the error, never its words: they may quote a person.';
CALL kernel.protect_tenant_table('kernel.bus_parked', '');
CALL kernel.open_to_worker('kernel.bus_parked', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS kernel.dead_letters (
    id         TEXT COLLATE "C" NOT NULL,
    group_name TEXT COLLATE "C" NOT NULL,
    position   BIGINT NOT NULL,
    event_id   TEXT COLLATE "C" NOT NULL,
    tenant_id  TEXT COLLATE "C",
    subject    TEXT COLLATE "C" NOT NULL,
    lane       TEXT COLLATE "C" NOT NULL,
    envelope   TEXT NOT NULL,
    payload    TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    error      TEXT NOT NULL,
    died_at    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_dead_letters PRIMARY KEY (id)
);
CREATE INDEX IF NOT EXISTS ix_dead_letters_expiry ON kernel.dead_letters (expires_at);
CREATE INDEX IF NOT EXISTS ix_dead_letters_group ON kernel.dead_letters (group_name, id);
COMMENT ON TABLE kernel.dead_letters IS 'Events that a group has given up on; kept 14 days for replay.';
COMMENT ON COLUMN kernel.dead_letters.error IS 'The code or class of the last error, never its words.';
CALL kernel.protect_tenant_table('kernel.dead_letters', 'SELECT');
CALL kernel.open_to_worker('kernel.dead_letters', 'SELECT, INSERT, DELETE');

-- Rows come and go: vacuum after so many, whatever the size, and never stop the writers to give pages back.
ALTER TABLE notification.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
ALTER TABLE chan.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
ALTER TABLE bff_backoffice.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);

CALL kernel.assert_protected();
