-- part: columns
tenant_id, id, operator_id, property_id, payload_ciphertext, version, fetched_at

-- name: find_preferences
-- For all properties, or for one.
SELECT {columns}
FROM bff_backoffice.operator_preferences
WHERE tenant_id = :tenant_id AND operator_id = :operator_id AND property_id IS NOT DISTINCT FROM :property_id;

-- name: put_preferences
-- As the service has them; what is older than what is known changes nothing.
INSERT INTO bff_backoffice.operator_preferences AS p
    (tenant_id, id, operator_id, property_id, payload_ciphertext, version, fetched_at, created_at, updated_at)
VALUES (:tenant_id, :id, :operator_id, :property_id, :payload_ciphertext, :version, :now, :now, :now)
ON CONFLICT (tenant_id, operator_id, property_id) DO UPDATE
SET id = excluded.id, payload_ciphertext = excluded.payload_ciphertext, version = excluded.version,
    fetched_at = excluded.fetched_at, updated_at = excluded.updated_at
WHERE p.version <= excluded.version;

-- name: forget_preferences
-- They have changed at the service: ask it before they are shown again.
UPDATE bff_backoffice.operator_preferences
SET fetched_at = NULL
WHERE tenant_id = :tenant_id AND operator_id = ANY(CAST(:operator_ids AS text[]));
