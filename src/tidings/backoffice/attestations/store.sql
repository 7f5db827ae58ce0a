-- name: insert_attestation
-- For one action, of one operator, in one session, on one device.
INSERT INTO bff_backoffice.attestations (id, tenant_id, operator_id, session_id, device_id, action, issued_at, expires_at)
VALUES (:id, :tenant_id, :operator_id, :session_id, :device_id, :action, :issued_at, :expires_at);

-- name: take_attestation
-- One statement decides: of two requests with the same one, the second finds it used.
UPDATE bff_backoffice.attestations
SET used_at = :now
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id AND operator_id = :operator_id AND session_id = :session_id
  AND device_id = :device_id AND action = :action AND used_at IS NULL AND expires_at > :now;

-- name: sweep_attestations
-- A day after their end, across tenants; the worker sees ids and times.
DELETE FROM bff_backoffice.attestations
WHERE id IN (SELECT id FROM bff_backoffice.attestations WHERE expires_at <= :before ORDER BY expires_at LIMIT :limit);
