-- name: insert_key
-- The secret is not among the columns: only its hash is kept.
INSERT INTO notification.api_keys (
    id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, updated_at, expires_at, rotated_from,
    seal
)
VALUES (
    :id, :tenant_id, :name, :secret_hash, CAST(:scopes AS text[]), :role, :environment, :created_by,
    :created_at, :created_at, :expires_at, :rotated_from, :seal
);

-- name: find_key
-- For showing: a tenant finds its own, the platform its own alone.
SELECT id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, expires_at,
       last_used_at, revoked_at, rotated_from, rotated_to, overlap_ends_at, version, seal
FROM notification.api_keys
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: lock_key
-- Two rotations at once: the second waits here and then sees the first.
SELECT id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, expires_at,
       last_used_at, revoked_at, rotated_from, rotated_to, overlap_ends_at, version, seal
FROM notification.api_keys
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id
FOR UPDATE;

-- name: lock_platform_keys
-- Two installations that start at once: the second waits here and then sees the first one's key.
SELECT pg_advisory_xact_lock(7411010, 0);

-- name: lock_seals
-- Two processes that find no key to seal with: the second waits here and then reads the first one's.
SELECT pg_advisory_xact_lock(7411010, 1);

-- name: find_unsealed
-- Of all tenants and the platform; once, in the transaction that makes the key.
SELECT id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, expires_at,
       last_used_at, revoked_at, rotated_from, rotated_to, overlap_ends_at, version, seal
FROM notification.api_keys
WHERE seal IS NULL;

-- name: set_seals
-- In the same transaction.
UPDATE notification.api_keys AS known
SET seal = made.seal
FROM unnest(CAST(:ids AS text[]), CAST(:seals AS bytea[])) AS made (id, seal)
WHERE known.id = made.id;

-- name: find_any_keys
-- For the access guard, which does not know the tenants yet: the platform role looks up ids, whosesoever they are.
SELECT id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, expires_at,
       last_used_at, revoked_at, rotated_from, rotated_to, overlap_ends_at, version, seal
FROM notification.api_keys
WHERE id = ANY(CAST(:ids AS text[]));

-- name: find_used
-- For the access guard, before they are used again: some keys of each tenant.
SELECT known.id
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
CROSS JOIN LATERAL (
    SELECT k.id FROM notification.api_keys AS k
    WHERE k.tenant_id = wanted.tenant_id AND k.revoked_at IS NULL
    ORDER BY k.last_used_at DESC NULLS FIRST
    LIMIT :of_a_tenant
) AS known;

-- name: active_tenants
-- Once in the life of a process: who is likely to come again.
SELECT tenant_id FROM notification.api_keys
WHERE tenant_id IS NOT NULL AND last_used_at > :since
GROUP BY tenant_id
ORDER BY max(last_used_at) DESC
LIMIT :most;

-- name: list_keys
-- The newest first; ids begin with their time, so ix_api_keys_tenant serves.
SELECT id, tenant_id, name, secret_hash, scopes, role, environment, created_by, created_at, expires_at,
       last_used_at, revoked_at, rotated_from, rotated_to, overlap_ends_at, version, seal
FROM notification.api_keys
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: mark_rotated
-- The old key remembers its successor and how long both work.
UPDATE notification.api_keys
SET rotated_to = :successor_id, overlap_ends_at = :overlap_ends_at, seal = :seal, updated_at = :now, version = version + 1
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: mark_revoked
-- The first time counts; revoking again changes nothing.
UPDATE notification.api_keys
SET revoked_at = :now, seal = :seal, updated_at = :now, version = version + 1
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id AND revoked_at IS NULL;

-- name: touch_keys
-- Many at once, and each at most once a minute whatever the number of processes.
UPDATE notification.api_keys AS known
SET last_used_at = used.at
FROM unnest(CAST(:ids AS text[]), CAST(:times AS timestamptz[])) AS used (id, at)
WHERE known.id = used.id
  AND (known.last_used_at IS NULL OR known.last_used_at <= used.at - CAST(:interval AS interval));
