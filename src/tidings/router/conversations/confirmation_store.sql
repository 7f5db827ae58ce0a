-- name: claim_replies
-- Across tenants, by ids alone, in turns between them; rows in another worker's grasp are passed over.
WITH RECURSIVE tenants AS (
    (
        SELECT tenant_id FROM chan.conversation_messages
        WHERE status = 'queued' AND claimed_by IS NULL
        ORDER BY tenant_id LIMIT 1
    )
    UNION ALL
    SELECT other.tenant_id
    FROM tenants
    CROSS JOIN LATERAL (
        SELECT tenant_id FROM chan.conversation_messages
        WHERE status = 'queued' AND claimed_by IS NULL AND tenant_id > tenants.tenant_id
        ORDER BY tenant_id LIMIT 1
    ) AS other
), due AS MATERIALIZED (
    SELECT mine.tenant_id, mine.id
    FROM tenants
    CROSS JOIN LATERAL (
        SELECT tenant_id, id, next_attempt_at, row_number() OVER (ORDER BY next_attempt_at) AS turn FROM (
            SELECT tenant_id, id, next_attempt_at FROM chan.conversation_messages
            WHERE tenant_id = tenants.tenant_id AND status = 'queued' AND claimed_by IS NULL AND next_attempt_at <= :now
            ORDER BY next_attempt_at LIMIT :limit
        ) AS oldest
    ) AS mine
    WHERE tenants.tenant_id <> ALL (:full::text[])
    ORDER BY mine.turn, mine.next_attempt_at LIMIT :limit
), found AS MATERIALIZED (
    SELECT line.tenant_id, line.id
    FROM due
    CROSS JOIN LATERAL (
        -- By the key alone: a partial index looks cheaper to a planner without statistics, and is not.
        SELECT tenant_id, id, status, claimed_by FROM chan.conversation_messages
        WHERE tenant_id = due.tenant_id AND id = due.id
        OFFSET 0
        FOR UPDATE SKIP LOCKED
    ) AS line
    WHERE line.status = 'queued' AND line.claimed_by IS NULL
)
UPDATE chan.conversation_messages AS line
SET claimed_by = :worker, updated_at = :now
FROM found
WHERE line.tenant_id = found.tenant_id AND line.id = found.id
RETURNING line.tenant_id, line.id;

-- name: next_reply
-- When the next look is needed.
SELECT next_attempt_at FROM chan.conversation_messages
WHERE status = 'queued' AND claimed_by IS NULL
ORDER BY next_attempt_at LIMIT 1;

-- name: begin_replies
-- From here on it may have been sent: noted before the vendor is called.
UPDATE chan.conversation_messages AS line
SET status = 'sending', next_attempt_at = NULL, attempts = line.attempts + 1, updated_at = :now
FROM chan.conversations AS known
WHERE line.tenant_id = :tenant_id AND line.id = ANY(:ids::text[]) AND line.status = 'queued' AND line.claimed_by = :worker
  AND known.tenant_id = line.tenant_id AND known.id = line.conversation_id
RETURNING line.id, line.conversation_id, line.attempts, line.vendor, line.account_id, line.key_subject, line.text_ciphertext,
          known.channel, known.sender_id, known.key_subject AS address_subject, known.address_ciphertext;

-- name: end_replies
-- What became of them; a worker that was taken for dead writes nothing.
UPDATE chan.conversation_messages AS line
SET status = ended.status, reason = ended.reason, provider_id = ended.provider_id, next_attempt_at = ended.next_at,
    claimed_by = NULL, updated_at = :now
FROM unnest(:ids::text[], :statuses::text[], :reasons::text[], :provider_ids::text[], :next_ats::timestamptz[])
    AS ended (id, status, reason, provider_id, next_at)
WHERE line.tenant_id = :tenant_id AND line.id = ended.id AND line.status = 'sending' AND line.claimed_by = :worker
RETURNING line.id;

-- name: insert_attempts
-- The line of the transcript stands where ladders have their execution: a receipt is kept with the attempt, corrects what it cost,
-- and finds no ladder to wake.
INSERT INTO chan.delivery_attempts (
    tenant_id, id, started_at, terminated_at, cost_micros, step_index, duration_ms, execution_id, channel,
    adapter_config_id, provider, provider_message_id, status, reason, cost_currency
)
SELECT :tenant_id, made.id, made.started_at, :now, made.cost, 1, extract(epoch FROM :now - made.started_at) * 1000,
       made.line_id, made.channel, made.account_id, made.vendor, made.provider_message_id, made.status, made.reason,
       made.currency
FROM unnest(
    :ids::text[], :started_ats::timestamptz[], :line_ids::text[], :channels::text[], :account_ids::text[], :vendors::text[],
    :provider_message_ids::text[], :statuses::text[], :reasons::text[], :micros::bigint[], :currencies::text[]
) AS made (
    id, started_at, line_id, channel, account_id, vendor, provider_message_id, status, reason, cost, currency
);

-- name: free_replies
-- Of the dead. What was only claimed is free again; what was being sent may have been sent, and is never sent again.
UPDATE chan.conversation_messages AS line
SET status = CASE WHEN line.status = 'sending' THEN 'unlearned' ELSE line.status END,
    reason = CASE WHEN line.status = 'sending' THEN 'worker_died' ELSE line.reason END,
    claimed_by = NULL, updated_at = now()
WHERE line.claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = line.claimed_by)
    OR (line.claimed_by = :worker AND line.updated_at < :fresh AND line.id <> ALL (:held::text[]))
);
