-- part: columns
id, tenant_id, role, properties, status, grant_hash, name_ciphertext, email_ciphertext, email_hash, password_hash, totp_ciphertext,
    totp_step, passkeys, recovery_hashes, failures, code_failures, locked_until, link_hash, link_kind, link_expires_at, created_by, created_at, updated_at,
    erased_at, version

-- name: insert_operator
-- Nobody yet: a password comes with the first sign-in by the link.
INSERT INTO bff_backoffice.operators (
    id, tenant_id, role, properties, status, grant_hash, name_ciphertext, email_ciphertext, email_hash, created_by, created_at,
    updated_at
)
VALUES (
    :id, :tenant_id, :role, CAST(:properties AS text[]), :status, :grant_hash, :name_ciphertext, :email_ciphertext, :email_hash,
    :created_by, :created_at, :created_at
);

-- name: find_operator
-- A tenant finds its own, the platform its own alone.
SELECT {columns}
FROM bff_backoffice.operators
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: lock_operator
-- Two codes, two links, two changes at once: the second waits here and then sees the first.
SELECT {columns}
FROM bff_backoffice.operators
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id
FOR UPDATE;

-- name: list_operators
-- The newest first; ids begin with their time.
SELECT {columns}
FROM bff_backoffice.operators
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: find_operators
-- Whose ids stand in a ledger, for what they are called.
SELECT {columns}
FROM bff_backoffice.operators
WHERE id = ANY(CAST(:ids AS text[])) AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: find_by_email
-- For signing in, before the tenant is known; the oldest first, so that a page of choices keeps its order.
SELECT {columns}
FROM bff_backoffice.operators
WHERE email_hash = :email_hash
ORDER BY id
LIMIT :limit;

-- name: find_of_tenant_by_email
-- Whether somebody is an operator of this tenant, or of the platform, already.
SELECT {columns}
FROM bff_backoffice.operators
WHERE email_hash = :email_hash AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: find_any
-- For the cache of sessions, which does not know their tenants.
SELECT {columns}
FROM bff_backoffice.operators
WHERE id = ANY(CAST(:ids AS text[]));

-- name: save_operator
-- As it was read and changed under its lock. `version` counts what admins see: rights and status.
UPDATE bff_backoffice.operators
SET role = :role, properties = CAST(:properties AS text[]), status = :status, grant_hash = :grant_hash,
    name_ciphertext = :name_ciphertext, email_ciphertext = :email_ciphertext, email_hash = :email_hash,
    password_hash = :password_hash, totp_ciphertext = :totp_ciphertext, totp_step = :totp_step, passkeys = :passkeys,
    recovery_hashes = CAST(:recovery_hashes AS text[]), failures = :failures, code_failures = :code_failures, locked_until = :locked_until,
    link_hash = :link_hash, link_kind = :link_kind, link_expires_at = :link_expires_at, updated_at = :now,
    erased_at = :erased_at, version = :version
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: sweep_links
-- Links that nobody used, long after their end; who was invited by one may be invited again.
UPDATE bff_backoffice.operators
SET link_hash = NULL, link_kind = NULL, link_expires_at = NULL
WHERE id IN (SELECT id FROM bff_backoffice.operators WHERE link_expires_at <= :before ORDER BY link_expires_at LIMIT :limit);
