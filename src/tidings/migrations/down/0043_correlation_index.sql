-- Emergency only: undoes 0043_pre_correlation_index. Looking for a correlation id is slower without it.
DROP INDEX IF EXISTS notification.ix_notifications_correlated;
CREATE INDEX IF NOT EXISTS ix_notifications_correlation ON notification.notifications (tenant_id, correlation_id)
    WHERE correlation_id IS NOT NULL;
