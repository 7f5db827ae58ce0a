-- Which tables are partitioned by time, and how far ahead. `tidings partitions` reads this and makes the
-- partitions; migrations make none. A partition is called {parent}_y2026m11, by day {parent}_y2026m11d05.

CREATE TABLE IF NOT EXISTS kernel.partitioned_tables (
    parent       TEXT COLLATE "C" NOT NULL,
    service      TEXT NOT NULL,
    unit         TEXT NOT NULL DEFAULT 'month',
    ahead        INTEGER NOT NULL,
    time_column  TEXT NOT NULL,
    fillfactor   INTEGER NOT NULL DEFAULT 100,
    keep         INTEGER,
    CONSTRAINT pk_partitioned_tables PRIMARY KEY (parent),
    CONSTRAINT ck_partitioned_tables_service CHECK (service IN ('kernel', 'notify', 'router', 'backoffice')),
    CONSTRAINT ck_partitioned_tables_unit CHECK (unit IN ('month', 'day')),
    CONSTRAINT ck_partitioned_tables_ahead CHECK (ahead BETWEEN 1 AND 60),
    CONSTRAINT ck_partitioned_tables_keep CHECK (keep >= 1),
    CONSTRAINT ck_partitioned_tables_fillfactor CHECK (fillfactor BETWEEN 50 AND 100)
);
COMMENT ON TABLE kernel.partitioned_tables IS 'Parents whose time partitions are made ahead by a job. Written by migrations.';
COMMENT ON COLUMN kernel.partitioned_tables.parent IS 'The table that is partitioned by range, e.g. notification.notifications_standard.';
COMMENT ON COLUMN kernel.partitioned_tables.fillfactor IS
    'For new partitions: room on the page for rows that are updated. A parent cannot carry it.';
COMMENT ON COLUMN kernel.partitioned_tables.ahead IS 'How many units after the present one are made ahead.';
COMMENT ON COLUMN kernel.partitioned_tables.keep IS
    'A partition that ended this many units ago is dropped as it is. Null: kept until its rows are archived.';
REVOKE ALL ON kernel.partitioned_tables FROM PUBLIC;
GRANT SELECT ON kernel.partitioned_tables TO tidings_runtime, tidings_worker, tidings_platform, tidings_breakglass;

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor) VALUES
    ('notification.notifications_regulated', 'notify', 'month', 3, 'created_at', 60),
    ('notification.notifications_standard', 'notify', 'month', 3, 'created_at', 60),
    ('notification.notifications_marketing', 'notify', 'month', 3, 'created_at', 60),
    ('notification.delivery_attempts', 'notify', 'month', 3, 'started_at', 100),
    ('chan.webhook_inbound', 'router', 'month', 3, 'received_at', 90),
    ('chan.webhook_inbound_events', 'router', 'month', 3, 'received_at', 90)
ON CONFLICT (parent) DO NOTHING;
