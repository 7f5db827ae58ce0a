-- Emergency only: undoes 0097_pre_webhook_portal. All portal links end, counts of calls are lost, and whose webhooks are whose.
DROP TABLE IF EXISTS notification.webhook_call_counts;
DROP TABLE IF EXISTS notification.webhook_portal_links;
DROP INDEX IF EXISTS notification.ix_webhook_subscriptions_customer;
ALTER TABLE notification.webhook_subscriptions
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_customer,
    DROP COLUMN IF EXISTS customer;
