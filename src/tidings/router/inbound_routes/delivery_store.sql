-- name: insert_deliveries
-- One for each message, in the transaction that takes it on.
INSERT INTO chan.inbound_deliveries (
    tenant_id, id, message_id, conversation_id, route_id, created_at, next_attempt_at, updated_at
)
SELECT :tenant_id, fresh.id, fresh.message_id, fresh.conversation_id, fresh.route_id, :now, :now, :now
FROM unnest(:ids::text[], :message_ids::text[], :conversation_ids::text[], :route_ids::text[])
    AS fresh (id, message_id, conversation_id, route_id);

-- name: claim_deliveries
-- Across tenants, by ids alone, in turns between them: one whose webhook is down does not stand before all others.
WITH RECURSIVE tenants AS (
    (
        SELECT tenant_id FROM chan.inbound_deliveries
        WHERE status = 'pending' AND claimed_by IS NULL
        ORDER BY tenant_id LIMIT 1
    )
    UNION ALL
    SELECT other.tenant_id
    FROM tenants
    CROSS JOIN LATERAL (
        SELECT tenant_id FROM chan.inbound_deliveries
        WHERE status = 'pending' AND claimed_by IS NULL AND tenant_id > tenants.tenant_id
        ORDER BY tenant_id LIMIT 1
    ) AS other
), due AS MATERIALIZED (
    SELECT mine.tenant_id, mine.id
    FROM tenants
    CROSS JOIN LATERAL (
        SELECT tenant_id, id, next_attempt_at, row_number() OVER (ORDER BY next_attempt_at) AS turn FROM (
            SELECT tenant_id, id, next_attempt_at FROM chan.inbound_deliveries
            WHERE tenant_id = tenants.tenant_id AND status = 'pending' AND claimed_by IS NULL AND next_attempt_at <= :now
            ORDER BY next_attempt_at LIMIT :limit
        ) AS oldest
    ) AS mine
    WHERE tenants.tenant_id <> ALL (:full::text[])
    ORDER BY mine.turn, mine.next_attempt_at LIMIT :limit
), found AS MATERIALIZED (
    SELECT delivery.tenant_id, delivery.id
    FROM due
    CROSS JOIN LATERAL (
        -- By the key alone: a partial index looks cheaper to a planner without statistics, and is not.
        SELECT tenant_id, id, status, claimed_by FROM chan.inbound_deliveries
        WHERE tenant_id = due.tenant_id AND id = due.id
        OFFSET 0
        FOR UPDATE SKIP LOCKED
    ) AS delivery
    WHERE delivery.status = 'pending' AND delivery.claimed_by IS NULL
)
UPDATE chan.inbound_deliveries AS delivery
SET claimed_by = :worker
FROM found
WHERE delivery.tenant_id = found.tenant_id AND delivery.id = found.id
RETURNING delivery.tenant_id, delivery.id;

-- name: next_delivery
-- When the next look is needed.
SELECT next_attempt_at FROM chan.inbound_deliveries
WHERE status = 'pending' AND claimed_by IS NULL
ORDER BY next_attempt_at LIMIT 1;

-- name: load_deliveries
-- What has to be told, and where; only what this worker has in hand. A route whose grace is over is told nothing more.
SELECT delivery.id, delivery.attempts, delivery.route_id, route.webhook_url, route.secret_ref,
       line.id AS message_id, line.at, line.occurred_at, line.kind, line.keyword, line.keyword_action, line.key_subject, line.text_ciphertext,
       known.id AS conversation_id, known.channel, known.sender_id, known.recipient_id,
       known.key_subject AS address_subject, known.address_ciphertext
FROM unnest(:ids::text[]) AS wanted (id)
JOIN chan.inbound_deliveries AS delivery
  ON delivery.tenant_id = :tenant_id AND delivery.id = wanted.id AND delivery.claimed_by = :worker AND delivery.status = 'pending'
LEFT JOIN chan.tenant_inbound_routes AS route
  ON route.tenant_id = :tenant_id AND route.id = delivery.route_id
 AND route.active AND (route.grace_period_ends_at IS NULL OR route.grace_period_ends_at > :now)
LEFT JOIN chan.conversation_messages AS line ON line.tenant_id = :tenant_id AND line.id = delivery.message_id
LEFT JOIN chan.conversations AS known ON known.tenant_id = :tenant_id AND known.id = delivery.conversation_id;

-- name: end_deliveries
-- What became of a try; a worker that was taken for dead writes nothing.
UPDATE chan.inbound_deliveries AS delivery
SET status = tried.status, attempts = delivery.attempts + 1, next_attempt_at = tried.next_at, last_status = tried.answer,
    last_reason = tried.reason, delivered_at = CASE WHEN tried.status = 'delivered' THEN :now::timestamptz END, claimed_by = NULL,
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :statuses::text[], :next_ats::timestamptz[], :answers::integer[], :reasons::text[])
    AS tried (id, status, next_at, answer, reason)
WHERE delivery.tenant_id = :tenant_id AND delivery.id = tried.id AND delivery.claimed_by = :worker AND delivery.status = 'pending'
RETURNING delivery.id;

-- name: free_deliveries
-- Of the dead, and what is ours by name only: told again, and the receiver knows it by its id.
UPDATE chan.inbound_deliveries AS delivery
SET claimed_by = NULL
WHERE delivery.claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = delivery.claimed_by)
    OR (delivery.claimed_by = :worker AND delivery.id <> ALL (:held::text[]))
);

-- name: list_deliveries
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, message_id, conversation_id, route_id, status, attempts, created_at, next_attempt_at, delivered_at, last_status, last_reason
FROM chan.inbound_deliveries
WHERE tenant_id = :tenant_id
  AND (:after_id::text IS NULL OR id < :after_id::text)
  AND (:status::text IS NULL OR status = :status::text)
  AND (:route_id::text IS NULL OR route_id = :route_id::text)
ORDER BY id DESC
LIMIT :limit;

-- name: find_delivery
-- By its key.
SELECT id, message_id, conversation_id, route_id, status, attempts, created_at, next_attempt_at, delivered_at, last_status, last_reason
FROM chan.inbound_deliveries
WHERE tenant_id = :tenant_id AND id = :id;

-- name: redeliver
-- From the first attempt on. One that a worker has in hand just now is being delivered anyway. A route that has moved is called at its new address.
UPDATE chan.inbound_deliveries AS delivery
SET status = 'pending', attempts = 0, next_attempt_at = :now::timestamptz, delivered_at = NULL, updated_at = :now::timestamptz,
    route_id = coalesce(:route_id::text, delivery.route_id)
WHERE delivery.tenant_id = :tenant_id AND delivery.id = :id AND delivery.claimed_by IS NULL
RETURNING id, message_id, conversation_id, route_id, status, attempts, created_at, next_attempt_at, delivered_at, last_status, last_reason;

-- name: lock_dead
-- Those that can be delivered now: their route serves, or another does for their number. What was erased is not told.
SELECT delivery.id, delivery.route_id, known.sender_id
FROM chan.inbound_deliveries AS delivery
JOIN chan.conversations AS known ON known.tenant_id = :tenant_id AND known.id = delivery.conversation_id
WHERE delivery.tenant_id = :tenant_id AND delivery.status = 'dead' AND delivery.claimed_by IS NULL
  AND delivery.last_reason IS DISTINCT FROM 'erased'
  AND (:route_id::text IS NULL OR delivery.route_id = :route_id::text)
  AND (:since::timestamptz IS NULL OR delivery.created_at >= :since::timestamptz)
  AND (
      :anything::boolean OR delivery.route_id = ANY(:route_ids::text[])
      OR known.sender_id = ANY(:numbers::text[]) OR ltrim(known.sender_id, '+') = ANY(:numbers::text[])
  )
ORDER BY delivery.id LIMIT :limit
FOR UPDATE OF delivery SKIP LOCKED;

-- name: redeliver_dead
-- The same as `redeliver` for many, under their locks.
UPDATE chan.inbound_deliveries AS delivery
SET status = 'pending', attempts = 0, next_attempt_at = :now::timestamptz, delivered_at = NULL, updated_at = :now::timestamptz,
    route_id = again.route_id
FROM unnest(:ids::text[], :route_ids::text[]) AS again (id, route_id)
WHERE delivery.tenant_id = :tenant_id AND delivery.id = again.id;

-- name: sweep_deliveries
-- A chunk of what is done and old enough.
WITH over AS (
    SELECT tenant_id, id FROM chan.inbound_deliveries
    WHERE status <> 'pending' AND updated_at <= :until
    ORDER BY updated_at LIMIT :limit
)
DELETE FROM chan.inbound_deliveries AS delivery USING over
WHERE delivery.tenant_id = over.tenant_id AND delivery.id = over.id;
