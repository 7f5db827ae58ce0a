-- name: load_hours
-- At most 24 rows a day of each webhook, by the key.
SELECT subscription_id, hour, taken, not_taken
FROM notification.webhook_call_counts
WHERE tenant_id = :tenant_id AND subscription_id = ANY (:webhook_ids::text[]) AND hour >= :since
ORDER BY subscription_id, hour;

-- name: sweep_hours
-- The oldest first, by their own index.
DELETE FROM notification.webhook_call_counts
WHERE (tenant_id, subscription_id, hour) IN (
    SELECT tenant_id, subscription_id, hour FROM notification.webhook_call_counts WHERE hour < :before ORDER BY hour LIMIT :limit
);
