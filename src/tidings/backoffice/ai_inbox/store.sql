-- part: columns
e.id, e.tenant_id, e.source, e.suggestion_id, e.property_id, e.category, e.severity, e.status, e.content_ciphertext, e.suggested_at,
e.expires_at, e.decided_at, e.decided_by, e.closed_at, e.delivery

-- name: find_places
-- When the service was asked about these properties.
SELECT property_id, pulled_at FROM bff_backoffice.ai_inbox_places
WHERE tenant_id = :tenant_id AND property_id = ANY(CAST(:property_ids AS text[]));

-- name: list_places
-- All properties that somebody has asked for.
SELECT property_id, pulled_at FROM bff_backoffice.ai_inbox_places WHERE tenant_id = :tenant_id ORDER BY property_id LIMIT 200;

-- name: put_place
-- The service was asked.
INSERT INTO bff_backoffice.ai_inbox_places (tenant_id, property_id, pulled_at)
VALUES (:tenant_id, :property_id, :now)
ON CONFLICT (tenant_id, property_id) DO UPDATE SET pulled_at = excluded.pulled_at;

-- name: forget_places
-- The service says that something is different.
UPDATE bff_backoffice.ai_inbox_places SET pulled_at = NULL
WHERE tenant_id = :tenant_id AND property_id = ANY(CAST(:property_ids AS text[]));

-- name: insert_entries
-- One that is known already stays as it is; which are new.
INSERT INTO bff_backoffice.ai_inbox_entries
    (tenant_id, id, source, suggestion_id, property_id, category, severity, content_ciphertext, suggested_at, expires_at)
SELECT :tenant_id, new.id, :source, new.suggestion_id, :property_id, new.category, new.severity, new.content, new.suggested_at, new.expires_at
FROM unnest(:ids::text[], :suggestion_ids::text[], :categories::text[], :severities::text[], :contents::bytea[],
            :suggested_ats::timestamptz[], :expires_ats::timestamptz[])
    AS new (id, suggestion_id, category, severity, content, suggested_at, expires_at)
ON CONFLICT (tenant_id, source, property_id, suggestion_id) DO NOTHING
RETURNING id;

-- name: find_known
-- Which of these are known.
SELECT suggestion_id FROM bff_backoffice.ai_inbox_entries
WHERE tenant_id = :tenant_id AND source = :source AND property_id IS NOT DISTINCT FROM :property_id
  AND suggestion_id = ANY(CAST(:suggestion_ids AS text[]));

-- name: close_missing
-- Those that who suggested them does not have open any more: somebody decided there, or their time is over.
UPDATE bff_backoffice.ai_inbox_entries
SET status = 'expired', closed_at = :now
WHERE tenant_id = :tenant_id AND source = :source AND property_id IS NOT DISTINCT FROM :property_id AND status = 'open'
  AND suggestion_id <> ALL(CAST(:open_ids AS text[]));

-- name: list_entries
-- Of the properties that somebody may see, and those of the whole tenant; the newest first.
SELECT {columns}
FROM bff_backoffice.ai_inbox_entries AS e
WHERE e.tenant_id = :tenant_id
  AND (e.property_id IS NULL OR :sees_all::boolean OR e.property_id = ANY(CAST(:properties AS text[])))
  AND (CAST(:property_id AS text) IS NULL OR e.property_id = :property_id)
  AND (CAST(:category AS text) IS NULL OR e.category = :category)
  AND CASE :shows::text
      WHEN 'open' THEN e.status = 'open' AND (e.expires_at IS NULL OR e.expires_at > :now)
      WHEN 'decided' THEN e.status IN ('accepted', 'rejected', 'modified')
      WHEN 'expired' THEN e.status = 'expired' OR e.status = 'open' AND e.expires_at <= :now
      ELSE true END
  AND (CAST(:after_id AS text) IS NULL OR e.id < :after_id)
ORDER BY e.id DESC
LIMIT :limit;

-- name: find_entry
-- One of them.
SELECT {columns} FROM bff_backoffice.ai_inbox_entries AS e WHERE e.tenant_id = :tenant_id AND e.id = :id;

-- name: lock_entry
-- Two who decide at once come one after the other.
SELECT {columns} FROM bff_backoffice.ai_inbox_entries AS e WHERE e.tenant_id = :tenant_id AND e.id = :id FOR UPDATE;

-- name: decide_entry
-- Under its lock.
UPDATE bff_backoffice.ai_inbox_entries AS e
SET status = :outcome, decided_at = :now, decided_by = :decided_by, closed_at = :now, delivery = :delivery
WHERE e.tenant_id = :tenant_id AND e.id = :id
RETURNING {columns};

-- name: insert_decision_key
-- Once for each operator and suggestion: a ledger that is split by time can't keep a decision from being made twice.
INSERT INTO bff_backoffice.ai_decision_keys (tenant_id, suggestion_id, decided_by, decision_id)
VALUES (:tenant_id, :suggestion_id, :decided_by, :id)
ON CONFLICT DO NOTHING;

-- name: insert_decision
-- The ledger.
INSERT INTO bff_backoffice.ai_decision_log
    (tenant_id, id, decided_at, property_id, suggestion_id, inbox_entry_id, category, severity, outcome, decided_by, device_id, note_id,
     delta_ciphertext, provenance_ciphertext)
VALUES
    (:tenant_id, :id, :decided_at, :property_id, :suggestion_id, :inbox_entry_id, :category, :severity, :outcome, :decided_by, :device_id,
     :note_id, :delta_ciphertext, :provenance_ciphertext);

-- name: insert_delivery
-- The service is told after the commit.
INSERT INTO bff_backoffice.ai_decision_deliveries (tenant_id, id, entry_id, due_at) VALUES (:tenant_id, :id, :entry_id, :now);

-- name: expire_entries
-- Their time is over, across tenants; the worker sees ids and times.
UPDATE bff_backoffice.ai_inbox_entries SET status = 'expired', closed_at = :now
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM bff_backoffice.ai_inbox_entries
    WHERE status = 'open' AND expires_at <= :now ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
);

-- name: sweep_entries
-- Some weeks after their end; the ledger keeps what was decided.
DELETE FROM bff_backoffice.ai_inbox_entries
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM bff_backoffice.ai_inbox_entries WHERE closed_at <= :before ORDER BY closed_at LIMIT :limit
);
