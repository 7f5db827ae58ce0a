-- Emergency only: undoes 0082_pre_triggers. All triggers are lost.
DROP TABLE IF EXISTS notification.trigger_subjects;
DROP TABLE IF EXISTS notification.trigger_choices;
DROP TABLE IF EXISTS notification.trigger_versions;
DROP TRIGGER IF EXISTS announce_change ON notification.notification_trigger_map;
DROP POLICY IF EXISTS tenant_sets ON notification.notification_trigger_map;
DROP INDEX IF EXISTS notification.ux_notification_trigger_map_set;
DROP INDEX IF EXISTS notification.ix_notification_trigger_map_tenant;
TRUNCATE notification.notification_trigger_map;
ALTER TABLE notification.notification_trigger_map
    DROP COLUMN IF EXISTS title,
    DROP COLUMN IF EXISTS set_name,
    DROP COLUMN IF EXISTS set_key,
    DROP COLUMN IF EXISTS variables,
    DROP COLUMN IF EXISTS anchor_offset,
    DROP COLUMN IF EXISTS local_time,
    DROP COLUMN IF EXISTS condition,
    DROP COLUMN IF EXISTS subject_path,
    DROP COLUMN IF EXISTS cancelled_by,
    DROP COLUMN IF EXISTS replanned_by,
    DROP COLUMN IF EXISTS customises,
    DROP COLUMN IF EXISTS deleted_at;
ALTER TABLE notification.notification_trigger_map ALTER COLUMN category SET NOT NULL;
ALTER TABLE notification.notification_trigger_map ALTER COLUMN priority SET DEFAULT 'normal';
ALTER TABLE notification.notification_trigger_map ALTER COLUMN priority SET NOT NULL;
ALTER TABLE notification.notification_trigger_map DROP CONSTRAINT IF EXISTS fk_notification_trigger_map_category;
ALTER TABLE notification.notification_trigger_map ADD CONSTRAINT fk_notification_trigger_map_category
    FOREIGN KEY (category) REFERENCES notification_platform.categories (category);
ALTER TABLE notification.notification_trigger_map DROP CONSTRAINT IF EXISTS uq_notification_trigger_map_rule;
ALTER TABLE notification.notification_trigger_map ADD CONSTRAINT uq_notification_trigger_map_rule
    UNIQUE NULLS NOT DISTINCT (tenant_id, consumed_event_type, channel, template_key);
CREATE INDEX IF NOT EXISTS ix_notification_trigger_map_event
    ON notification.notification_trigger_map (consumed_event_type) WHERE enabled;
COMMENT ON COLUMN notification.notification_trigger_map.recipient_resolver IS
    'Named function over the event (primary_guest, tenant_admins, iam_subject, vendor_assignee) or a JSON path.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_offset_seconds IS 'From the anchor; negative is before it.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_anchor IS
    'event_produced_at, stay_start, checked_out_at, invoice_due_date…; null is the event''s own time.';
COMMENT ON COLUMN notification.notification_trigger_map.category IS NULL;
COMMENT ON COLUMN notification.notification_trigger_map.priority IS NULL;
