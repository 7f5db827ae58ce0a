-- tidings: oldest-release=0.1.0
-- How sending went, by the hour: rolled up from the history of executions by a job, so that no page counts a large table.

-- Rows of before have none and are not rolled up; a default alone changes no row.
ALTER TABLE chan.fallback_executions ADD COLUMN IF NOT EXISTS recorded_in BIGINT;
ALTER TABLE chan.fallback_executions ALTER COLUMN recorded_in SET DEFAULT pg_current_xact_id()::text::bigint;
COMMENT ON COLUMN chan.fallback_executions.recorded_in IS
    'The transaction that wrote it: what reads the history in turn misses none that commits late. Null: of before statistics.';
-- Nearly nothing to keep up, because rows come in the order of their transactions; small tables are made at once.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_fallback_executions_recorded
    ON chan.fallback_executions USING brin (recorded_in) WITH (autosummarize = on, pages_per_range = 32);
CALL kernel.open_to_worker(
    'chan.fallback_executions',
    'SELECT (tenant_id, id, started_at, terminated_at, use_case, final_channel, outcome, fallback_path, recorded_in)');

CREATE TABLE IF NOT EXISTS kernel.roll_up_marks (
    name       TEXT COLLATE "C" NOT NULL,
    after_xid  BIGINT NOT NULL,
    not_before TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_roll_up_marks PRIMARY KEY (name)
);
COMMENT ON TABLE kernel.roll_up_marks IS 'How far the history has been rolled up; its row is locked by whoever does it.';
COMMENT ON COLUMN kernel.roll_up_marks.name IS 'Not personal: what is rolled up.';
COMMENT ON COLUMN kernel.roll_up_marks.after_xid IS 'Transactions before this one are in the statistics.';
COMMENT ON COLUMN kernel.roll_up_marks.not_before IS
    'Rows that began earlier are in the statistics whatever their transaction: it was one of another cluster, before the database moved.';
CALL kernel.protect_service_table('kernel.roll_up_marks');
CALL kernel.open_to_worker('kernel.roll_up_marks', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS chan.step_statistics (
    tenant_id TEXT COLLATE "C" NOT NULL,
    hour      TIMESTAMPTZ NOT NULL,
    step      INTEGER NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    vendor    TEXT COLLATE "C" NOT NULL,
    reached   BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    calls     BIGINT NOT NULL,
    accepted  BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    skipped   BIGINT NOT NULL,
    latency_ms BIGINT NOT NULL,
    latencies BIGINT[] NOT NULL,
    CONSTRAINT pk_step_statistics PRIMARY KEY (tenant_id, hour, step, channel, vendor)
) WITH (fillfactor = 70);
COMMENT ON TABLE chan.step_statistics IS 'What became of the steps of ladders and of vendor calls, by the hour in which they began; older ones by the day.';
COMMENT ON COLUMN chan.step_statistics.vendor IS 'Empty for a step that called none.';
COMMENT ON COLUMN chan.step_statistics.reached IS 'Executions that came to this step; counted with its last call.';
COMMENT ON COLUMN chan.step_statistics.delivered IS 'Executions that ended as delivered in this step.';
COMMENT ON COLUMN chan.step_statistics.latency_ms IS 'Of all calls together.';
COMMENT ON COLUMN chan.step_statistics.latencies IS
    'Calls by how long the vendor took: up to 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000 ms, and longer.';
CALL kernel.protect_tenant_table('chan.step_statistics', 'SELECT');
CALL kernel.open_to_worker('chan.step_statistics', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS chan.outcome_statistics (
    tenant_id TEXT COLLATE "C" NOT NULL,
    hour      TIMESTAMPTZ NOT NULL,
    use_case  TEXT COLLATE "C" NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    n         BIGINT NOT NULL,
    CONSTRAINT pk_outcome_statistics PRIMARY KEY (tenant_id, hour, use_case, channel, outcome)
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS ix_outcome_statistics_hour ON chan.outcome_statistics (hour);
COMMENT ON TABLE chan.outcome_statistics IS 'How executions ended, by the hour in which they did; older ones by the day.';
COMMENT ON COLUMN chan.outcome_statistics.channel IS 'The one that it ended on; empty where none was called.';
CALL kernel.protect_tenant_table('chan.outcome_statistics', 'SELECT');
CALL kernel.open_to_worker('chan.outcome_statistics', 'SELECT, INSERT, UPDATE, DELETE');
-- Which tenant is loud: numbers alone.
CALL kernel.open_to_platform('chan.outcome_statistics', 'SELECT');

CREATE TABLE IF NOT EXISTS chan.error_statistics (
    tenant_id TEXT COLLATE "C" NOT NULL,
    day       DATE NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    vendor    TEXT COLLATE "C" NOT NULL,
    code      TEXT COLLATE "C" NOT NULL,
    n         BIGINT NOT NULL,
    CONSTRAINT pk_error_statistics PRIMARY KEY (tenant_id, day, channel, vendor, code)
) WITH (fillfactor = 70);
COMMENT ON TABLE chan.error_statistics IS 'Calls that came to nothing and steps that were skipped, by day (UTC) and code.';
COMMENT ON COLUMN chan.error_statistics.vendor IS 'Empty for a step that called none.';
COMMENT ON COLUMN chan.error_statistics.code IS 'The vendor''s, or one of ours; its first 64 characters.';
CALL kernel.protect_tenant_table('chan.error_statistics', 'SELECT');
CALL kernel.open_to_worker('chan.error_statistics', 'SELECT, INSERT, UPDATE, DELETE');

CALL kernel.assert_protected();
