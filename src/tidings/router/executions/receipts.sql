-- name: apply_receipts
-- Each once. A ladder that is under way gets another version and is due: found by its key in one order, as those who record
-- do it. `late`: the step had been given up, or all was over.
WITH told AS (
    SELECT * FROM unnest(
        :ids::text[], :recorded_ats::timestamptz[], :attempt_ids::text[], :attempt_started_ats::timestamptz[],
        :execution_ids::text[], :statuses::text[], :occurred_ats::timestamptz[], :provider_codes::text[], :reasons::text[],
        :cost_micros::bigint[], :cost_currencies::text[]
    ) AS told (
        id, recorded_at, attempt_id, attempt_started_at, execution_id, status, occurred_at, code, reason, cost, currency
    )
), found AS MATERIALIZED (
    SELECT live.id, live.traceparent
    FROM unnest(:live_ids::text[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT id, traceparent FROM chan.executions_live
        WHERE tenant_id = :tenant_id AND id = wanted.id
        FOR UPDATE
    ) AS live
), fresh AS (
    INSERT INTO chan.delivery_attempt_events (
        tenant_id, id, recorded_at, occurred_at, cost_micros, late, attempt_id, execution_id, status, provider_code,
        reason, cost_currency
    )
    SELECT :tenant_id, told.id, told.recorded_at, told.occurred_at, told.cost,
           (told.execution_id IN (SELECT id FROM found)) IS NOT TRUE OR EXISTS (
               SELECT FROM chan.delivery_attempt_events AS said
               WHERE said.tenant_id = :tenant_id AND said.attempt_id = told.attempt_id AND said.status = 'timed_out'
                 AND said.recorded_at >= told.attempt_started_at - interval '5 minutes'
           ),
           told.attempt_id, told.execution_id, told.status, told.code, told.reason, told.currency
    FROM told
    ON CONFLICT DO NOTHING
    RETURNING id, execution_id
), woken AS (
    UPDATE chan.executions_live AS live
    SET version = live.version + 1,
        receipts = live.receipts + 1,
        due_at = least(live.due_at, :now)
    FROM found
    -- By its key: while we waited for the row it may have moved, and its new place can't be seen from here.
    WHERE live.tenant_id = :tenant_id AND live.id = found.id AND (found.id IN (SELECT execution_id FROM fresh)) IS TRUE
)
SELECT fresh.id, (fresh.execution_id IN (SELECT id FROM found)) IS TRUE AS live, NULL AS traceparent FROM fresh
UNION ALL
-- Beside them, not joined to them: the traces of these. They are not asked for where there is no collector.
SELECT NULL, NULL, found.traceparent FROM found WHERE :traced::boolean AND found.traceparent IS NOT NULL;

-- name: lock_attempts
-- A transaction with another receipt of the same attempt at the same time waits, and then sees ours: nothing is learned twice.
SELECT pg_advisory_xact_lock(hashtextextended(wanted.attempt_id, 7411005)) FROM unnest(:attempt_ids::text[]) AS wanted (attempt_id);

-- name: find_reached
-- The recipients of attempts of executions that are over, over which channel, and whether that was known before.
SELECT made.id AS attempt_id, made.channel, ended.recipient_id, said.arrived_before, said.refused_before
FROM unnest(
    :attempt_ids::text[], :attempt_started_ats::timestamptz[], :execution_ids::text[],
    :execution_started_ats::timestamptz[]
) AS wanted (attempt_id, attempt_started_at, execution_id, execution_started_at)
CROSS JOIN LATERAL (
    SELECT id, channel FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND id = wanted.attempt_id AND started_at = wanted.attempt_started_at
    LIMIT 1
) AS made
CROSS JOIN LATERAL (
    SELECT recipient_id FROM chan.fallback_executions
    WHERE tenant_id = :tenant_id AND id = wanted.execution_id AND started_at = wanted.execution_started_at
    LIMIT 1
) AS ended
CROSS JOIN LATERAL (
    SELECT coalesce(bool_or(status = ANY (:arrived::text[])), false) AS arrived_before,
           coalesce(bool_or(status = ANY (:refused::text[])), false) AS refused_before
    FROM chan.delivery_attempt_events
    WHERE tenant_id = :tenant_id AND attempt_id = wanted.attempt_id AND recorded_at >= wanted.attempt_started_at - interval '5 minutes'
      AND id <> ALL (:ids::text[])
) AS said;
