-- part: columns
id, tenant_id, operator_id, device_id, token_hash, ip_hash, fingerprint_hash, opened_at, expires_at, ended_at, ended_reason

-- name: insert_device
-- A browser that has no cookie of ours yet.
INSERT INTO bff_backoffice.devices (id, tenant_id, secret_hash, created_at, last_used_at)
VALUES (:id, :tenant_id, :secret_hash, :now, :now);

-- name: touch_device
-- Somebody signs in from it again.
UPDATE bff_backoffice.devices SET last_used_at = :now WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: find_devices
-- Before the tenant is known: a browser says which device it is.
SELECT id, tenant_id, secret_hash FROM bff_backoffice.devices WHERE id = ANY(CAST(:ids AS text[]));

-- name: find_users_of_device
-- Before the tenant is known: whose own browser it is that signs in; as long as their last session on it is kept.
SELECT DISTINCT operator_id
FROM bff_backoffice.sessions
WHERE operator_id = ANY(CAST(:operator_ids AS text[])) AND device_id = :device_id;

-- name: insert_session
-- The secret is not among the columns: only its hash is kept.
INSERT INTO bff_backoffice.sessions (
    id, tenant_id, operator_id, device_id, token_hash, ip_hash, fingerprint_hash, opened_at, expires_at
)
VALUES (
    :id, :tenant_id, :operator_id, :device_id, :token_hash, :ip_hash, :fingerprint_hash, :opened_at, :expires_at
);

-- name: find_any_sessions
-- For the access guard, which does not know their tenants yet.
SELECT {columns} FROM bff_backoffice.sessions WHERE id = ANY(CAST(:ids AS text[]));

-- name: list_sessions
-- Those that are open, the newest first: of one operator, or of all here.
SELECT {columns}
FROM bff_backoffice.sessions
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ended_at IS NULL AND expires_at > :now
  AND (CAST(:operator_id AS text) IS NULL OR operator_id = :operator_id)
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: end_sessions
-- The first time counts. What is not named is not asked for: without any name all of the tenant's end, or of the platform's own.
UPDATE bff_backoffice.sessions
SET ended_at = :now, ended_reason = :reason
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ended_at IS NULL AND (expires_at > :now OR device_id = :device_id)
  AND (CAST(:session_id AS text) IS NULL OR id = :session_id)
  AND (CAST(:operator_id AS text) IS NULL OR operator_id = :operator_id)
  AND (CAST(:device_id AS text) IS NULL OR device_id = :device_id)
  AND (CAST(:except_id AS text) IS NULL OR id <> :except_id)
RETURNING {columns};

-- name: find_tenants_with_sessions
-- Whose sessions have to be ended one tenant after the other.
SELECT DISTINCT tenant_id FROM bff_backoffice.sessions WHERE ended_at IS NULL AND expires_at > :now AND tenant_id IS NOT NULL;

-- name: sweep_sessions
-- Long after their end, across tenants; the worker sees ids and times.
DELETE FROM bff_backoffice.sessions
WHERE id IN (SELECT id FROM bff_backoffice.sessions WHERE expires_at <= :before ORDER BY expires_at LIMIT :limit);

-- name: find_device_keys
-- For the access guard: which sessions are bound to a key.
SELECT session_id, device_id, public_key, key_hash
FROM bff_backoffice.device_keys
WHERE session_id = ANY(CAST(:ids AS text[]));

-- name: insert_device_key
-- The first one stays; which key it is that the session is bound to.
WITH made AS (
    INSERT INTO bff_backoffice.device_keys (tenant_id, session_id, device_id, public_key, key_hash, registered_at, expires_at)
    VALUES (:tenant_id, :session_id, :device_id, :public_key, :key_hash, :now, :expires_at)
    ON CONFLICT (session_id) DO NOTHING
    RETURNING public_key
)
SELECT public_key FROM made
UNION ALL
SELECT public_key FROM bff_backoffice.device_keys WHERE session_id = :session_id
LIMIT 1;

-- name: insert_device_proof
-- Of two requests with the same proof, the second finds it used.
INSERT INTO bff_backoffice.device_proofs (tenant_id, session_id, jti, expires_at)
VALUES (:tenant_id, :session_id, :jti, :expires_at)
ON CONFLICT (session_id, jti) DO NOTHING;

-- name: sweep_device_proofs
-- Their time is over: a proof that is as old is refused.
DELETE FROM bff_backoffice.device_proofs
WHERE (session_id, jti) IN (
    SELECT session_id, jti FROM bff_backoffice.device_proofs WHERE expires_at <= :before ORDER BY expires_at LIMIT :limit
);

-- name: sweep_device_keys
-- With the sessions that they belonged to.
DELETE FROM bff_backoffice.device_keys
WHERE session_id IN (SELECT session_id FROM bff_backoffice.device_keys WHERE expires_at <= :before ORDER BY expires_at LIMIT :limit);

-- name: sweep_devices
-- A cookie that no browser has any more.
DELETE FROM bff_backoffice.devices
WHERE id IN (SELECT id FROM bff_backoffice.devices WHERE last_used_at <= :before ORDER BY last_used_at LIMIT :limit);
