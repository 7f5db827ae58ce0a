-- tidings: oldest-release=0.1.0
-- Every process reports where it runs and how its jobs are; the worker role may look at what conditions of alerts are judged by:
-- ids, states, times and counts, and no content.

CREATE TABLE IF NOT EXISTS kernel.processes (
    id         TEXT COLLATE "C" NOT NULL,
    role       TEXT COLLATE "C" NOT NULL,
    services   TEXT COLLATE "C" NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    host       TEXT COLLATE "C" NOT NULL,
    pid        INTEGER NOT NULL,
    jobs       INTEGER NOT NULL,
    late_jobs  TEXT NOT NULL DEFAULT '[]',
    started_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL,
    stopped_at TIMESTAMPTZ,
    CONSTRAINT pk_processes PRIMARY KEY (id),
    CONSTRAINT ck_processes_id CHECK (id ~ '^prc_[0-9A-HJKMNP-TV-Z]{26}$')
) WITH (fillfactor = 50);
COMMENT ON TABLE kernel.processes IS 'Processes of this installation, each with its last report; a week.';
COMMENT ON COLUMN kernel.processes.role IS 'Not personal: api, jobs, or both.';
COMMENT ON COLUMN kernel.processes.host IS 'Not personal: the machine''s name.';
COMMENT ON COLUMN kernel.processes.late_jobs IS 'JSON: names of jobs whose turn is overdue, and by how many seconds.';
COMMENT ON COLUMN kernel.processes.stopped_at IS 'When it was told to end; null: it runs, or died.';
CALL kernel.protect_service_table('kernel.processes');
CALL kernel.open_to_worker('kernel.processes', 'SELECT, INSERT, UPDATE, DELETE');

CALL kernel.open_to_worker('notification.webhook_subscriptions', 'SELECT (tenant_id, id, status, disabled_at, is_test, consecutive_failures)');
CALL kernel.open_to_worker('notification.api_keys', 'SELECT (tenant_id, id, expires_at, revoked_at, rotated_to)');
CALL kernel.open_to_worker('notification.counters', 'SELECT (tenant_id, day, name, channel, n)');
CALL kernel.open_to_worker('notification.template_versions',
    'SELECT (tenant_id, id, template_id, status, source, approver_user_id, updated_at)');

CALL kernel.assert_protected();
