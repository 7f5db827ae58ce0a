-- tidings: transaction=off
-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts, ban-drop-index, require-concurrent-index-deletion
-- The notifications of a batch are listed the newest first, by an index that has that order; nothing has ever read the one before.

-- tidings: online
CREATE INDEX ix_notifications_in_batch ON notification.notifications (tenant_id, batch_id, created_at DESC, id DESC) WHERE batch_id IS NOT NULL;
DROP INDEX IF EXISTS notification.ix_notifications_batch;
