-- name: forget_bodies
-- Their ladders, under way and over, by notification. Counted are the requests whose events stand with them by now: each found
-- by its attempt, and by the event's own key.
WITH theirs AS MATERIALIZED (
    SELECT live.id, live.started_at
    FROM unnest(:notification_ids::text[]) AS wanted (notification_id)
    CROSS JOIN LATERAL (
        SELECT id, started_at FROM chan.executions_live
        WHERE tenant_id = :tenant_id AND notification_id = wanted.notification_id
        OFFSET 0
    ) AS live
    UNION
    SELECT ended.id, ended.started_at
    FROM unnest(:notification_ids::text[]) AS wanted (notification_id)
    CROSS JOIN LATERAL (
        SELECT id, started_at FROM chan.fallback_executions
        WHERE tenant_id = :tenant_id AND notification_id = wanted.notification_id AND terminated_at > :since
        OFFSET 0
    ) AS ended
), ordered AS (
    INSERT INTO chan.erased_executions (tenant_id, execution_id, erased_at)
    SELECT :tenant_id, id, :now::timestamptz FROM theirs ORDER BY id
    ON CONFLICT DO NOTHING
)
SELECT count(DISTINCT event.webhook_inbound_id)::integer
FROM theirs
CROSS JOIN LATERAL (
    SELECT id, started_at FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND execution_id = theirs.id AND started_at >= theirs.started_at - interval '5 minutes'
    OFFSET 0
) AS attempt
CROSS JOIN LATERAL (
    SELECT id, recorded_at FROM chan.delivery_attempt_events
    WHERE tenant_id = :tenant_id AND attempt_id = attempt.id AND recorded_at >= attempt.started_at - interval '5 minutes'
    OFFSET 0
) AS said
CROSS JOIN LATERAL (
    SELECT webhook_inbound_id FROM chan.webhook_inbound_events
    WHERE received_at = said.recorded_at AND id = said.id
    OFFSET 0
) AS event;

-- name: destroy_bodies
-- What was ever told about the calls of these ladders, by the ledger of known events: also what was not looked at yet. The key
-- of a body goes as soon as one of those it is about is erased. Ids that a vendor gave twice are told apart by the attempt.
WITH mine AS MATERIALIZED (
    SELECT tenant_id, execution_id FROM chan.erased_executions
    WHERE pending
    ORDER BY erased_at LIMIT :limit
    FOR UPDATE SKIP LOCKED
), bodies AS MATERIALIZED (
    SELECT DISTINCT event.webhook_inbound_id AS id, event.received_at
    FROM mine
    CROSS JOIN LATERAL (
        SELECT id, started_at, provider, adapter_config_id, provider_message_id FROM chan.delivery_attempts
        WHERE tenant_id = mine.tenant_id AND execution_id = mine.execution_id
        OFFSET 0
    ) AS attempt
    CROSS JOIN LATERAL (
        SELECT event_id, received_at FROM chan.webhook_inbound_dedup
        WHERE vendor = attempt.provider AND adapter = attempt.adapter_config_id
          AND vendor_message_id IN (attempt.provider_message_id, attempt.id)
          AND received_at >= attempt.started_at - interval '5 minutes'
        OFFSET 0
    ) AS told
    CROSS JOIN LATERAL (
        SELECT webhook_inbound_id, received_at FROM chan.webhook_inbound_events
        WHERE received_at = told.received_at AND id = told.event_id
          AND (attempt_id IS NULL OR attempt_id = attempt.id)
        OFFSET 0
    ) AS event
), gone AS (
    UPDATE chan.webhook_inbound AS request
    SET body_key = NULL, updated_at = :now::timestamptz
    FROM bodies
    WHERE request.received_at = bodies.received_at AND request.id = bodies.id
), done AS (
    UPDATE chan.erased_executions AS erased SET pending = false
    FROM mine
    WHERE erased.tenant_id = mine.tenant_id AND erased.execution_id = mine.execution_id
)
SELECT count(*)::integer FROM mine;

-- name: sweep_orders
-- A chunk of those whose calls are too old to be looked for.
WITH over AS (
    SELECT tenant_id, execution_id FROM chan.erased_executions
    WHERE erased_at < :before AND NOT pending
    ORDER BY erased_at LIMIT :limit
)
DELETE FROM chan.erased_executions AS erased
USING over
WHERE erased.tenant_id = over.tenant_id AND erased.execution_id = over.execution_id;
