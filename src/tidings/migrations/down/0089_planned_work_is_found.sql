-- Emergency only: undoes 0089_pre_planned_work_is_found.
DROP INDEX IF EXISTS notification.ix_trigger_firings_failed;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_failed;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_recipient;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_about;
CREATE INDEX IF NOT EXISTS ix_trigger_firings_subject ON notification.trigger_firings
    (tenant_id, trigger_id, event_source, event_subject) WHERE event_subject IS NOT NULL;
DROP INDEX IF EXISTS notification.ix_trigger_firings_told;
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_subject ON notification.notification_scheduled
    (tenant_id, trigger_id, event_source, event_subject) WHERE trigger_id IS NOT NULL;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_planned_subject;
