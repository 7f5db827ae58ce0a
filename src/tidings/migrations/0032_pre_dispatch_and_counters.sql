-- Notifications that wait for a worker, the workers that are alive, and counts that nobody has to scan for.

-- Rows are here from acceptance, or from their due time, until they are handed to the router. Ids and no content.
CREATE TABLE IF NOT EXISTS notification.dispatch_queue (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    queued_at       TIMESTAMPTZ NOT NULL DEFAULT now(),
    priority        INTEGER NOT NULL,
    weight          INTEGER NOT NULL DEFAULT 1,
    attempts        INTEGER NOT NULL DEFAULT 0,
    claimed_by      TEXT COLLATE "C",
    CONSTRAINT pk_dispatch_queue PRIMARY KEY (tenant_id, notification_id),
    CONSTRAINT ck_dispatch_queue_priority CHECK (priority BETWEEN 0 AND 3),
    CONSTRAINT ck_dispatch_queue_weight CHECK (weight BETWEEN 1 AND 1000)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- What is free, in the order of turns: priority, then tenant, then age.
CREATE INDEX IF NOT EXISTS ix_dispatch_queue_free
    ON notification.dispatch_queue (priority, tenant_id, notification_id) WHERE claimed_by IS NULL;
COMMENT ON TABLE notification.dispatch_queue IS 'Notifications ready to be decided and handed to the router.';
COMMENT ON COLUMN notification.dispatch_queue.priority IS '0 critical, 1 high, 2 normal, 3 low.';
COMMENT ON COLUMN notification.dispatch_queue.weight IS 'How many turns the tenant gets in a round, as it was at acceptance.';
COMMENT ON COLUMN notification.dispatch_queue.attempts IS 'How often its turn ended in an error; set aside after a few.';
COMMENT ON COLUMN notification.dispatch_queue.claimed_by IS 'The worker whose turn it is in; freed when that one dies.';
CALL kernel.protect_tenant_table('notification.dispatch_queue', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_worker('notification.dispatch_queue',
    'SELECT, UPDATE (claimed_by, attempts)');
CREATE OR REPLACE TRIGGER announce AFTER INSERT ON notification.dispatch_queue
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_queue('notification.dispatch');

-- A worker that was killed stops saying that it is there; what it had claimed is freed by the others.
CREATE TABLE IF NOT EXISTS kernel.workers (
    id         TEXT COLLATE "C" NOT NULL,
    lock_key   BIGINT NOT NULL,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    seen_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_workers PRIMARY KEY (id),
    CONSTRAINT ck_workers_id CHECK (id LIKE 'wrk\_%' AND length(id) = 30)
) WITH (fillfactor = 50);
COMMENT ON TABLE kernel.workers IS 'Workers that are alive: each says so every second and holds a lock while it is connected.';
COMMENT ON COLUMN kernel.workers.lock_key IS 'The advisory lock that its session holds.';
CALL kernel.protect_service_table('kernel.workers');
CALL kernel.open_to_worker('kernel.workers', 'SELECT, INSERT, UPDATE, DELETE');

-- Striped: two transactions of one tenant must not wait for each other's count.
CREATE TABLE IF NOT EXISTS notification.counters (
    tenant_id TEXT COLLATE "C" NOT NULL,
    day       DATE NOT NULL,
    stripe    INTEGER NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    category  TEXT COLLATE "C" NOT NULL,
    n         BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT pk_counters PRIMARY KEY (tenant_id, day, stripe, name, channel, category)
) WITH (fillfactor = 50);
COMMENT ON TABLE notification.counters IS 'How many notifications came to each status, by day; kept in the transactions that move them.';
COMMENT ON COLUMN notification.counters.name IS 'accepted, or a status.';
COMMENT ON COLUMN notification.counters.stripe IS 'The sum over all stripes is the count.';
CALL kernel.protect_tenant_table('notification.counters', 'SELECT, INSERT, UPDATE');

CALL kernel.assert_protected();
