-- part: pending
id, tenant_id, property_id, operator_id, device_id, reservation_id, action, mfa_attestation_id, asked_at, unknown_id, due_at, attempts,
    key_scope, idempotency_key

-- part: audited
id, occurred_at, property_id, operator_id, device_id, reservation_id, action, vendor, outcome, error_code, mfa_attestation_id,
    upstream_request_id, upstream_latency_ms, settles_id

-- name: insert_pending
-- Before the call, in a transaction of its own.
INSERT INTO bff_backoffice.lock_actions ({pending})
VALUES (
    :id, :tenant_id, :property_id, :operator_id, :device_id, :reservation_id, :action, :mfa_attestation_id, :asked_at, :unknown_id, :due_at,
    :attempts, :key_scope, :idempotency_key
);

-- name: take_pending
-- Whoever removes it writes how it ended: one does.
DELETE FROM bff_backoffice.lock_actions WHERE tenant_id = :tenant_id AND id = :id RETURNING {pending};

-- name: find_pending
-- What the job is to ask about.
SELECT {pending} FROM bff_backoffice.lock_actions WHERE tenant_id = :tenant_id AND id = :id;

-- name: postpone_pending
-- The lock service says nothing yet.
UPDATE bff_backoffice.lock_actions
SET due_at = :due_at, attempts = attempts + 1, unknown_id = :unknown_id
WHERE tenant_id = :tenant_id AND id = :id;

-- name: due_actions
-- Across tenants; the worker sees ids and times.
SELECT tenant_id, id FROM bff_backoffice.lock_actions WHERE due_at <= :now ORDER BY due_at LIMIT :limit;

-- name: insert_audited
-- Append-only.
INSERT INTO bff_backoffice.lock_action_proxy_audit (tenant_id, {audited})
VALUES (
    :tenant_id, :id, :occurred_at, :property_id, :operator_id, :device_id, :reservation_id, :action, :vendor, :outcome, :error_code,
    :mfa_attestation_id, :upstream_request_id, :upstream_latency_ms, :settles_id
);

-- name: list_audited
-- The newest first, from a cursor on, of the properties that the reader has a right to.
SELECT {audited}
FROM bff_backoffice.lock_action_proxy_audit
WHERE tenant_id = :tenant_id
  AND (CAST(:properties AS text[]) IS NULL OR property_id = ANY(CAST(:properties AS text[])))
  AND (CAST(:after_id AS text) IS NULL OR (occurred_at, id) < (CAST(:after_at AS timestamptz), CAST(:after_id AS text)))
  AND (CAST(:reservation_id AS text) IS NULL OR reservation_id = :reservation_id)
  AND (CAST(:property_id AS text) IS NULL OR property_id = :property_id)
  AND (CAST(:operator_id AS text) IS NULL OR operator_id = :operator_id)
  AND (CAST(:action AS text) IS NULL OR action = :action)
  AND (CAST(:outcome AS text) IS NULL OR outcome = :outcome)
ORDER BY occurred_at DESC, id DESC
LIMIT :limit;
