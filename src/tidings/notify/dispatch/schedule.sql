-- name: claim_due
-- The oldest first, across tenants. The claim is short: what it leads to is one transaction.
WITH due AS (
    SELECT s.tenant_id, s.id
    FROM notification.notification_scheduled AS s
    WHERE s.run_after <= :now AND s.processed_at IS NULL AND s.obsolete = false
      AND s.notification_id IS NOT NULL AND (s.claimed_until IS NULL OR s.claimed_until <= :now)
    ORDER BY s.run_after
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE notification.notification_scheduled AS mine
SET claimed_by = :worker, claimed_until = :now::timestamptz + :lease::interval, attempt_count = mine.attempt_count + 1
FROM due
WHERE mine.tenant_id = due.tenant_id AND mine.id = due.id
RETURNING mine.tenant_id, mine.id;

-- name: next_due
-- When the next look is needed: the first that claim_due would take, or the end of a claim on one that is due.
SELECT least(
    (
        SELECT s.run_after FROM notification.notification_scheduled AS s
        WHERE s.processed_at IS NULL AND s.obsolete = false
          AND s.notification_id IS NOT NULL AND (s.claimed_until IS NULL OR s.claimed_until <= :now)
        ORDER BY s.run_after
        LIMIT 1
    ),
    (
        SELECT min(s.claimed_until) FROM notification.notification_scheduled AS s
        WHERE s.run_after <= :now AND s.processed_at IS NULL AND s.obsolete = false
          AND s.notification_id IS NOT NULL AND s.claimed_until > :now
    )
);

-- name: release
-- From the schedule into the queue, both in one statement; what was made obsolete meanwhile stays where it is.
WITH released AS (
    UPDATE notification.notification_scheduled AS s
    SET processed_at = :now, claimed_by = NULL, claimed_until = NULL, updated_at = :now
    WHERE s.tenant_id = :tenant_id AND s.id = ANY (:ids::text[]) AND s.processed_at IS NULL AND s.obsolete = false
    RETURNING s.notification_id, s.priority
)
INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight)
SELECT :tenant_id, released.notification_id, known.rank, tenant.weight
FROM released
JOIN (VALUES ('critical', 0), ('high', 1), ('normal', 2), ('low', 3)) AS known (priority, rank)
    ON known.priority = released.priority
CROSS JOIN notification.tenants_local AS tenant
WHERE tenant.tenant_id = :tenant_id
ON CONFLICT (tenant_id, notification_id) DO NOTHING;

-- name: sweep_done
-- What is over is not needed any more; about so many at a time.
DELETE FROM notification.notification_scheduled
WHERE processed_at <= (
    SELECT max(oldest.processed_at)
    FROM (
        SELECT processed_at FROM notification.notification_scheduled
        WHERE processed_at IS NOT NULL AND processed_at <= :before ORDER BY processed_at LIMIT :limit
    ) AS oldest
);
