-- name: find_owner
-- A hook is called with an account's id: whose account that is, across tenants. One that is switched off is still
-- told of: what went through it before has its outcome.
SELECT id, tenant_id FROM chan.channel_adapter_configs WHERE id = :account_id;

-- name: find_known
-- Which of these are accounts at all, whosesoever they are: made-up ids are asked about in sets.
SELECT id FROM chan.channel_adapter_configs WHERE id = ANY(:account_ids::text[]);

-- name: load_account
-- As its owner: where its secret is. A version that has grown means that it may be another one.
SELECT id, tenant_id, provider, secret_ref, version
FROM chan.channel_adapter_configs
WHERE id = :account_id;

-- name: insert_callbacks
-- A set of requests with their events, all or nothing. What was told before falls out: the first wins. Keys are taken in one
-- order by all workers, so that two sets with the same events wait for each other and never in a ring.
WITH said AS MATERIALIZED (
    SELECT * FROM unnest(
        :ids::text[], :request_ids::text[], :account_ids::text[], :vendor_message_ids::text[], :words::text[],
        :discriminators::text[], :statuses::text[], :occurred_ats::timestamptz[], :payloads::bytea[]
    ) AS said (id, request_id, account_id, message_id, word, discriminator, status, occurred_at, payload)
), fresh AS (
    INSERT INTO chan.webhook_inbound_dedup (
        vendor, adapter, vendor_message_id, type, discriminator, event_id, received_at, expires_at
    )
    SELECT :vendor::text, account_id, message_id, word, discriminator, id, :now::timestamptz, :now::timestamptz + INTERVAL '90 days'
    FROM said
    ORDER BY account_id, message_id, word, discriminator, id
    ON CONFLICT DO NOTHING
    RETURNING event_id
), events AS (
    INSERT INTO chan.webhook_inbound_events (
        id, received_at, webhook_inbound_id, vendor, adapter, vendor_message_id, type, occurred_at, payload_ciphertext,
        updated_at
    )
    SELECT said.id, :now::timestamptz, said.request_id, :vendor::text, said.account_id, said.message_id, said.status, said.occurred_at,
           said.payload, :now::timestamptz
    FROM said JOIN fresh ON fresh.event_id = said.id
    RETURNING webhook_inbound_id
), taken AS (
    SELECT webhook_inbound_id AS request_id, count(*) AS events FROM events GROUP BY 1
), requests AS (
    INSERT INTO chan.webhook_inbound (
        id, received_at, vendor, adapter, signature_valid, raw_body_ref, status, reason, updated_at, body_key
    )
    SELECT request.id, :now::timestamptz, :vendor::text, request.account_id, request.signature_valid, request.ref,
           CASE WHEN request.status = 'received' AND taken.events IS NULL THEN 'applied' ELSE request.status END,
           CASE WHEN request.status = 'received' AND taken.events IS NULL THEN 'repeated' ELSE request.reason END,
           :now::timestamptz,
           -- What was known before names people that only the first request is found by.
           CASE WHEN request.status = 'received' AND taken.events IS NULL THEN NULL ELSE request.body_key END
    FROM unnest(
        :new_ids::text[], :new_account_ids::text[], :new_signature_valids::boolean[], :new_refs::text[],
        :new_statuses::text[], :new_reasons::text[], :new_keys::bytea[]
    ) AS request (id, account_id, signature_valid, ref, status, reason, body_key)
    LEFT JOIN taken ON taken.request_id = request.id
)
SELECT request_id, events FROM taken;

-- name: announce
-- For processes that apply what this one only takes in.
SELECT pg_notify('tidings_callbacks', 'queued');

-- name: claim_events
-- Those never looked at, in the order in which they came, and those whose next look is due. They stay locked until they are
-- marked in this same transaction: a worker that dies lets go of them at once. Each comes with the newest attempt that it
-- can be about: of the same account, so that a tenant's own account speaks about its own messages alone. A bounce that came by
-- mail names the attempt itself: the return path of the message did.
WITH fresh AS (
    SELECT id, received_at, webhook_inbound_id, vendor, adapter, vendor_message_id, type, correlate_attempts, true AS fresh
    FROM chan.webhook_inbound_events
    WHERE status = 'queued' AND received_at > :since
    ORDER BY received_at LIMIT :limit
    FOR UPDATE SKIP LOCKED
), late AS (
    SELECT id, received_at, webhook_inbound_id, vendor, adapter, vendor_message_id, type, correlate_attempts, false AS fresh
    FROM chan.webhook_inbound_events
    WHERE status = 'late_correlate' AND next_correlate_at <= :now::timestamptz AND received_at > :since
    ORDER BY next_correlate_at LIMIT :limit
    FOR UPDATE SKIP LOCKED
), mine AS MATERIALIZED (
    SELECT * FROM fresh UNION ALL SELECT * FROM late
)
SELECT mine.id, mine.received_at, mine.webhook_inbound_id, mine.vendor, mine.adapter, mine.type, mine.correlate_attempts,
       mine.fresh, attempt.tenant_id, attempt.id AS attempt_id, attempt.execution_id, attempt.started_at
FROM mine
LEFT JOIN LATERAL (
    (
        SELECT tenant_id, id, execution_id, started_at
        FROM chan.delivery_attempts
        WHERE provider_message_id = mine.vendor_message_id AND provider = mine.vendor
          AND adapter_config_id = mine.adapter AND started_at > :oldest_attempt
        ORDER BY started_at DESC LIMIT 1
    )
    UNION ALL
    (
        SELECT tenant_id, id, execution_id, started_at
        FROM chan.delivery_attempts
        WHERE starts_with(mine.vendor_message_id, 'attempt_') AND id = mine.vendor_message_id
          AND provider LIKE 'smtp%' AND provider = mine.vendor
          AND adapter_config_id = mine.adapter AND started_at > :oldest_attempt
        LIMIT 1
    )
    LIMIT 1
) AS attempt ON true
ORDER BY mine.received_at, mine.id;

-- name: next_late
-- When the next look is needed, of those that are still looked at.
SELECT next_correlate_at FROM chan.webhook_inbound_events
WHERE status = 'late_correlate' AND received_at > :since
ORDER BY next_correlate_at LIMIT 1;

-- name: load_details
-- What the events of a set say beside their status, as the platform, which alone may read it: they have no owner yet.
SELECT event.id, event.occurred_at, event.payload_ciphertext
FROM unnest(:ids::text[], :received_ats::timestamptz[]) AS wanted (id, received_at)
CROSS JOIN LATERAL (
    SELECT id, occurred_at, payload_ciphertext FROM chan.webhook_inbound_events
    WHERE received_at = wanted.received_at AND id = wanted.id AND tenant_id IS NULL
    OFFSET 0
) AS event;

-- name: mark_applied
-- Handed over: the tenant may read its events from now on. What they said stands with the attempt, and is removed here.
-- Of an execution for a recipient who was erased meanwhile no raw body is kept: its key goes in the statement that finds it.
WITH gone AS (
    UPDATE chan.webhook_inbound AS request
    SET body_key = NULL, updated_at = :now::timestamptz
    FROM unnest(:request_ids::text[], :received_ats::timestamptz[], :tenant_ids::text[], :execution_ids::text[])
        AS mark (request_id, received_at, tenant_id, execution_id)
    JOIN chan.erased_executions AS erased
      ON erased.tenant_id = mark.tenant_id AND erased.execution_id = mark.execution_id
    WHERE request.received_at = mark.received_at AND request.id = mark.request_id
)
UPDATE chan.webhook_inbound_events AS event
SET status = 'applied',
    tenant_id = mark.tenant_id,
    attempt_id = mark.attempt_id,
    applied_at = :now::timestamptz,
    payload_ciphertext = NULL,
    next_correlate_at = NULL,
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :received_ats::timestamptz[], :tenant_ids::text[], :attempt_ids::text[])
    AS mark (id, received_at, tenant_id, attempt_id)
WHERE event.received_at = mark.received_at AND event.id = mark.id;

-- name: mark_waiting
-- Looked at in vain: the next look, or the end of them.
UPDATE chan.webhook_inbound_events AS event
SET status = mark.status,
    correlate_attempts = mark.looks,
    next_correlate_at = mark.next_at,
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :received_ats::timestamptz[], :statuses::text[], :looks::integer[], :next_ats::timestamptz[])
    AS mark (id, received_at, status, looks, next_at)
WHERE event.received_at = mark.received_at AND event.id = mark.id;

-- name: settle_requests
-- A request is done when all its events are.
UPDATE chan.webhook_inbound AS request
SET status = CASE WHEN ended.dead THEN 'dlq' ELSE 'applied' END,
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :received_ats::timestamptz[]) AS touched (id, received_at)
CROSS JOIN LATERAL (
    SELECT bool_or(status = 'dlq') AS dead, bool_or(status IN ('queued', 'late_correlate')) AS open
    FROM chan.webhook_inbound_events
    WHERE webhook_inbound_id = touched.id AND received_at = touched.received_at
) AS ended
WHERE request.received_at = touched.received_at AND request.id = touched.id
  AND request.status = 'received' AND NOT ended.open;

-- name: find_unsettled
-- Requests that are open without an open event: two workers marked the last two at once, and neither saw the other's.
SELECT request.id, request.received_at
FROM chan.webhook_inbound AS request
WHERE request.status = 'received' AND request.received_at < :before AND request.received_at > :after
  AND NOT EXISTS (
      SELECT FROM chan.webhook_inbound_events AS event
      WHERE event.webhook_inbound_id = request.id AND event.received_at = request.received_at
        AND event.status IN ('queued', 'late_correlate')
  )
ORDER BY request.received_at LIMIT :limit;

-- name: give_up_old
-- Open ones that no worker claims any more, because their attempts are too old to be looked for.
WITH old AS (
    SELECT id, received_at
    FROM chan.webhook_inbound_events
    WHERE status IN ('queued', 'late_correlate') AND received_at <= :until
    ORDER BY received_at LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE chan.webhook_inbound_events AS event
SET status = 'dlq', next_correlate_at = NULL, updated_at = :now::timestamptz
FROM old
WHERE event.received_at = old.received_at AND event.id = old.id
RETURNING event.webhook_inbound_id, event.received_at;

-- name: sweep_dedup
-- A chunk of what can't be told again any more.
WITH over AS (
    SELECT vendor, adapter, vendor_message_id, type, discriminator
    FROM chan.webhook_inbound_dedup
    WHERE expires_at <= :now::timestamptz
    ORDER BY expires_at LIMIT :limit
)
DELETE FROM chan.webhook_inbound_dedup AS known
USING over
WHERE known.vendor = over.vendor AND known.adapter = over.adapter
  AND known.vendor_message_id = over.vendor_message_id AND known.type = over.type
  AND known.discriminator = over.discriminator;

-- name: find_vendors
-- Whose raw bodies there may be, each in folders of its own. Accounts are never deleted, only switched off, and the oldest
-- says since when.
SELECT provider, min(id) AS first_id FROM chan.channel_adapter_configs GROUP BY provider ORDER BY provider;

-- name: list_events
-- Those without a tenant, the newest first.
SELECT event.id, event.received_at, event.webhook_inbound_id, event.vendor, event.adapter, event.vendor_message_id,
       event.type, event.occurred_at, event.status, event.correlate_attempts, event.next_correlate_at, event.updated_at
FROM chan.webhook_inbound_events AS event
WHERE event.tenant_id IS NULL AND event.status = :status
  AND (:vendor::text IS NULL OR event.vendor = :vendor::text)
  AND (:account_id::text IS NULL OR event.adapter = :account_id::text)
  AND (:since::timestamptz IS NULL OR event.received_at >= :since::timestamptz)
  AND (:after_at::timestamptz IS NULL OR (event.received_at, event.id) < (:after_at::timestamptz, :after_id::text))
ORDER BY event.received_at DESC, event.id DESC
LIMIT :limit;

-- name: show_event
-- One of them, with the request that brought it.
SELECT event.id, event.received_at, event.webhook_inbound_id, event.vendor, event.adapter, event.vendor_message_id,
       event.type, event.occurred_at, event.status, event.correlate_attempts, event.next_correlate_at, event.updated_at,
       request.raw_body_ref, request.body_key
FROM chan.webhook_inbound_events AS event
LEFT JOIN chan.webhook_inbound AS request
  ON request.received_at = event.received_at AND request.id = event.webhook_inbound_id
WHERE event.received_at = :received_at AND event.id = :id AND event.tenant_id IS NULL;

-- name: list_requests
-- Requests that were refused or could not be read, the newest first.
SELECT id, received_at, vendor, adapter, signature_valid, status, reason, raw_body_ref, body_key
FROM chan.webhook_inbound
WHERE tenant_id IS NULL AND status IN ('rejected', 'dlq') AND reason IS NOT NULL
  AND (:vendor::text IS NULL OR vendor = :vendor::text)
  AND (:account_id::text IS NULL OR adapter = :account_id::text)
  AND (:since::timestamptz IS NULL OR received_at >= :since::timestamptz)
  AND (:after_at::timestamptz IS NULL OR (received_at, id) < (:after_at::timestamptz, :after_id::text))
ORDER BY received_at DESC, id DESC
LIMIT :limit;

-- name: show_request
-- One request without a tenant.
SELECT id, received_at, vendor, adapter, signature_valid, status, reason, raw_body_ref, body_key
FROM chan.webhook_inbound
WHERE received_at = :received_at AND id = :id AND tenant_id IS NULL;

-- name: requeue_events
-- Requeues dead letters: looked at at once, and then as if they had just come. Their requests are open again.
WITH dead AS MATERIALIZED (
    SELECT received_at, id, webhook_inbound_id
    FROM chan.webhook_inbound_events
    WHERE status = 'dlq' AND tenant_id IS NULL
      AND (:ids::text[] IS NULL OR id = ANY(:ids::text[]))
      AND (:vendor::text IS NULL OR vendor = :vendor::text)
      AND (:since::timestamptz IS NULL OR received_at >= :since::timestamptz)
      AND received_at > :oldest
    ORDER BY received_at, id LIMIT :limit
    FOR UPDATE SKIP LOCKED
), again AS (
    UPDATE chan.webhook_inbound_events AS event
    SET status = 'late_correlate', correlate_attempts = 0, next_correlate_at = :now::timestamptz, updated_at = :now::timestamptz
    FROM dead
    WHERE event.received_at = dead.received_at AND event.id = dead.id
    RETURNING event.id, event.vendor
), requests AS (
    UPDATE chan.webhook_inbound AS request
    SET status = 'received', updated_at = :now::timestamptz
    FROM (SELECT DISTINCT received_at, webhook_inbound_id AS id FROM dead) AS open
    WHERE request.received_at = open.received_at AND request.id = open.id AND request.status = 'dlq'
)
SELECT id, vendor FROM again ORDER BY id;

-- name: count_too_old
-- Dead letters that were asked for, and came so long ago that their attempts are not looked for.
SELECT count(*) FROM (
    SELECT FROM chan.webhook_inbound_events
    WHERE status = 'dlq' AND tenant_id IS NULL
      AND (:ids::text[] IS NULL OR id = ANY(:ids::text[]))
      AND (:vendor::text IS NULL OR vendor = :vendor::text)
      AND (:since::timestamptz IS NULL OR received_at >= :since::timestamptz)
      AND received_at <= :oldest
    LIMIT :limit
) AS old;
