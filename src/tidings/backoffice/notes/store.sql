-- part: columns
id, kind, about_id, property_id, written_by, written_at, text_ciphertext, redacted_at, redacted_by

-- name: insert_notes
-- A set, in the transaction of what they are written beside.
INSERT INTO bff_backoffice.notes (
    tenant_id, id, kind, about_id, property_id, written_by, written_at, kept_until, text_ciphertext
)
SELECT :tenant_id, id, kind, about_id, property_id, written_by, written_at, kept_until, text_ciphertext
FROM unnest(
    CAST(:ids AS text[]), CAST(:kinds AS text[]), CAST(:about_ids AS text[]), CAST(:property_ids AS text[]),
    CAST(:written_by AS text[]), CAST(:written_at AS timestamptz[]), CAST(:kept_until AS timestamptz[]),
    CAST(:text_ciphertexts AS bytea[])
) AS note (id, kind, about_id, property_id, written_by, written_at, kept_until, text_ciphertext);

-- name: find_notes
-- By the ids that a ledger keeps.
SELECT {columns} FROM bff_backoffice.notes WHERE tenant_id = :tenant_id AND id = ANY(CAST(:ids AS text[]));

-- name: list_notes
-- For a data steward: the newest first, from a cursor on, of the properties that they have a right to.
SELECT {columns} FROM bff_backoffice.notes
WHERE tenant_id = :tenant_id
  AND (CAST(:properties AS text[]) IS NULL OR property_id IS NULL OR property_id = ANY(CAST(:properties AS text[])))
  AND (CAST(:kind AS text) IS NULL OR kind = :kind)
  AND (CAST(:written_by AS text) IS NULL OR written_by = :written_by)
  AND (CAST(:property_id AS text) IS NULL OR property_id = :property_id)
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: redact_note
-- The first redaction counts; what it said is gone.
UPDATE bff_backoffice.notes
SET text_ciphertext = NULL, redacted_at = :now, redacted_by = :redacted_by
WHERE tenant_id = :tenant_id AND id = :id AND redacted_at IS NULL
  AND (CAST(:properties AS text[]) IS NULL OR property_id IS NULL OR property_id = ANY(CAST(:properties AS text[])))
RETURNING {columns};

-- name: sweep_notes
-- As long as the ledger that names them; the worker sees ids and times.
DELETE FROM bff_backoffice.notes
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM bff_backoffice.notes WHERE kept_until <= :now ORDER BY kept_until LIMIT :limit
);
