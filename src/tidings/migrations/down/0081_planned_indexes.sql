-- Emergency only: undoes 0081_pre_planned_indexes.
DROP INDEX IF EXISTS notification.ix_notification_scheduled_subject;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_payload;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_over;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_planned_over;
DROP INDEX IF EXISTS notification.ix_recipients_tenant_admins;
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_done
    ON notification.notification_scheduled (processed_at) WHERE processed_at IS NOT NULL;
