-- tidings: transaction=off
-- Emergency only: undoes 0018_post_indexes_and_stats.

-- An index of a partitioned table cannot be dropped concurrently.
DROP INDEX IF EXISTS notification.ix_notifications_unread;
DROP INDEX IF EXISTS notification.ix_notifications_correlation;
DROP INDEX IF EXISTS notification.ix_notifications_digest_group;
DROP INDEX IF EXISTS notification.ix_notifications_batch;
DROP INDEX IF EXISTS notification.ix_delivery_attempts_vendor_message;
DROP INDEX CONCURRENTLY IF EXISTS notification.ix_suppressions_expiry;
DROP INDEX CONCURRENTLY IF EXISTS notification.ix_dispatch_batches_status;
DROP INDEX IF EXISTS chan.ix_webhook_inbound_events_inbound;
