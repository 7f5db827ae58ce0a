-- name: lock_limits
-- Makes missing rows and locks all in the order of their keys: two takers never wait for each other crosswise.
INSERT INTO kernel.hot_limits AS known (tenant_id, key, moments, amounts, expires_at)
SELECT :tenant_id, wanted.key, '{}', '{}', :now
FROM unnest(CAST(:keys AS text[])) AS wanted (key)
ORDER BY wanted.key COLLATE "C"
ON CONFLICT (tenant_id, key) DO UPDATE SET expires_at = known.expires_at
RETURNING key, moments, amounts;

-- name: put_limits
-- All new states as one set. An upsert, though every row exists: it finds each row by the unique key, whereas a generic
-- plan of UPDATE … FROM compares every row with every key. Lists of different lengths come as texts.
INSERT INTO kernel.hot_limits (tenant_id, key, moments, amounts, expires_at)
SELECT :tenant_id, fresh.key, CAST(fresh.moments AS bigint[]), CAST(fresh.amounts AS bigint[]), fresh.expires_at
FROM unnest(
    CAST(:keys AS text[]), CAST(:moments AS text[]), CAST(:amounts AS text[]), CAST(:expires_at AS timestamptz[])
) AS fresh (key, moments, amounts, expires_at)
ON CONFLICT (tenant_id, key) DO UPDATE SET
    moments = excluded.moments, amounts = excluded.amounts, expires_at = excluded.expires_at;

-- name: read_limits
-- For whoever counts elsewhere from now on. Whose keys these are is row-level security's to say.
SELECT key, moments, amounts, expires_at FROM kernel.hot_limits
WHERE key = ANY (CAST(:keys AS text[])) AND expires_at > :now;
