-- part: shown
id, subscription_id, event_id, event_type, ordering_key, status, attempts, happened_at, created_at, next_attempt_at, first_attempted_at,
       delivered_at, last_status_code, last_error, calls

-- part: chosen_by
-- Which deliveries of a webhook somebody means; null: whichever.
tenant_id = :tenant_id AND subscription_id = :webhook_id AND status = ANY (:statuses::text[])
      AND (CAST(:ids AS text[]) IS NULL OR id = ANY (:ids))
      AND (CAST(:event_types AS text[]) IS NULL OR event_type = ANY (:event_types))
      AND (CAST(:since AS timestamptz) IS NULL OR created_at >= :since)
      AND (CAST(:until AS timestamptz) IS NULL OR created_at < :until)

-- name: lock_endpoints
-- Before deliveries are added: a worker that is about to leave the endpoint has left it then, and sees them at its next look.
SELECT e.tenant_id, e.id
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
JOIN notification.webhook_endpoints AS e ON e.tenant_id = wanted.tenant_id AND e.id = wanted.id
ORDER BY e.tenant_id, e.id
FOR NO KEY UPDATE OF e;

-- name: insert_deliveries
-- One for each event and webhook, in the order of the events. Where order is asked for, one waits behind those of its key.
INSERT INTO notification.webhook_deliveries (
    tenant_id, id, created_at, updated_at, subscription_id, event_id, event_type, ordering_key, happened_at, payload_ciphertext,
    next_attempt_at, position, status
)
SELECT fresh.tenant_id, fresh.id, fresh.created_at, :now, fresh.subscription_id, fresh.event_id, fresh.event_type, fresh.ordering_key,
       fresh.happened_at, fresh.payload, :now, nextval('notification.webhook_positions'),
       CASE WHEN fresh.ordered AND (fresh.turn > 1 OR EXISTS (
           SELECT FROM notification.webhook_deliveries AS before
           WHERE before.tenant_id = fresh.tenant_id AND before.subscription_id = fresh.subscription_id
             AND before.ordering_key = fresh.ordering_key AND before.status IN ('queued', 'blocked')
       )) THEN 'blocked' ELSE 'queued' END
FROM (
    SELECT given.*, row_number() OVER (
        PARTITION BY given.tenant_id, given.subscription_id, given.ordering_key ORDER BY given.place
    ) AS turn
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :subscription_ids::text[], :event_ids::text[],
        :event_types::text[], :ordering_keys::text[], :happened_ats::timestamptz[], :payloads::bytea[], :ordereds::boolean[]
    ) WITH ORDINALITY AS given (
        tenant_id, id, created_at, subscription_id, event_id, event_type, ordering_key, happened_at, payload, ordered, place
    )
    ORDER BY given.place
) AS fresh;

-- name: expect_calls
-- There is something to tell: at once, or when the endpoint has rested. Paused and disabled ones stay as they are.
UPDATE notification.webhook_endpoints AS e
SET due_at = greatest(:now::timestamptz, e.resting_until, e.next_slot_at)
FROM unnest(:tenant_ids::text[], :ids::text[]) AS told (tenant_id, id)
WHERE e.tenant_id = told.tenant_id AND e.id = told.id AND e.is_open
  AND (e.due_at IS NULL OR e.due_at > greatest(:now::timestamptz, e.resting_until, e.next_slot_at));

-- name: wake_callers
-- Heard when the deliveries are committed, and not before.
SELECT pg_notify('tidings_webhooks', 'due');

-- name: claim_endpoints
-- The longest due first, round-robin between tenants: one tenant's thousand endpoints do not delay another tenant's single one.
WITH due AS (
    SELECT tenant_id, id, due_at, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at) AS turn
    FROM (
        SELECT tenant_id, id, due_at FROM notification.webhook_endpoints
        WHERE due_at <= :now AND claimed_by IS NULL
        ORDER BY due_at LIMIT 2000
    ) AS oldest
), mine AS MATERIALIZED (
    SELECT endpoint.tenant_id, endpoint.id
    FROM (SELECT tenant_id, id FROM due ORDER BY turn, due_at LIMIT :limit) AS chosen
    JOIN notification.webhook_endpoints AS endpoint USING (tenant_id, id)
    WHERE endpoint.claimed_by IS NULL AND endpoint.due_at <= :now
    FOR UPDATE OF endpoint SKIP LOCKED
)
UPDATE notification.webhook_endpoints AS endpoint SET claimed_by = :worker
FROM mine WHERE endpoint.tenant_id = mine.tenant_id AND endpoint.id = mine.id
RETURNING endpoint.tenant_id, endpoint.id;

-- name: next_due
-- Until then the job sleeps.
SELECT min(due_at) FROM notification.webhook_endpoints WHERE due_at IS NOT NULL AND claimed_by IS NULL;

-- name: free_orphans
-- Of dead workers, and what is ours by name only: told again, and the receiver knows it by its id.
UPDATE notification.webhook_endpoints AS endpoint SET claimed_by = NULL
WHERE endpoint.claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = endpoint.claimed_by)
    OR (endpoint.claimed_by = :worker AND endpoint.id <> ALL (:held::text[]))
);

-- name: load_endpoints
-- Where the claimed endpoints are, and how they are to be called; those of a tenant that is suspended or on its way out are held.
SELECT e.tenant_id, e.id, e.next_slot_at, e.consecutive_failures, e.is_proven, w.target_url, w.is_test, w.ordered, w.max_in_flight,
       w.max_per_minute, w.timeout_seconds, w.disable_after, w.signing_secret_ciphertext, w.signing_secret_prev_ciphertext,
       w.signing_secret_prev_until, w.headers_ciphertext, w.credentials_ciphertext, w.transform, w.version,
       owner.status <> 'active' AS is_held
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
JOIN notification.webhook_endpoints AS e ON e.tenant_id = wanted.tenant_id AND e.id = wanted.id AND e.claimed_by = :worker
JOIN notification.webhook_subscriptions AS w ON w.tenant_id = e.tenant_id AND w.id = e.id
JOIN notification.tenants_local AS owner ON owner.tenant_id = e.tenant_id;

-- name: load_due
-- What each is to be told now: what has waited longest first, and of what came together the earlier event.
SELECT due.tenant_id, due.subscription_id, due.id, due.created_at, due.event_id, due.event_type, due.ordering_key, due.happened_at,
       due.payload_ciphertext, due.attempts, due.calls
FROM unnest(:tenant_ids::text[], :ids::text[], :limits::integer[]) AS wanted (tenant_id, id, most)
CROSS JOIN LATERAL (
    SELECT * FROM notification.webhook_deliveries AS d
    WHERE d.tenant_id = wanted.tenant_id AND d.subscription_id = wanted.id AND d.status = 'queued' AND d.next_attempt_at <= :now
    ORDER BY d.next_attempt_at, d.position
    LIMIT wanted.most
) AS due;

-- name: lock_claimed
-- Those that this worker still has: one that was taken for dead writes nothing.
SELECT e.tenant_id, e.id
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
JOIN notification.webhook_endpoints AS e ON e.tenant_id = wanted.tenant_id AND e.id = wanted.id
WHERE e.claimed_by = :worker
ORDER BY e.tenant_id, e.id
FOR NO KEY UPDATE OF e;

-- name: end_calls
-- What became of each call, and how many were taken in this hour: under the endpoints' locks, so that no two count at once. What
-- failed before there was a call is no call.
WITH written AS (
    UPDATE notification.webhook_deliveries AS d
    SET status = ended.status, attempts = d.attempts + 1, next_attempt_at = ended.next_at, last_status_code = ended.answer,
        last_error = ended.reason, first_attempted_at = coalesce(d.first_attempted_at, :now::timestamptz),
        delivered_at = CASE WHEN ended.status = 'delivered' THEN :now::timestamptz END, calls = ended.calls::jsonb, updated_at = :now::timestamptz
    FROM unnest(
        :tenant_ids::text[], :created_ats::timestamptz[], :ids::text[], :statuses::text[], :next_ats::timestamptz[], :answers::integer[],
        :reasons::text[], :calls::text[]
    ) AS ended (tenant_id, created_at, id, status, next_at, answer, reason, calls)
    WHERE d.tenant_id = ended.tenant_id AND d.created_at = ended.created_at AND d.id = ended.id AND d.status = 'queued'
    RETURNING d.tenant_id, d.subscription_id, d.status, d.last_error
)
INSERT INTO notification.webhook_call_counts AS counted (tenant_id, subscription_id, hour, taken, not_taken)
SELECT tenant_id, subscription_id, date_trunc('hour', :now::timestamptz, 'UTC'),
       count(*) FILTER (WHERE status = 'delivered'), count(*) FILTER (WHERE status <> 'delivered')
FROM written
WHERE last_error IS NULL OR last_error NOT IN ('too_large', 'unreadable', 'token')
GROUP BY tenant_id, subscription_id
ORDER BY tenant_id, subscription_id
ON CONFLICT ON CONSTRAINT pk_webhook_call_counts DO UPDATE
SET taken = counted.taken + excluded.taken, not_taken = counted.not_taken + excluded.not_taken;

-- name: unblock_next
-- The next of each key whose first one is delivered or given up.
UPDATE notification.webhook_deliveries AS d
SET status = 'queued', next_attempt_at = :now, updated_at = :now
FROM (
    SELECT following.tenant_id, following.created_at, following.id
    FROM unnest(:tenant_ids::text[], :subscription_ids::text[], :ordering_keys::text[]) AS lane (tenant_id, subscription_id, ordering_key)
    CROSS JOIN LATERAL (
        SELECT next.tenant_id, next.created_at, next.id, next.status FROM notification.webhook_deliveries AS next
        WHERE next.tenant_id = lane.tenant_id AND next.subscription_id = lane.subscription_id AND next.ordering_key = lane.ordering_key
          AND next.status = 'blocked'
        ORDER BY next.position LIMIT 1
    ) AS following
    WHERE NOT EXISTS (
        SELECT FROM notification.webhook_deliveries AS head
        WHERE head.tenant_id = lane.tenant_id AND head.subscription_id = lane.subscription_id
          AND head.ordering_key = lane.ordering_key AND head.status = 'queued'
    )
) AS first
WHERE d.tenant_id = first.tenant_id AND d.created_at = first.created_at AND d.id = first.id;

-- name: leave_endpoints
-- Under their locks, when their deliveries are written: each is due when the next of them is, it has rested, and may be called again.
UPDATE notification.webhook_endpoints AS e
SET claimed_by = NULL, consecutive_failures = ended.failures, is_proven = ended.proven, next_slot_at = ended.next_slot_at,
    resting_until = ended.resting_until, last_success_at = coalesce(ended.success_at, e.last_success_at),
    last_failure_at = coalesce(ended.failure_at, e.last_failure_at), is_open = e.is_open AND NOT ended.disables,
    due_at = CASE WHEN e.is_open AND NOT ended.disables THEN (
        SELECT greatest(next.next_attempt_at, ended.resting_until, ended.next_slot_at)
        FROM (
            SELECT d.next_attempt_at FROM notification.webhook_deliveries AS d
            WHERE d.tenant_id = e.tenant_id AND d.subscription_id = e.id AND d.status = 'queued'
            ORDER BY d.next_attempt_at LIMIT 1
        ) AS next
    ) END
FROM unnest(
    :tenant_ids::text[], :ids::text[], :failures::integer[], :provens::boolean[], :next_slot_ats::timestamptz[],
    :resting_untils::timestamptz[], :success_ats::timestamptz[], :failure_ats::timestamptz[], :disables::boolean[]
) AS ended (tenant_id, id, failures, proven, next_slot_at, resting_until, success_at, failure_at, disables)
WHERE e.tenant_id = ended.tenant_id AND e.id = ended.id
RETURNING e.due_at;

-- name: disable_webhooks
-- Under the locks of their endpoints. One that was paused meanwhile stays paused.
UPDATE notification.webhook_subscriptions AS w
SET status = 'disabled', disabled_at = :now, disabled_reason = ended.reason, updated_at = :now, version = version + 1
FROM unnest(:tenant_ids::text[], :ids::text[], :reasons::text[]) AS ended (tenant_id, id, reason)
WHERE w.tenant_id = ended.tenant_id AND w.id = ended.id AND w.status = 'active'
RETURNING w.tenant_id, w.id;

-- name: list_deliveries
-- The newest first.
SELECT {shown}
FROM notification.webhook_deliveries
WHERE tenant_id = :tenant_id AND subscription_id = :webhook_id
  AND (CAST(:after_id AS text) IS NULL OR (created_at, id) < (:after_at::timestamptz, :after_id::text))
  AND (CAST(:status AS text) IS NULL OR status = :status)
  AND (CAST(:event_type AS text) IS NULL OR event_type = :event_type)
  AND (CAST(:event_id AS text) IS NULL OR event_id = :event_id)
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: find_delivery
-- By its key, with what is told.
SELECT {shown}, payload_ciphertext
FROM notification.webhook_deliveries
WHERE tenant_id = :tenant_id AND subscription_id = :webhook_id AND created_at = :created_at AND id = :id;

-- name: count_chosen
-- How many a redelivery would take.
SELECT count(*) FROM (SELECT FROM notification.webhook_deliveries WHERE {chosen_by} LIMIT :limit) AS meant;

-- name: redeliver
-- From the first attempt on, under the endpoint's lock; the earlier ones first. Where order is asked for each goes back to its place in line.
WITH meant AS MATERIALIZED (
    SELECT created_at, id FROM notification.webhook_deliveries WHERE {chosen_by} ORDER BY position LIMIT :limit
)
UPDATE notification.webhook_deliveries AS d
SET status = CASE WHEN :ordered AND d.status <> 'queued' THEN 'blocked' ELSE 'queued' END, attempts = 0, next_attempt_at = :now,
    delivered_at = NULL, updated_at = :now
FROM meant
WHERE d.tenant_id = :tenant_id AND d.created_at = meant.created_at AND d.id = meant.id;

-- name: hasten
-- What waits for its next attempt, and happened since then, is due at once.
UPDATE notification.webhook_deliveries
SET next_attempt_at = :now, updated_at = :now
WHERE tenant_id = :tenant_id AND subscription_id = :webhook_id AND status = 'queued' AND next_attempt_at > :now AND created_at >= :since;

-- name: unblock_heads
-- The first of each key that has nothing under way.
UPDATE notification.webhook_deliveries AS d
SET status = 'queued', next_attempt_at = :now, updated_at = :now
FROM (
    SELECT DISTINCT ON (waiting.ordering_key) waiting.created_at, waiting.id
    FROM notification.webhook_deliveries AS waiting
    WHERE waiting.tenant_id = :tenant_id AND waiting.subscription_id = :webhook_id AND waiting.status = 'blocked'
      AND NOT EXISTS (
          SELECT FROM notification.webhook_deliveries AS head
          WHERE head.tenant_id = :tenant_id AND head.subscription_id = :webhook_id AND head.ordering_key = waiting.ordering_key
            AND head.status = 'queued'
      )
    ORDER BY waiting.ordering_key, waiting.position
) AS first
WHERE d.tenant_id = :tenant_id AND d.created_at = first.created_at AND d.id = first.id;

-- name: unblock_all
-- Order is not asked for any more.
UPDATE notification.webhook_deliveries
SET status = 'queued', next_attempt_at = :now, updated_at = :now
WHERE tenant_id = :tenant_id AND subscription_id = :webhook_id AND status = 'blocked';

-- name: block_behind
-- Order is asked for from now on: of each key the first stays queued.
UPDATE notification.webhook_deliveries AS d
SET status = 'blocked', updated_at = :now
WHERE d.tenant_id = :tenant_id AND d.subscription_id = :webhook_id AND d.status = 'queued'
  AND EXISTS (
      SELECT FROM notification.webhook_deliveries AS earlier
      WHERE earlier.tenant_id = :tenant_id AND earlier.subscription_id = :webhook_id AND earlier.ordering_key = d.ordering_key
        AND earlier.status = 'queued' AND earlier.position < d.position
  );

-- name: discard_waiting
-- What has waited is not told; it can be delivered again.
UPDATE notification.webhook_deliveries
SET status = 'dlq', last_error = 'discarded', next_attempt_at = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND subscription_id = :webhook_id AND status IN ('queued', 'blocked');

-- name: call_soon
-- The endpoint has something to be told now, where it is open.
UPDATE notification.webhook_endpoints
SET due_at = greatest(:now::timestamptz, resting_until, next_slot_at)
WHERE tenant_id = :tenant_id AND id = :webhook_id AND is_open;
