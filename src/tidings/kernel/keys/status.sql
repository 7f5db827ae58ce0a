-- name: count_keys_by_master
-- For `tidings keys status`: tenants' and platform's keys, by the master key that wraps them.
SELECT master_key_id, sum(tenant_keys)::bigint AS tenant_keys, sum(platform_keys)::bigint AS platform_keys
FROM (
    SELECT master_key_id, count(*) AS tenant_keys, 0 AS platform_keys FROM kernel.tenant_keys GROUP BY 1
    UNION ALL
    SELECT master_key_id, 0, count(*) FROM kernel.platform_keys GROUP BY 1
) AS counted
GROUP BY master_key_id ORDER BY master_key_id;

-- name: list_unfinished_tenants
-- Rotations that were cut off, or run right now.
SELECT tenant_id, min(version) AS oldest, max(version) AS newest FROM kernel.tenant_keys
WHERE purpose = 'wrapping' AND state = 'active' GROUP BY tenant_id HAVING count(*) > 1
ORDER BY tenant_id LIMIT 1000;

-- name: sample_key_per_master
-- One key for each master key: if it opens, the master key is the right one.
SELECT DISTINCT ON (master_key_id) master_key_id, tenant_id, purpose, version, wrapped_key
FROM (
    SELECT master_key_id, tenant_id, purpose, version, wrapped_key FROM kernel.tenant_keys
    UNION ALL
    SELECT master_key_id, NULL, purpose, version, wrapped_key FROM kernel.platform_keys
) AS stored
ORDER BY master_key_id;
