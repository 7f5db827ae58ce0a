-- Files that are taken in line by line, and counts of suppressions that nobody has to scan for.
--
-- Statement by statement: counting what is there takes long on a big table, and nothing may be locked meanwhile.
-- tidings: transaction=off

-- Set by set: what a set wrote and how far the file was read commit together, so that an import which was cut off
-- goes on behind its last set and counts nothing twice.
CREATE TABLE IF NOT EXISTS notification.imports (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    kind            TEXT NOT NULL,
    status          TEXT NOT NULL DEFAULT 'running',
    options         TEXT NOT NULL,
    format          TEXT NOT NULL DEFAULT '',
    dry_run         BOOLEAN NOT NULL,
    emit_events     BOOLEAN NOT NULL,
    idempotency_key TEXT COLLATE "C",
    actor           TEXT NOT NULL,
    runner          TEXT COLLATE "C" NOT NULL,
    records_done    BIGINT NOT NULL DEFAULT 0,
    bytes_done      BIGINT NOT NULL DEFAULT 0,
    digest          TEXT COLLATE "C" NOT NULL DEFAULT '',
    added           BIGINT NOT NULL DEFAULT 0,
    changed         BIGINT NOT NULL DEFAULT 0,
    unchanged       BIGINT NOT NULL DEFAULT 0,
    refused         BIGINT NOT NULL DEFAULT 0,
    problems        BIGINT NOT NULL DEFAULT 0,
    warnings        BIGINT NOT NULL DEFAULT 0,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    completed_at    TIMESTAMPTZ,
    CONSTRAINT pk_imports PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_imports_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_imports_id CHECK (id ~ '^imp_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_imports_kind CHECK (kind IN ('suppressions', 'recipients', 'preferences')),
    CONSTRAINT ck_imports_status CHECK (status IN ('running', 'interrupted', 'completed')),
    CONSTRAINT ck_imports_completed CHECK ((completed_at IS NULL) = (status <> 'completed'))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_imports_key
    ON notification.imports (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- Those whose time is over.
CREATE INDEX IF NOT EXISTS ix_imports_updated ON notification.imports (updated_at);
COMMENT ON TABLE notification.imports IS 'Files that were taken in, how far each was read and what came of its lines.';
COMMENT ON COLUMN notification.imports.runner IS 'Who reads it; another who goes on with it takes over, and this one stops.';
COMMENT ON COLUMN notification.imports.records_done IS 'Lines, headings included, whose effect is committed.';
COMMENT ON COLUMN notification.imports.digest IS 'Of those lines, keyed under the tenant''s pepper: whoever goes on must bring the same file.';
COMMENT ON COLUMN notification.imports.warnings IS 'Of the problems, those that kept no line from being taken.';
COMMENT ON COLUMN notification.imports.options IS 'What the caller asked for, as JSON.';
CALL kernel.protect_tenant_table('notification.imports', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.imports', 'SELECT (tenant_id, id, updated_at), DELETE');

CREATE TABLE IF NOT EXISTS notification.import_problems (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    import_id   TEXT COLLATE "C" NOT NULL,
    place       BIGINT NOT NULL,
    line        BIGINT NOT NULL,
    column_name TEXT NOT NULL,
    code        TEXT NOT NULL,
    what        TEXT NOT NULL,
    severity    TEXT NOT NULL DEFAULT 'error',
    CONSTRAINT pk_import_problems PRIMARY KEY (tenant_id, import_id, place),
    CONSTRAINT fk_import_problems_import FOREIGN KEY (tenant_id, import_id)
        REFERENCES notification.imports (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_import_problems_severity CHECK (severity IN ('error', 'warning'))
);
COMMENT ON TABLE notification.import_problems IS 'What is wrong with lines: where and why, never what stood there.';
COMMENT ON COLUMN notification.import_problems.severity IS 'error: the line was not taken; warning: it was, without what is named.';
COMMENT ON COLUMN notification.import_problems.place IS 'Counts the problems of an import from 1.';
CALL kernel.protect_tenant_table('notification.import_problems', 'SELECT, INSERT');
CALL kernel.open_to_worker('notification.import_problems', 'SELECT (tenant_id, import_id, place), DELETE');

-- A dry run takes back what each set wrote, so a later set can't find it; here it finds that a line came before.
CREATE TABLE IF NOT EXISTS notification.import_seen (
    tenant_id TEXT COLLATE "C" NOT NULL,
    import_id TEXT COLLATE "C" NOT NULL,
    mark      BYTEA NOT NULL,
    CONSTRAINT pk_import_seen PRIMARY KEY (tenant_id, import_id, mark),
    CONSTRAINT fk_import_seen_import FOREIGN KEY (tenant_id, import_id)
        REFERENCES notification.imports (tenant_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE notification.import_seen IS 'What the lines of a dry run were about; gone when it ends.';
COMMENT ON COLUMN notification.import_seen.mark IS 'Keyed under the tenant''s pepper and the import: it is found again in this import alone.';
CALL kernel.protect_tenant_table('notification.import_seen', 'SELECT, INSERT, DELETE');
CALL kernel.open_to_worker('notification.import_seen', 'SELECT, DELETE');

-- created_at is the time inside the id, which lists and exports page by: a date of long ago can't stand there.
ALTER TABLE notification.suppressions ADD COLUMN IF NOT EXISTS occurred_at TIMESTAMPTZ;
COMMENT ON COLUMN notification.suppressions.occurred_at IS
    'When another service suppressed it, by its list; null: when it was added here.';

-- Every transaction that changes suppressions adds a row of its own, so that none waits for another's count; a sweep
-- folds them into bucket 0. The sum over all buckets is the count.
CREATE TABLE IF NOT EXISTS notification.suppression_counts (
    tenant_id TEXT COLLATE "C" NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    reason    TEXT COLLATE "C" NOT NULL,
    bucket    BIGINT NOT NULL,
    n         BIGINT NOT NULL,
    CONSTRAINT pk_suppression_counts PRIMARY KEY (tenant_id, channel, reason, bucket)
);
CREATE INDEX IF NOT EXISTS ix_suppression_counts_fresh
    ON notification.suppression_counts (tenant_id, bucket) WHERE bucket <> 0;
COMMENT ON TABLE notification.suppression_counts IS 'How many suppressions are in force, by channel and reason; kept by a trigger.';
COMMENT ON COLUMN notification.suppression_counts.bucket IS '0, or the transaction that changed the count.';
CALL kernel.protect_tenant_table('notification.suppression_counts', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.suppression_counts', 'SELECT, INSERT, UPDATE, DELETE');

CREATE OR REPLACE FUNCTION notification.count_suppressions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
        SELECT f.tenant_id, f.channel, f.reason, pg_current_xact_id()::text::bigint, count(*)
        FROM fresh AS f WHERE f.released_at IS NULL
        GROUP BY f.tenant_id, f.channel, f.reason
        ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n;
    ELSE
        INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
        SELECT moved.tenant_id, moved.channel, moved.reason, pg_current_xact_id()::text::bigint, sum(moved.n)
        FROM (
            SELECT f.tenant_id, f.channel, f.reason, 1 AS n FROM fresh AS f WHERE f.released_at IS NULL
            UNION ALL
            SELECT g.tenant_id, g.channel, g.reason, -1 FROM gone AS g WHERE g.released_at IS NULL
        ) AS moved
        GROUP BY moved.tenant_id, moved.channel, moved.reason
        HAVING sum(moved.n) <> 0
        ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n;
    END IF;
    RETURN NULL;
END;
$$;
COMMENT ON FUNCTION notification.count_suppressions IS 'Trigger that counts suppressions as they come into force and are released.';
REVOKE ALL ON FUNCTION notification.count_suppressions FROM PUBLIC;
CREATE OR REPLACE TRIGGER count_added AFTER INSERT ON notification.suppressions
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION notification.count_suppressions();
CREATE OR REPLACE TRIGGER count_changed AFTER UPDATE ON notification.suppressions
    REFERENCING OLD TABLE AS gone NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION notification.count_suppressions();

-- What was there before the triggers, tenant by tenant, under row-level security like everybody: for this the owner gets
-- policies that show it one tenant at a time, and loses them below.
CALL kernel.set_policy('notification.tenants_local', 'owner_lists_tenants', 'FOR SELECT TO tidings_owner USING (true)');
CALL kernel.set_policy('notification.suppressions', 'owner_counts',
    $q$FOR SELECT TO tidings_owner USING (tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);
CALL kernel.set_policy('notification.suppression_counts', 'owner_counts',
    $q$FOR ALL TO tidings_owner USING (tenant_id = nullif(current_setting('app.tenant_id', true), ''))
       WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);
-- A transaction for each tenant. One statement sees rows and counts as of one moment: what it adds is what the triggers have
-- not counted by then, so writers go on, and doing it again adds nothing.
DO $$
DECLARE
    tenant TEXT COLLATE "C" := '';
BEGIN
    LOOP
        SELECT min(t.tenant_id) INTO tenant FROM notification.tenants_local AS t WHERE t.tenant_id > tenant;
        EXIT WHEN tenant IS NULL;
        PERFORM set_config('app.tenant_id', tenant, true);
        INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
        SELECT tenant, found.channel, found.reason, 0, sum(found.n)
        FROM (
            SELECT s.channel, s.reason, count(*) AS n
            FROM notification.suppressions AS s
            WHERE s.tenant_id = tenant AND s.released_at IS NULL
            GROUP BY s.channel, s.reason
            UNION ALL
            SELECT c.channel, c.reason, -sum(c.n)
            FROM notification.suppression_counts AS c
            WHERE c.tenant_id = tenant
            GROUP BY c.channel, c.reason
        ) AS found
        GROUP BY found.channel, found.reason
        HAVING sum(found.n) <> 0
        ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n;
        COMMIT;
    END LOOP;
END;
$$;
DROP POLICY IF EXISTS owner_counts ON notification.suppression_counts;
DROP POLICY IF EXISTS owner_counts ON notification.suppressions;
DROP POLICY IF EXISTS owner_lists_tenants ON notification.tenants_local;

-- Those that run out: found by their time, without looking at the others.
-- tidings: online
-- squawk-ignore require-concurrent-index-creation, prefer-robust-stmts
CREATE INDEX ix_suppressions_expiring
    ON notification.suppressions (expires_at) WHERE released_at IS NULL AND expires_at IS NOT NULL;
CALL kernel.open_to_worker('notification.suppressions', 'SELECT (tenant_id, id, expires_at, released_at)');

CALL kernel.assert_protected();
