-- Emergency only: undoes 0085_pre_notifications_of_a_batch.
DROP INDEX IF EXISTS notification.ix_notifications_in_batch;
CREATE INDEX IF NOT EXISTS ix_notifications_batch ON notification.notifications (tenant_id, batch_id) WHERE batch_id IS NOT NULL;
