-- name: oldest_in_queue
-- Of a sample, so that a backlog of millions costs no more than a small one.
SELECT count(*) AS sampled, coalesce(extract(epoch FROM :now - min(queued_at)), 0)::float8 AS seconds
FROM (SELECT queued_at FROM notification.dispatch_queue WHERE claimed_by IS NULL LIMIT 2000) AS sample;

-- name: trouble_of_channels
-- Only channels over which something came back or was reported: the rest is never read.
WITH trouble AS (
    SELECT tenant_id, channel, name, sum(n) AS n
    FROM notification.counters
    WHERE name IN ('bounced', 'complaint') AND day >= :since
    GROUP BY tenant_id, channel, name
    HAVING sum(n) >= :least
    ORDER BY sum(n) DESC
    LIMIT 500
)
SELECT trouble.tenant_id, trouble.channel, trouble.name, trouble.n::bigint AS troubled,
       (SELECT coalesce(sum(counter.n), 0)::bigint FROM notification.counters AS counter
        WHERE counter.tenant_id = trouble.tenant_id AND counter.day >= :since AND counter.channel = trouble.channel
          AND counter.name IN ('delivered', 'bounced', 'failed')) AS messages
FROM trouble;

-- name: disabled_webhooks
-- A few at any time.
SELECT tenant_id, id, consecutive_failures
FROM notification.webhook_subscriptions
WHERE status = 'disabled' AND NOT is_test AND disabled_at > :since
ORDER BY tenant_id, id
LIMIT 1000;

-- name: expiring_keys
-- Those that nobody has rotated or revoked.
SELECT tenant_id, id, expires_at
FROM notification.api_keys
WHERE expires_at IS NOT NULL AND revoked_at IS NULL AND rotated_to IS NULL AND expires_at > :now AND expires_at <= :until
ORDER BY expires_at
LIMIT 1000;

-- name: tenants_at_work
-- In order, from one on.
SELECT tenant_id FROM notification.tenants_local
WHERE status = 'active' AND tenant_id > :after
ORDER BY tenant_id
LIMIT :limit;

-- name: unapproved_drafts
-- Of the tenants of the transaction: written by a model, and nobody has looked at them; after a month nobody will.
SELECT tenant_id, id, template_id, updated_at
FROM notification.template_versions
WHERE status = 'draft' AND source = 'ai_drafted' AND approver_user_id IS NULL AND updated_at <= :before AND updated_at > :since
ORDER BY updated_at
LIMIT 500;
