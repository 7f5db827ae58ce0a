-- name: acquire_lease
-- Free, run out, or the holder's own: otherwise no row comes back.
INSERT INTO kernel.hot_leases AS known (tenant_id, key, holder, fence, expires_at)
VALUES (:tenant_id, :key, :holder, nextval('kernel.lease_fences'), :expires_at)
ON CONFLICT (tenant_id, key) DO UPDATE SET
    holder = excluded.holder, fence = nextval('kernel.lease_fences'), expires_at = excluded.expires_at
WHERE known.expires_at <= :now OR known.holder = excluded.holder
RETURNING fence;

-- name: renew_lease
-- Only while it holds: one that has run out must be asked for again, with a new fence.
UPDATE kernel.hot_leases SET expires_at = :expires_at
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND key = :key AND holder = :holder AND fence = :fence
  AND expires_at > :now;

-- name: release_lease
-- The fence guards against giving back what another holds by now.
DELETE FROM kernel.hot_leases
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND key = :key AND holder = :holder AND fence = :fence;
