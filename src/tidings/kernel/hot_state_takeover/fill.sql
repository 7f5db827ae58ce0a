-- name: list_platform_limits
-- The platform's own, in the order of the index.
SELECT key FROM kernel.hot_limits
WHERE key > :after AND expires_at > :now
ORDER BY key COLLATE "C"
LIMIT :limit;

-- name: list_tenant_limits
-- All tenants', in the order of the index; keys and nothing else, as the worker may see them.
SELECT tenant_id, key FROM kernel.hot_limits
WHERE (tenant_id, key) > (:tenant_id, :after) AND expires_at > :now
ORDER BY tenant_id, key
LIMIT :limit;
