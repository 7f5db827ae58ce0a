-- name: see_keys
-- Gives back the ones that were new: inserted now, or known from a time that has run out.
INSERT INTO kernel.hot_seen AS known (tenant_id, key, expires_at)
SELECT :tenant_id, wanted.key, :expires_at
FROM unnest(CAST(:keys AS text[])) AS wanted (key)
ORDER BY wanted.key COLLATE "C"
ON CONFLICT (tenant_id, key) DO UPDATE SET expires_at = excluded.expires_at WHERE known.expires_at <= :now
RETURNING key;
