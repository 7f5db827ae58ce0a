-- part: columns
id, tenant_id, occurred_at, property_id, operator_id, device_id, session_id, category, action, resource_kind, resource_id, outcome,
    status, error_code, latency_ms, context_hash

-- name: insert_activity
-- A set, of several tenants or of the platform. One that is written again, from the journal of a process that was killed, is there already.
INSERT INTO bff_backoffice.operator_activity ({columns})
SELECT {columns}
FROM unnest(
    CAST(:ids AS text[]), CAST(:tenant_ids AS text[]), CAST(:occurred_at AS timestamptz[]), CAST(:property_ids AS text[]),
    CAST(:operator_ids AS text[]), CAST(:device_ids AS text[]), CAST(:session_ids AS text[]), CAST(:categories AS text[]),
    CAST(:actions AS text[]), CAST(:resource_kinds AS text[]), CAST(:resource_ids AS text[]), CAST(:outcomes AS text[]),
    CAST(:statuses AS smallint[]), CAST(:error_codes AS text[]), CAST(:latencies AS integer[]), CAST(:context_hashes AS text[])
) AS row ({columns})
ON CONFLICT (tenant_id, occurred_at, id) DO NOTHING;

-- part: wanted
(CAST(:properties AS text[]) IS NULL OR property_id IS NULL OR property_id = ANY(CAST(:properties AS text[])) OR operator_id = :reader)
  AND occurred_at >= :since AND occurred_at <= :until
  AND (CAST(:after_id AS text) IS NULL OR (occurred_at, id) < (CAST(:after_at AS timestamptz), CAST(:after_id AS text)))
  AND (CAST(:operator_id AS text) IS NULL OR operator_id = :operator_id)
  AND (CAST(:property_id AS text) IS NULL OR property_id = :property_id)
  AND (CAST(:action AS text) IS NULL OR action = :action)
  AND (CAST(:category AS text) IS NULL OR category = :category)
  AND (CAST(:outcome AS text) IS NULL OR outcome = :outcome)
  AND (CAST(:resource_id AS text) IS NULL OR resource_id = :resource_id)
ORDER BY occurred_at DESC, id DESC
LIMIT :limit

-- name: list_activity
-- The newest first, from a cursor on; each filter that is left out asks for nothing. Of properties that the reader has no right to, only
-- their own rows. The times keep to the months that are asked for.
SELECT {columns}
FROM bff_backoffice.operator_activity
WHERE tenant_id = :tenant_id AND {wanted};

-- name: list_activity_of_platform
-- The same for the platform's own: an index on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
SELECT {columns}
FROM bff_backoffice.operator_activity
WHERE tenant_id IS NULL AND {wanted};
