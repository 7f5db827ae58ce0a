-- name: lock_limits
-- Makes missing rows and locks all in the order of tenants and keys: two takers never wait for each other crosswise.
INSERT INTO kernel.hot_limits AS known (tenant_id, key, moments, amounts, expires_at)
SELECT wanted.tenant_id, wanted.key, '{}', '{}', :now
FROM unnest(CAST(:tenant_ids AS text[]), CAST(:keys AS text[])) AS wanted (tenant_id, key)
ORDER BY wanted.tenant_id COLLATE "C", wanted.key COLLATE "C"
ON CONFLICT (tenant_id, key) DO UPDATE SET expires_at = known.expires_at
RETURNING tenant_id, key, moments, amounts;

-- name: put_limits
-- All new states as one set. An upsert, though every row exists: it finds each row by the unique key, whereas a generic
-- plan of UPDATE … FROM compares every row with every key. Lists of different lengths come as texts.
INSERT INTO kernel.hot_limits (tenant_id, key, moments, amounts, expires_at)
SELECT fresh.tenant_id, fresh.key, CAST(fresh.moments AS bigint[]), CAST(fresh.amounts AS bigint[]), fresh.expires_at
FROM unnest(
    CAST(:tenant_ids AS text[]), CAST(:keys AS text[]), CAST(:moments AS text[]), CAST(:amounts AS text[]),
    CAST(:expires_at AS timestamptz[])
) AS fresh (tenant_id, key, moments, amounts, expires_at)
ON CONFLICT (tenant_id, key) DO UPDATE SET
    moments = excluded.moments, amounts = excluded.amounts, expires_at = excluded.expires_at;

-- name: read_limits
-- For whoever counts elsewhere from now on: the tenant's, or the platform's.
SELECT key, moments, amounts, expires_at FROM kernel.hot_limits
WHERE (tenant_id = :tenant_id OR (:tenant_id::text IS NULL AND tenant_id IS NULL)) AND key = ANY (CAST(:keys AS text[])) AND expires_at > :now;
