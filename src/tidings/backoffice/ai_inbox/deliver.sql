-- name: claim
-- The oldest first, round-robin between tenants: one tenant's thousand rows do not delay another tenant's single row.
WITH due AS (
    SELECT tenant_id, id, due_at, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at) AS turn
    FROM (
        SELECT tenant_id, id, due_at FROM bff_backoffice.ai_decision_deliveries
        WHERE status = 'waiting' AND claimed_by IS NULL AND due_at <= :now AND tenant_id <> ALL (:full::text[])
        ORDER BY due_at LIMIT 2000
    ) AS oldest
), mine AS MATERIALIZED (
    SELECT one.tenant_id, one.id
    FROM (SELECT tenant_id, id FROM due ORDER BY turn, due_at LIMIT :limit) AS chosen
    JOIN bff_backoffice.ai_decision_deliveries AS one USING (tenant_id, id)
    WHERE one.claimed_by IS NULL
    FOR UPDATE OF one SKIP LOCKED
)
UPDATE bff_backoffice.ai_decision_deliveries AS one SET claimed_by = :worker
FROM mine WHERE one.tenant_id = mine.tenant_id AND one.id = mine.id
RETURNING one.tenant_id, one.id;

-- name: next_due
-- Until then the job sleeps.
SELECT min(due_at) FROM bff_backoffice.ai_decision_deliveries WHERE status = 'waiting' AND claimed_by IS NULL;

-- name: free_orphans
-- Rows of dead workers, and rows that are claimed in this worker's name and that it does not know of.
UPDATE bff_backoffice.ai_decision_deliveries SET claimed_by = NULL
WHERE claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = ai_decision_deliveries.claimed_by)
    OR (claimed_by = :worker AND id <> ALL (:held::text[]))
);

-- name: load
-- Only rows that this worker still has; with what the ledger says. The ledger is split by the time inside the id.
SELECT d.id, d.entry_id, d.attempts, l.property_id, l.suggestion_id, l.outcome, l.decided_by, l.decided_at, l.delta_ciphertext
FROM bff_backoffice.ai_decision_deliveries AS d
JOIN unnest(:ids::text[], :decided_ats::timestamptz[]) AS wanted (id, decided_at) ON wanted.id = d.id
JOIN bff_backoffice.ai_decision_log AS l ON l.tenant_id = d.tenant_id AND l.decided_at = wanted.decided_at AND l.id = d.id
WHERE d.tenant_id = :tenant_id AND d.claimed_by = :worker;

-- name: delivered
-- The service knows, or has refused it for good.
DELETE FROM bff_backoffice.ai_decision_deliveries
WHERE tenant_id = :tenant_id AND id = ANY(CAST(:ids AS text[])) AND claimed_by = :worker;

-- name: not_delivered
-- Later, or not any more; the claim ends with it.
UPDATE bff_backoffice.ai_decision_deliveries AS d
SET status = tried.status, due_at = coalesce(tried.next_at, d.due_at), attempts = d.attempts + 1, last_error = tried.error, claimed_by = NULL
FROM unnest(:ids::text[], :statuses::text[], :next_ats::timestamptz[], :errors::text[]) AS tried (id, status, next_at, error)
WHERE d.tenant_id = :tenant_id AND d.id = tried.id AND d.claimed_by = :worker;

-- name: note_deliveries
-- What the inbox shows of it.
UPDATE bff_backoffice.ai_inbox_entries AS e
SET delivery = told.delivery
FROM unnest(:ids::text[], :deliveries::text[]) AS told (id, delivery)
WHERE e.tenant_id = :tenant_id AND e.id = told.id;

-- name: requeue
-- Dead letters are due at once, and then retried as if they were new.
UPDATE bff_backoffice.ai_decision_deliveries SET status = 'waiting', attempts = 0, due_at = :now
WHERE tenant_id = :tenant_id AND id IN (
    SELECT id FROM bff_backoffice.ai_decision_deliveries WHERE tenant_id = :tenant_id AND status = 'dead' ORDER BY id LIMIT :limit
)
RETURNING id, entry_id;
