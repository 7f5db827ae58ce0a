-- name: circuits_not_closed
-- Accounts are few; those of tenants are theirs to know of, shared ones the platform's.
SELECT id, tenant_id, provider, circuit_state, circuit_held, circuit_opened_at
FROM chan.channel_adapter_configs
WHERE active AND circuit_state <> 'CLOSED'
ORDER BY id
LIMIT 1000;

-- name: oldest_receipt
-- By its index; null where nothing waits.
SELECT extract(epoch FROM :now - min(received_at))::float8 AS seconds
FROM chan.webhook_inbound_events
WHERE status = 'queued';

-- name: dead_receipts
-- Of the last day, as far as a look has to count.
SELECT count(*) AS dead
FROM (SELECT FROM chan.webhook_inbound_events WHERE status = 'dlq' AND received_at > :since LIMIT 10000) AS fresh;

-- name: dead_inbound
-- The same of what people wrote.
SELECT count(*) AS dead
FROM (SELECT FROM chan.inbound_messages WHERE status = 'dead' AND id > :since LIMIT 10000) AS fresh;
