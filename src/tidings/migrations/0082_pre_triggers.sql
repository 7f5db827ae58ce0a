-- tidings: oldest-release=0.1.0
-- No release has read or written this table: it is empty, and nobody relies on what is dropped.
-- squawk-ignore-file ban-drop-constraint, ban-drop-not-null, ban-drop-default, require-concurrent-index-deletion, require-concurrent-index-creation
-- Triggers: which event sends what to whom, and when; each version is kept.

ALTER TABLE notification.notification_trigger_map
    ADD COLUMN IF NOT EXISTS title         TEXT,
    ADD COLUMN IF NOT EXISTS set_name      TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS set_key       TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS variables     TEXT NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS anchor_offset TEXT,
    ADD COLUMN IF NOT EXISTS local_time    TEXT,
    ADD COLUMN IF NOT EXISTS condition     TEXT,
    ADD COLUMN IF NOT EXISTS subject_path  TEXT,
    ADD COLUMN IF NOT EXISTS cancelled_by  TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS replanned_by  TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS customises    TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS deleted_at    TIMESTAMPTZ;
-- A reminder a week ahead and one a day ahead are two triggers of one template; the ledger of sent notifications keeps
-- an event from sending the same twice.
ALTER TABLE notification.notification_trigger_map DROP CONSTRAINT IF EXISTS uq_notification_trigger_map_rule;
-- A tenant's own category is not among the platform's.
ALTER TABLE notification.notification_trigger_map DROP CONSTRAINT IF EXISTS fk_notification_trigger_map_category;
ALTER TABLE notification.notification_trigger_map ALTER COLUMN category DROP NOT NULL;
ALTER TABLE notification.notification_trigger_map ALTER COLUMN priority DROP NOT NULL;
ALTER TABLE notification.notification_trigger_map ALTER COLUMN priority DROP DEFAULT;
DROP INDEX IF EXISTS notification.ix_notification_trigger_map_event;
CREATE INDEX IF NOT EXISTS ix_notification_trigger_map_tenant ON notification.notification_trigger_map (tenant_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS ux_notification_trigger_map_set ON notification.notification_trigger_map (set_name, set_key)
    WHERE tenant_id IS NULL AND deleted_at IS NULL AND set_key IS NOT NULL;
COMMENT ON COLUMN notification.notification_trigger_map.recipient_resolver IS
    'JSON: a path into the event, a named resolver (primary_guest, tenant_admins, iam_subject, vendor_assignee), or a list of these.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_anchor IS 'The path in the event that the time is reckoned from; null: the event''s own time.';
COMMENT ON COLUMN notification.notification_trigger_map.anchor_offset IS 'From the anchor, as an ISO 8601 duration with a sign; null: none.';
COMMENT ON COLUMN notification.notification_trigger_map.local_time IS 'The hour of the day where the person is.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_offset_seconds IS
    'The same in seconds, with months of 30 days, for those who query; anchor_offset is what counts.';
COMMENT ON COLUMN notification.notification_trigger_map.category IS 'Null: the template''s own.';
COMMENT ON COLUMN notification.notification_trigger_map.priority IS 'Null: the template''s own.';
COMMENT ON COLUMN notification.notification_trigger_map.variables IS 'JSON: what the template gets; a text that begins with $. is a path into the event.';
COMMENT ON COLUMN notification.notification_trigger_map.set_name IS 'Not personal: the set of triggers that it was shipped with, such as hotel.';
COMMENT ON COLUMN notification.notification_trigger_map.set_key IS 'What it is known by within its set, from release to release.';
COMMENT ON COLUMN notification.notification_trigger_map.customises IS 'The platform''s trigger that this one of a tenant takes the place of.';
COMMENT ON COLUMN notification.notification_trigger_map.deleted_at IS 'Kept, because firings and planned work name it.';
CALL kernel.open_to_sets('notification.notification_trigger_map');
DROP TRIGGER IF EXISTS announce_change ON notification.notification_trigger_map;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.notification_trigger_map
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TABLE IF NOT EXISTS notification.trigger_versions (
    tenant_id  TEXT COLLATE "C",
    trigger_id TEXT COLLATE "C" NOT NULL,
    version    INTEGER NOT NULL,
    definition TEXT NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    changed_by TEXT NOT NULL,
    CONSTRAINT pk_trigger_versions PRIMARY KEY (trigger_id, version)
);
COMMENT ON TABLE notification.trigger_versions IS 'Every version of every trigger: what sent a notification can be looked up after it was changed.';
COMMENT ON COLUMN notification.trigger_versions.definition IS 'JSON, as the API shows it.';
CALL kernel.protect_shared_table('notification.trigger_versions', 'SELECT, INSERT', 'SELECT, INSERT');

CREATE TABLE IF NOT EXISTS notification.trigger_choices (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    trigger_id TEXT COLLATE "C" NOT NULL,
    enabled    BOOLEAN NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_trigger_choices PRIMARY KEY (tenant_id, trigger_id),
    CONSTRAINT fk_trigger_choices_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id)
);
COMMENT ON TABLE notification.trigger_choices IS 'Which of the platform''s triggers a tenant has switched on or off.';
CALL kernel.protect_tenant_table('notification.trigger_choices', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_sets('notification.trigger_choices');
DROP TRIGGER IF EXISTS announce_change ON notification.trigger_choices;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.trigger_choices
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TABLE IF NOT EXISTS notification.trigger_subjects (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    trigger_id    TEXT COLLATE "C" NOT NULL,
    event_source  TEXT COLLATE "C" NOT NULL,
    event_subject TEXT COLLATE "C" NOT NULL,
    event_id      TEXT COLLATE "C" NOT NULL,
    event_time    TIMESTAMPTZ NOT NULL,
    cancelled     BOOLEAN NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_trigger_subjects PRIMARY KEY (tenant_id, trigger_id, event_source, event_subject)
);
CREATE INDEX IF NOT EXISTS ix_trigger_subjects_expiry ON notification.trigger_subjects (expires_at);
COMMENT ON TABLE notification.trigger_subjects IS 'The last event that a trigger has heard about a subject: an older one that comes later changes nothing.';
COMMENT ON COLUMN notification.trigger_subjects.cancelled IS 'Whether that event has cleared what was planned.';
CALL kernel.protect_tenant_table('notification.trigger_subjects', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_sets('notification.trigger_subjects');
CALL kernel.open_to_worker('notification.trigger_subjects',
    'SELECT (tenant_id, trigger_id, event_source, event_subject, expires_at), DELETE');
CALL kernel.store_as_ledger('notification.trigger_subjects');

CALL kernel.assert_protected();
