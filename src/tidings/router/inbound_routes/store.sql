-- name: find_serving
-- Where the tenant is told, by number.
SELECT id, coalesce(inbound, '*') AS inbound FROM chan.tenant_inbound_routes
WHERE tenant_id = :tenant_id AND active AND (grace_period_ends_at IS NULL OR grace_period_ends_at > :now);

-- name: list_routes
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, coalesce(inbound, '*') AS inbound, webhook_url, secret_ref, platform, active, grace_period_ends_at, created_at, updated_at, version
FROM chan.tenant_inbound_routes
WHERE tenant_id = :tenant_id
  AND (:after_id::text IS NULL OR id < :after_id::text)
  AND (:inbound::text IS NULL OR coalesce(inbound, '*') = :inbound::text)
  AND (:with_removed OR active)
ORDER BY id DESC
LIMIT :limit;

-- name: find_route
-- By its key, removed or not.
SELECT id, coalesce(inbound, '*') AS inbound, webhook_url, secret_ref, platform, active, grace_period_ends_at, created_at, updated_at, version
FROM chan.tenant_inbound_routes
WHERE tenant_id = :tenant_id AND id = :id;

-- name: lock_route
-- Every change of a route comes through here, one at a time.
SELECT id, coalesce(inbound, '*') AS inbound, webhook_url, secret_ref, platform, active, grace_period_ends_at, created_at, updated_at, version
FROM chan.tenant_inbound_routes
WHERE tenant_id = :tenant_id AND id = :id
FOR UPDATE;

-- name: insert_route
-- A number that a tenant has falls out; which tenant that is is not told.
INSERT INTO chan.tenant_inbound_routes (
    tenant_id, id, inbound, webhook_url, secret_ref, platform, created_at, updated_at
)
VALUES (:tenant_id, :id, nullif(:inbound::text, '*'), :webhook_url, :secret_ref, :platform, :now, :now)
ON CONFLICT DO NOTHING;

-- name: update_route
-- Under its lock: the values are whole, not changes.
UPDATE chan.tenant_inbound_routes
SET webhook_url = :webhook_url, secret_ref = :secret_ref, platform = :platform, active = :active,
    grace_period_ends_at = :grace_period_ends_at, updated_at = :updated_at, version = :version
WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_outlived
-- Removed ones whose time is over, across tenants, by ids alone.
SELECT tenant_id, id FROM chan.tenant_inbound_routes
WHERE active AND grace_period_ends_at <= :now
ORDER BY grace_period_ends_at LIMIT :limit;
