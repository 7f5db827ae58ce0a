-- name: claim
-- The longest due first, in turns between tenants. From here on the window takes no more items.
WITH due AS (
    SELECT oldest.tenant_id, oldest.id, oldest.flush_at,
           row_number() OVER (PARTITION BY oldest.tenant_id ORDER BY oldest.flush_at) AS turn
    FROM (
        SELECT w.tenant_id, w.id, w.flush_at FROM notification.digest_windows AS w
        WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.flush_at <= :now AND (w.retry_at IS NULL OR w.retry_at <= :now)
        ORDER BY w.flush_at LIMIT 2000
    ) AS oldest
), mine AS MATERIALIZED (
    SELECT w.tenant_id, w.id
    FROM (SELECT tenant_id, id FROM due ORDER BY turn, flush_at LIMIT :limit) AS chosen
    JOIN notification.digest_windows AS w ON w.tenant_id = chosen.tenant_id AND w.id = chosen.id
    WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.flush_at <= :now AND (w.retry_at IS NULL OR w.retry_at <= :now)
    FOR UPDATE OF w SKIP LOCKED
)
UPDATE notification.digest_windows AS w SET state = 'flushing', claimed_by = :worker, updated_at = :now
FROM mine
WHERE w.tenant_id = mine.tenant_id AND w.id = mine.id
RETURNING w.tenant_id, w.id;

-- name: wait_briefly
-- From here on no lock is waited for longer than this.
SELECT set_config('lock_timeout', '3s', true);

-- name: claim_locked
-- One that is due and that writers hold, one after the other without a pause: a flusher stands in line for it as they do.
WITH due AS (
    SELECT w.tenant_id, w.id FROM notification.digest_windows AS w
    WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.flush_at <= :now AND (w.retry_at IS NULL OR w.retry_at <= :now)
    ORDER BY w.flush_at LIMIT 1
), mine AS MATERIALIZED (
    SELECT w.tenant_id, w.id
    FROM due JOIN notification.digest_windows AS w ON w.tenant_id = due.tenant_id AND w.id = due.id
    WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.flush_at <= :now AND (w.retry_at IS NULL OR w.retry_at <= :now)
    FOR UPDATE OF w
)
UPDATE notification.digest_windows AS w SET state = 'flushing', claimed_by = :worker, updated_at = :now
FROM mine
WHERE w.tenant_id = mine.tenant_id AND w.id = mine.id
RETURNING w.tenant_id, w.id;

-- name: oldest_due
-- The longest due, also where it is left alone for a while after an error.
SELECT min(w.flush_at) FROM notification.digest_windows AS w WHERE w.state <> 'flushed' AND w.claimed_by IS NULL;

-- name: next_due
-- Until then the job sleeps.
SELECT least(
    (
        SELECT min(w.flush_at) FROM notification.digest_windows AS w
        WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.retry_at IS NULL
    ),
    (
        SELECT min(greatest(w.flush_at, w.retry_at)) FROM notification.digest_windows AS w
        WHERE w.state <> 'flushed' AND w.claimed_by IS NULL AND w.retry_at IS NOT NULL
    )
);

-- name: count_open
-- Windows that are being gathered, of all tenants.
SELECT count(*) FROM notification.digest_windows AS w WHERE w.state = 'open';

-- name: free_orphans
-- Windows of dead workers, and those that are claimed in this worker's name and that it does not know of. They stay closed for
-- new items, and are due. One that somebody holds is freed by the next look: many are locked here, and none is waited for.
WITH orphans AS MATERIALIZED (
    SELECT w.tenant_id, w.id FROM notification.digest_windows AS w
    WHERE w.claimed_by IS NOT NULL AND w.state <> 'flushed' AND (
        NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = w.claimed_by)
        OR (w.claimed_by = :worker AND w.id <> ALL (:held::text[]))
    )
    FOR UPDATE OF w SKIP LOCKED
)
UPDATE notification.digest_windows AS w SET claimed_by = NULL
FROM orphans
WHERE w.tenant_id = orphans.tenant_id AND w.id = orphans.id;

-- name: load_windows
-- Those that this worker still has.
SELECT w.tenant_id, w.id, w.recipient_id, w.category, w.channel, w.is_test, w.oldest_item_at, w.newest_item_at, w.attempts
FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT mine.* FROM notification.digest_windows AS mine
    WHERE mine.tenant_id = given.tenant_id AND mine.id = given.id AND mine.state = 'flushing' AND mine.claimed_by = :worker
    OFFSET 0
) AS w;

-- name: find_items
-- The newest that are still wanted of each window, so many at most; the bounds leave all months aside but theirs.
SELECT given.tenant_id, given.id AS window_id, item.id
FROM unnest(:tenant_ids::text[], :ids::text[], :oldests::timestamptz[], :newests::timestamptz[])
    AS given (tenant_id, id, oldest, newest)
CROSS JOIN LATERAL (
    SELECT n.id FROM notification.notifications AS n
    WHERE n.tenant_id = given.tenant_id AND n.digest_group_id = given.id AND n.status = 'scheduled'
      AND n.created_at BETWEEN given.oldest AND given.newest AND n.created_at BETWEEN :oldest AND :newest
    ORDER BY n.created_at DESC, n.id DESC
    LIMIT :most
) AS item;

-- name: lock_windows
-- In the order in which windows are joined; those that this worker still has.
SELECT w.tenant_id, w.id
FROM notification.digest_windows AS w
JOIN unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id) ON w.tenant_id = given.tenant_id AND w.id = given.id
WHERE w.state = 'flushing' AND w.claimed_by = :worker
ORDER BY w.tenant_id, w.recipient_id, w.category, w.channel, w.digest_key, w.is_test, w.id
FOR UPDATE OF w;

-- name: lock_items
-- All that is still wanted in these windows, whatever window each is in: locked in the order of their keys, as all do that
-- change many notifications. Nothing joins them any more, and what is locked here can't leave.
WITH wanted AS MATERIALIZED (
    SELECT given.id AS window_id, item.*
    FROM unnest(:tenant_ids::text[], :ids::text[], :oldests::timestamptz[], :newests::timestamptz[])
        AS given (tenant_id, id, oldest, newest)
    CROSS JOIN LATERAL (
        SELECT n.tenant_id, n.id, n.created_at, n.retention_class
        FROM notification.notifications AS n
        WHERE n.tenant_id = given.tenant_id AND n.digest_group_id = given.id AND n.status = 'scheduled'
          AND n.created_at BETWEEN given.oldest AND given.newest AND n.created_at BETWEEN :oldest AND :newest
        OFFSET 0
    ) AS item
    ORDER BY item.tenant_id, item.id
)
SELECT wanted.window_id, item.*
FROM wanted
CROSS JOIN LATERAL (
    SELECT n.tenant_id, n.id, n.created_at, n.retention_class, n.recipient_id, n.channel, n.category, n.template_key, n.priority,
           n.correlation_id, n.is_test, n.expires_at, n.traceparent,
           strpos(coalesce(n.decision_trace, ''), :copied) > 0 AS is_copy
    FROM notification.notifications AS n
    WHERE n.tenant_id = wanted.tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.retention_class = wanted.retention_class AND n.created_at BETWEEN :oldest AND :newest
      AND n.status = 'scheduled' AND n.digest_group_id = wanted.window_id
    FOR UPDATE
) AS item;

-- name: settle_items
-- What the items of a set of windows come to: a digest took their place, their time was over, or they go on by themselves and
-- stand in the queue. Told and counted in the same trip; they are this transaction's already.
WITH given AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :retention_classes::text[], :statuses::text[], :reasons::text[],
        :traces::text[], :ranks::integer[], :event_ids::text[], :event_subjects::text[], :event_payloads::text[],
        :event_envelopes::text[]
    ) AS g (tenant_id, id, created_at, retention_class, status, reason, trace, rank, event_id, event_subject, event_payload, event_envelope)
), found AS MATERIALIZED (
    SELECT given.*, there.part, there.row, NULL::text AS always_null
    FROM given
    CROSS JOIN LATERAL (
        SELECT n.tableoid AS part, n.ctid AS row FROM notification.notifications AS n
        WHERE n.tenant_id = given.tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.retention_class = given.retention_class AND n.created_at BETWEEN :oldest AND :newest
          AND n.status = 'scheduled'
        LIMIT 1
    ) AS there
), settled AS (
    UPDATE notification.notifications AS n
    SET status = found.status,
        updated_at = :now,
        superseded_at = CASE WHEN found.status = 'superseded' THEN :now ELSE n.superseded_at END,
        expired_at = CASE WHEN found.status = 'expired' THEN :now ELSE n.expired_at END,
        failure_reason = CASE WHEN found.status = 'expired' THEN found.reason ELSE n.failure_reason END,
        decision_trace = concat_ws(';', nullif(n.decision_trace, ''), found.trace),
        version = n.version + 1
    FROM found
    WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
      -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
      AND found.always_null IS NULL
    RETURNING n.tenant_id, n.id, n.recipient_id, n.batch_id, n.channel, n.category, found.status, found.reason, found.rank,
              found.event_id, found.event_subject, found.event_payload, found.event_envelope
), queued AS (
    INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight)
    SELECT settled.tenant_id, settled.id, settled.rank, tenant.weight
    FROM settled JOIN notification.tenants_local AS tenant ON tenant.tenant_id = settled.tenant_id
    WHERE settled.rank IS NOT NULL
    ON CONFLICT (tenant_id, notification_id) DO NOTHING
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, tenant_id, event_subject, id, event_payload, event_envelope FROM settled WHERE rank IS NULL
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = settled.status, error_code = settled.reason
    FROM settled
    WHERE settled.batch_id IS NOT NULL AND settled.rank IS NULL AND person.tenant_id = settled.tenant_id
      AND person.batch_id = settled.batch_id AND person.recipient_id = settled.recipient_id
    RETURNING person.tenant_id, person.batch_id, person.variant, person.state
), batch_totals AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT tenant_id, batch_id, variant, state, :stripe, count(*)
    FROM in_batch
    GROUP BY tenant_id, batch_id, variant, state
    ORDER BY tenant_id, batch_id, variant, state
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
), counts AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT tenant_id, :day, :stripe, status, channel, category, count(*)
    FROM settled WHERE rank IS NULL
    GROUP BY tenant_id, status, channel, category
    ORDER BY tenant_id, status, channel, category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT count(*) FROM settled;

-- name: mark_digests
-- By its trace a digest is known: in the transaction that makes it, before a worker can decide about it.
UPDATE notification.notifications AS n SET decision_trace = given.trace
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :traces::text[]) AS given (tenant_id, id, created_at, trace)
WHERE n.tenant_id = given.tenant_id AND n.id = given.id AND n.created_at = given.created_at
  AND n.created_at BETWEEN :oldest AND :newest;

-- name: close_windows
-- They are over.
UPDATE notification.digest_windows AS w
SET state = 'flushed', result = given.result, digest_notification_id = given.digest_notification_id, flushed_at = :now,
    claimed_by = NULL, last_error = NULL, updated_at = :now
FROM unnest(:tenant_ids::text[], :ids::text[], :results::text[], :digest_notification_ids::text[])
    AS given (tenant_id, id, result, digest_notification_id)
WHERE w.tenant_id = given.tenant_id AND w.id = given.id AND w.state = 'flushing';

-- name: give_back
-- A flush that ended in an error is tried again, a while later each time; that the database went away is no window's fault.
WITH mine AS MATERIALIZED (
    SELECT w.tenant_id, w.id
    FROM notification.digest_windows AS w
    JOIN unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id) ON w.tenant_id = given.tenant_id AND w.id = given.id
    WHERE w.state = 'flushing' AND w.claimed_by = :worker
    ORDER BY w.tenant_id, w.recipient_id, w.category, w.channel, w.digest_key, w.is_test, w.id
    FOR UPDATE OF w
)
UPDATE notification.digest_windows AS w
SET claimed_by = NULL, attempts = w.attempts + :blame::integer, last_error = :error, updated_at = :now,
    retry_at = CAST(:now AS timestamptz) + least(interval '2 seconds' * power(2, w.attempts), interval '10 minutes')
FROM mine
WHERE w.tenant_id = mine.tenant_id AND w.id = mine.id;

-- name: sweep_flushed
-- The oldest first, about so many at a time, across tenants: their items tell by their traces which digest took them.
DELETE FROM notification.digest_windows
WHERE state = 'flushed' AND flushed_at <= (
    SELECT max(oldest.flushed_at)
    FROM (
        SELECT flushed_at FROM notification.digest_windows
        WHERE flushed_at IS NOT NULL AND flushed_at <= :before ORDER BY flushed_at LIMIT :limit
    ) AS oldest
);
