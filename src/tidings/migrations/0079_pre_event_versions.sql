-- tidings: oldest-release=0.1.0
-- Two versions of an event are published side by side until every group that reads the older one has said that it reads the newer,
-- and 30 days have passed.

CREATE TABLE IF NOT EXISTS kernel.event_versions (
    subject   TEXT COLLATE "C" NOT NULL,
    successor TEXT COLLATE "C" NOT NULL,
    began_at  TIMESTAMPTZ NOT NULL,
    closed_at TIMESTAMPTZ,
    CONSTRAINT pk_event_versions PRIMARY KEY (subject)
);
COMMENT ON TABLE kernel.event_versions IS 'Versions of events that a newer one follows, and whether both are published.';
COMMENT ON COLUMN kernel.event_versions.began_at IS 'When this installation began to publish both.';
COMMENT ON COLUMN kernel.event_versions.closed_at IS 'When it ended to; from then on only the newer one is published.';
CALL kernel.protect_service_table('kernel.event_versions');
CALL kernel.open_to_worker('kernel.event_versions', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS kernel.event_version_readers (
    subject      TEXT COLLATE "C" NOT NULL,
    group_name   TEXT COLLATE "C" NOT NULL,
    seen_at      TIMESTAMPTZ NOT NULL,
    completed_at TIMESTAMPTZ,
    CONSTRAINT pk_event_version_readers PRIMARY KEY (subject, group_name)
);
COMMENT ON TABLE kernel.event_version_readers IS 'Groups that read a version of an event which a newer one follows.';
COMMENT ON COLUMN kernel.event_version_readers.group_name IS 'Not personal: a consumer group; or a tenant''s id, a slash and the name of its reader.';
COMMENT ON COLUMN kernel.event_version_readers.seen_at IS 'When it was last known to read it.';
COMMENT ON COLUMN kernel.event_version_readers.completed_at IS 'When it said that it reads the newer version.';
CALL kernel.protect_service_table('kernel.event_version_readers');
CALL kernel.open_to_worker('kernel.event_version_readers', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_platform('kernel.event_version_readers', 'SELECT, INSERT, UPDATE');

-- Which readers outside read it: their names and types, and no place.
CALL kernel.open_to_worker('notification.event_readers', 'SELECT (tenant_id, name, types)');

CALL kernel.assert_protected();
