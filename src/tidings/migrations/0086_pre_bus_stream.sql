-- tidings: oldest-release=0.1.0
-- The stream may be on NATS JetStream instead of in kernel.bus_events. Places on it are one line of numbers, whichever engine
-- gives them out, so that cursors, events set aside and dead letters keep their meaning when the stream moves.

CREATE TABLE IF NOT EXISTS kernel.bus_stream (
    singleton      BOOLEAN NOT NULL DEFAULT true,
    engine         TEXT COLLATE "C" NOT NULL,
    first_position BIGINT NOT NULL,
    last_position  BIGINT NOT NULL,
    moved_at       TIMESTAMPTZ NOT NULL,
    stream_id      TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_bus_stream PRIMARY KEY (singleton),
    CONSTRAINT ck_bus_stream_one CHECK (singleton),
    CONSTRAINT ck_bus_stream_engine CHECK (engine IN ('postgres', 'nats'))
) WITH (fillfactor = 50);
COMMENT ON TABLE kernel.bus_stream IS 'Which engine has the stream. Relays of the other one refuse to work. One row.';
COMMENT ON COLUMN kernel.bus_stream.first_position IS 'Its first place with NATS; what is before it is in kernel.bus_events.';
COMMENT ON COLUMN kernel.bus_stream.last_position IS 'The last place that NATS has confirmed. A stream that ends before it has lost events.';
COMMENT ON COLUMN kernel.bus_stream.stream_id IS 'Written into the stream on NATS, so that two databases never share one.';
INSERT INTO kernel.bus_stream (engine, first_position, last_position, moved_at, stream_id)
VALUES ('postgres', 1, 0, now(), gen_random_uuid()) ON CONFLICT (singleton) DO NOTHING;
CALL kernel.protect_service_table('kernel.bus_stream');
CALL kernel.open_to_worker('kernel.bus_stream', 'SELECT, UPDATE');
-- It has one row, made above; the file may be run again.
CALL kernel.set_policy('kernel.bus_stream'::regclass, 'owner_seeds', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');

CALL kernel.assert_protected();
