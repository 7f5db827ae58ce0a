-- name: read_flags
-- All switches at once: they are few, and a decision then costs no round trip.
SELECT key, tenant_id, enabled, percentage, reason, updated_by, updated_at
FROM kernel.feature_flags
ORDER BY key, tenant_id NULLS FIRST;

-- name: lock_flag
-- What the switch was, held until the change is through, so that the audit tells the truth.
SELECT enabled, percentage FROM kernel.feature_flags
WHERE key = :key AND tenant_id IS NOT DISTINCT FROM :tenant_id
FOR UPDATE;

-- name: put_flag
-- Set it for a tenant, or for everybody.
INSERT INTO kernel.feature_flags (key, tenant_id, enabled, percentage, reason, updated_by, updated_at)
VALUES (:key, :tenant_id, :enabled, :percentage, :reason, :updated_by, :updated_at)
ON CONFLICT (tenant_id, key) DO UPDATE SET
    enabled = excluded.enabled, percentage = excluded.percentage, reason = excluded.reason,
    updated_by = excluded.updated_by, updated_at = excluded.updated_at;

-- name: remove_flag
-- Back to what stands behind it: the platform's switch, or the declared default.
DELETE FROM kernel.feature_flags WHERE key = :key AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: announce_change
-- Arrives at the commit; every process reads anew.
SELECT pg_notify('tidings_flags', 'changed');
