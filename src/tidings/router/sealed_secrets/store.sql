-- name: lock_secret
-- Two who set the same name come one after the other.
SELECT pg_advisory_xact_lock(7411019, hashtext(coalesce(:tenant_id::text, '') || '/' || :name));

-- name: find_secrets
-- Those of one owner; the platform's have no tenant.
SELECT name, box, version, created_at, updated_at, updated_by
FROM chan.account_secrets
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND (:names::text[] IS NULL OR name = ANY(:names::text[]))
ORDER BY name;

-- name: find_webhooks
-- The tenant's webhooks that are signed with an entered secret; those whose number was let go sign nothing any more.
SELECT id, secret_ref FROM chan.tenant_inbound_routes
WHERE tenant_id = :tenant_id AND active AND starts_with(secret_ref, 'sealed://');

-- name: insert_secret
-- Under the lock: no other transaction enters the same name.
INSERT INTO chan.account_secrets (tenant_id, name, box, created_at, updated_at, updated_by)
VALUES (:tenant_id, :name, :box, :now, :now, :actor);

-- name: update_secret
-- Another box in the place of the one before, which is gone.
UPDATE chan.account_secrets
SET box = :box, version = version + 1, updated_at = :now, updated_by = :actor
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND name = :name;

-- name: delete_secret
-- Its key is destroyed in the same transaction.
DELETE FROM chan.account_secrets WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND name = :name;
