-- name: look_back
-- Looks at so many ladders, the newest first, and says which of them fit: no filter can make it read more than that, and
-- no row needs an index for a filter. Ids begin with their time, so those under way and those over go in one order.
WITH under_way AS MATERIALIZED (
    SELECT live.id, CAST(:use_case AS text) IS NULL OR live.use_case = :use_case AS fits
    FROM chan.executions_live AS live
    WHERE live.tenant_id = :tenant_id AND live.id >= :since_id AND live.id < :before_id AND live.started_at >= :since
      -- A query for those that are over, or for an outcome, need not look at these at all.
      AND CAST(:over AS boolean) IS NOT TRUE AND CAST(:outcome AS text) IS NULL
    ORDER BY live.id DESC
    LIMIT :most
), over AS MATERIALIZED (
    SELECT done.id,
           (CAST(:outcome AS text) IS NULL OR done.outcome = :outcome)
           AND (CAST(:use_case AS text) IS NULL OR done.use_case = :use_case) AS fits
    FROM chan.fallback_executions AS done
    WHERE done.tenant_id = :tenant_id AND done.started_at >= :since AND done.started_at <= :before_at
      AND (done.started_at, done.id) < (:before_at, CAST(:before_id AS text))
      AND CAST(:over AS boolean) IS NOT FALSE
    ORDER BY done.started_at DESC, done.id DESC
    LIMIT :most
), seen AS (
    SELECT id, fits FROM (SELECT id, fits FROM under_way UNION ALL SELECT id, fits FROM over) AS both_kinds
    ORDER BY id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: find_under_way
-- By id.
SELECT live.id, live.notification_id, live.recipient_id, live.use_case, live.strategy, live.policy_id,
       live.policy_version, live.ladder_snapshot, live.state, live.started_at, live.due_at, live.expires_at,
       live.cost_spent_micros, live.cost_reserved_micros, live.cost_cap_micros, live.cost_currency, live.trace_id
FROM unnest(:ids::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM chan.executions_live WHERE tenant_id = :tenant_id AND id = wanted.id OFFSET 0
) AS live;

-- name: find_over
-- By id: the time inside an id names its month, and the bounds leave all others aside.
SELECT done.id, done.notification_id, done.recipient_id, done.use_case, done.strategy, done.policy_id,
       done.policy_version, done.ladder_snapshot, done.fallback_path, done.started_at, done.terminated_at,
       done.outcome, done.evidence, done.final_channel, done.total_cost_micros, done.cost_currency, done.trace_id
FROM unnest(:ids::text[], :started_ats::timestamptz[]) AS wanted (id, started_at)
CROSS JOIN LATERAL (
    SELECT * FROM chan.fallback_executions
    WHERE tenant_id = :tenant_id AND started_at = wanted.started_at AND id = wanted.id
      AND started_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS done;

-- name: find_attempts
-- All calls and skipped steps of one ladder; none is older than it.
SELECT id, step_index, channel, provider, adapter_config_id, status, reason, meaning, provider_message_id, started_at,
       terminated_at, cost_micros, cost_currency, http_status, retry_after_ms, error_message, raw_payload_ref, sender,
       content_digest
FROM chan.delivery_attempts
WHERE tenant_id = :tenant_id AND execution_id = :execution_id AND started_at >= :since
ORDER BY started_at, step_index, id;

-- name: find_receipts
-- All that was heard of some attempts; none is older than their ladder.
SELECT heard.id, heard.attempt_id, heard.status, heard.recorded_at, heard.occurred_at, heard.late,
       heard.provider_code, heard.reason, heard.cost_micros, heard.cost_currency
FROM unnest(:attempt_ids::text[]) AS wanted (attempt_id)
CROSS JOIN LATERAL (
    SELECT * FROM chan.delivery_attempt_events
    WHERE tenant_id = :tenant_id AND attempt_id = wanted.attempt_id AND recorded_at >= :since
    OFFSET 0
) AS heard
ORDER BY heard.recorded_at, heard.id;
