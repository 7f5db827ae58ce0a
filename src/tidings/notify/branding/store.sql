-- name: find_branding
-- One row for a tenant.
SELECT branding, version, updated_at FROM notification.branding WHERE tenant_id = :tenant_id;

-- name: lock_branding
-- Held while it is changed, so that the version which was read is the one that is changed.
SELECT branding, version, updated_at FROM notification.branding WHERE tenant_id = :tenant_id FOR UPDATE;

-- name: put_branding
-- The whole of it.
INSERT INTO notification.branding AS known (tenant_id, branding, updated_by, created_at, updated_at)
VALUES (:tenant_id, CAST(CAST(:branding AS text) AS jsonb), :actor, :now, :now)
ON CONFLICT (tenant_id) DO UPDATE SET
    branding = excluded.branding, updated_by = excluded.updated_by, updated_at = excluded.updated_at,
    version = known.version + 1
RETURNING version;
