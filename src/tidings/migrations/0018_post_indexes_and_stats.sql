-- tidings: transaction=off
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts
-- Indexes for pages and sweeps that can wait until the new code is out. The runner builds each statement that is
-- marked online: CONCURRENTLY on plain tables; on partitioned ones ON ONLY the parent, then concurrently per
-- partition, then attached. That is why the plain form stands here.

-- Unread count and list of a recipient's inbox.
-- tidings: online
CREATE INDEX ix_notifications_unread ON notification.notifications (tenant_id, recipient_id, created_at DESC)
    WHERE channel = 'inapp' AND read_at IS NULL;

-- The explorer: everything a caller's correlation id led to.
-- tidings: online
CREATE INDEX ix_notifications_correlation ON notification.notifications (tenant_id, correlation_id)
    WHERE correlation_id IS NOT NULL;

-- Items of a digest.
-- tidings: online
CREATE INDEX ix_notifications_digest_group ON notification.notifications (tenant_id, digest_group_id)
    WHERE digest_group_id IS NOT NULL;

-- Notifications of a batch.
-- tidings: online
CREATE INDEX ix_notifications_batch ON notification.notifications (tenant_id, batch_id)
    WHERE batch_id IS NOT NULL;

-- From a vendor's message id back to the notification, for support.
-- tidings: online
CREATE INDEX ix_delivery_attempts_vendor_message ON notification.delivery_attempts (tenant_id, vendor, vendor_message_id)
    WHERE vendor_message_id IS NOT NULL;

-- Suppressions that run out.
-- tidings: online
CREATE INDEX ix_suppressions_expiry ON notification.suppressions (tenant_id, expires_at)
    WHERE released_at IS NULL AND expires_at IS NOT NULL;

-- Batches of a tenant by state, newest first.
-- tidings: online
CREATE INDEX ix_dispatch_batches_status ON notification.dispatch_batches (tenant_id, status, created_at DESC);

-- From an inbound vendor event to the callback that carried it.
-- tidings: online
CREATE INDEX ix_webhook_inbound_events_inbound ON chan.webhook_inbound_events (webhook_inbound_id);

ANALYZE notification.tenants_local;
ANALYZE notification_platform.categories;
