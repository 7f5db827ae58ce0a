-- part: columns
id, tenant_id, operator_id, credential_id, public_key, proof_hash, sign_count, kind, is_synced, created_at, last_used_at

-- name: insert_passkey
-- A credential belongs to one operator: the same one twice is refused by its index.
INSERT INTO bff_backoffice.passkeys (
    id, tenant_id, operator_id, credential_id, public_key, proof_hash, sign_count, kind, is_synced, created_at
)
VALUES (
    :id, :tenant_id, :operator_id, :credential_id, :public_key, :proof_hash, :sign_count, :kind, :is_synced, :created_at
)
ON CONFLICT (credential_id) DO NOTHING;

-- name: list_passkeys
-- Of one operator, the newest first.
SELECT {columns}
FROM bff_backoffice.passkeys
WHERE operator_id = :operator_id AND tenant_id IS NOT DISTINCT FROM :tenant_id
ORDER BY id DESC;

-- name: find_passkey
-- By the name that the browser gives it; before a sign-in its tenant is not known, and a platform transaction finds any.
SELECT {columns}
FROM bff_backoffice.passkeys
WHERE credential_id = :credential_id;

-- name: note_passkey_use
-- A count that has not grown says that somebody has a copy: nothing is written then. 0 does not count.
UPDATE bff_backoffice.passkeys
SET sign_count = :sign_count, last_used_at = :now
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id AND (:sign_count = 0 AND sign_count = 0 OR sign_count < :sign_count);

-- name: delete_passkey
-- One of an operator's own.
DELETE FROM bff_backoffice.passkeys
WHERE id = :id AND operator_id = :operator_id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: delete_passkeys
-- All of an operator, who begins anew or is erased.
DELETE FROM bff_backoffice.passkeys
WHERE operator_id = :operator_id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: insert_challenge
-- To be signed once, soon.
INSERT INTO bff_backoffice.passkey_challenges (challenge_hash, tenant_id, operator_id, purpose, expires_at)
VALUES (:challenge_hash, :tenant_id, CAST(:operator_id AS text), :purpose, :expires_at);

-- name: take_challenge
-- One statement decides: of two answers to the same challenge, the second finds none.
DELETE FROM bff_backoffice.passkey_challenges
WHERE challenge_hash = :challenge_hash AND tenant_id IS NOT DISTINCT FROM :tenant_id AND purpose = :purpose
  AND operator_id IS NOT DISTINCT FROM CAST(:operator_id AS text) AND expires_at > :now;

-- name: sweep_challenges
-- Those that nobody answered, across tenants; the worker sees hashes and times.
DELETE FROM bff_backoffice.passkey_challenges
WHERE challenge_hash IN (
    SELECT challenge_hash FROM bff_backoffice.passkey_challenges WHERE expires_at <= :before ORDER BY expires_at LIMIT :limit
);
