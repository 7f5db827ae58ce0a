-- Emergency only: undoes 0019_pre_webhooks_out. Rows are lost.

DELETE FROM kernel.partitioned_tables WHERE parent IN (
    'notification.webhook_deliveries'
);
DROP TABLE IF EXISTS notification.webhook_deliveries;
DROP TABLE IF EXISTS notification.webhook_subscriptions;
