-- name: claim
-- The best priority there is, then turns between the tenants that have any of it, each with its share by weight. Tenants are
-- found one by one along the index of what is free, so that a queue of a million rows of one tenant costs no more than one
-- row. Places are compared as rows: only that index can answer so, whatever the statistics of a queue say. `stopped_at` is
-- the last tenant that was looked at, or '' where there was none behind it; `leaves_lower` whether something of a lower priority waits.
WITH RECURSIVE best AS MATERIALIZED (
    SELECT first.priority AS rank
    FROM (
        SELECT q.priority FROM notification.dispatch_queue AS q
        WHERE q.claimed_by IS NULL AND q.priority BETWEEN :from_rank AND :to_rank
        ORDER BY q.priority, q.tenant_id, q.notification_id LIMIT 1
    ) AS first
), ring AS (
    (
        SELECT q.tenant_id, q.weight, 1 AS seat
        FROM best CROSS JOIN LATERAL (
            SELECT f.priority, f.tenant_id, f.weight FROM notification.dispatch_queue AS f
            WHERE f.claimed_by IS NULL AND (f.priority, f.tenant_id) > (best.rank, :after::text)
            ORDER BY f.priority, f.tenant_id LIMIT 1
        ) AS q
        WHERE q.priority = best.rank
    )
    UNION ALL
    SELECT q.tenant_id, q.weight, ring.seat + 1
    FROM ring CROSS JOIN best CROSS JOIN LATERAL (
        SELECT f.priority, f.tenant_id, f.weight FROM notification.dispatch_queue AS f
        WHERE f.claimed_by IS NULL AND (f.priority, f.tenant_id) > (best.rank, ring.tenant_id)
        ORDER BY f.priority, f.tenant_id LIMIT 1
    ) AS q
    WHERE ring.seat < :seats AND q.priority = best.rank
), turns AS MATERIALIZED (
    SELECT tenant_id, weight FROM ring WHERE NOT tenant_id = ANY (:full::text[])
), shares AS MATERIALIZED (
    SELECT tenant_id, greatest(1, :most::integer * weight / (sum(weight) OVER ())) AS share FROM turns
), picked AS MATERIALIZED (
    SELECT q.row, NULL::text AS always_null, shares.share
    FROM shares CROSS JOIN best CROSS JOIN LATERAL (
        SELECT f.ctid AS row FROM notification.dispatch_queue AS f
        WHERE f.claimed_by IS NULL
          AND (f.priority, f.tenant_id, f.notification_id) > (best.rank, shares.tenant_id, '')
          AND (f.priority, f.tenant_id, f.notification_id) < (best.rank, shares.tenant_id, '~')
        ORDER BY f.priority, f.tenant_id, f.notification_id
        LIMIT shares.share
        FOR UPDATE SKIP LOCKED
    ) AS q
)
UPDATE notification.dispatch_queue AS mine
SET claimed_by = :worker
FROM picked
-- By place, and with a hint that is true of every row (docs/performance.md, "Found by key, changed by ctid"): a plan that was
-- made while the queue was empty takes reading all of it for as cheap as finding one row by its key.
WHERE mine.ctid = picked.row AND picked.always_null IS NULL
RETURNING mine.tenant_id, mine.notification_id, mine.priority, picked.share::integer AS share,
    (SELECT CASE WHEN count(*) < :seats THEN '' ELSE max(ring.tenant_id) END FROM ring) AS stopped_at,
    (SELECT EXISTS (
        SELECT FROM notification.dispatch_queue AS lower
        WHERE lower.claimed_by IS NULL AND lower.priority > (SELECT best.rank FROM best) AND lower.priority <= :to_rank
    )) AS leaves_lower;

-- name: give_back
-- A turn that ended in an error: free again, and counted, so that one that always fails is set aside in the end. That the
-- database went away is no notification's fault.
UPDATE notification.dispatch_queue AS mine SET claimed_by = NULL, attempts = mine.attempts + :blame::integer
FROM unnest(:tenant_ids::text[], :notification_ids::text[]) AS given (tenant_id, notification_id)
WHERE mine.tenant_id = given.tenant_id AND mine.notification_id = given.notification_id AND mine.claimed_by = :worker
RETURNING mine.tenant_id, mine.notification_id, mine.attempts;

-- name: free_orphans
-- What workers had claimed that are not among the living any more; and what is claimed in our name without our knowing,
-- because the answer to the claim was lost.
UPDATE notification.dispatch_queue SET claimed_by = NULL
WHERE claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers WHERE workers.id = dispatch_queue.claimed_by)
    OR (claimed_by = :worker AND notification_id <> ALL (:held::text[]))
);
