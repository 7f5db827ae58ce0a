-- name: settle
-- What the router says became of them, of whatever tenants, in one trip: only forward, each once; their attempts go into
-- notify's own log, where those that are told again are there already.
-- One whose row had to be waited for is not among those returned, as in `move`: ask again, without the attempts.
WITH given AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :statuses::text[], :reasons::text[], :ended_ats::timestamptz[],
        :evidences::text[], :final_channels::text[]
    ) AS g (tenant_id, id, created_at, status, reason, ended_at, evidence, final_channel)
), found AS MATERIALIZED (
    SELECT given.*, there.part, there.row, NULL::text AS always_null
    FROM given
    CROSS JOIN LATERAL (
        SELECT n.tableoid AS part, n.ctid AS row FROM notification.notifications AS n
        WHERE n.tenant_id = given.tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.created_at BETWEEN :oldest AND :newest AND n.status IN ('queued', 'scheduled', 'dispatched')
        LIMIT 1
        FOR UPDATE
    ) AS there
), moved AS (
    UPDATE notification.notifications AS n
    SET status = found.status,
        updated_at = :now,
        delivered_at = CASE WHEN found.status = 'delivered' THEN found.ended_at ELSE n.delivered_at END,
        failed_at = CASE WHEN found.status = 'failed' THEN found.ended_at ELSE n.failed_at END,
        suppressed_at = CASE WHEN found.status = 'suppressed' THEN found.ended_at ELSE n.suppressed_at END,
        expired_at = CASE WHEN found.status = 'expired' THEN found.ended_at ELSE n.expired_at END,
        cancelled_at = CASE WHEN found.status = 'cancelled' THEN found.ended_at ELSE n.cancelled_at END,
        suppression_reason = CASE WHEN found.status = 'suppressed' THEN found.reason ELSE n.suppression_reason END,
        failure_reason = CASE WHEN found.status IN ('failed', 'expired', 'cancelled') THEN found.reason ELSE n.failure_reason END,
        delivery_evidence = found.evidence,
        final_channel = found.final_channel,
        version = n.version + 1
    FROM found
    WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
      -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
      AND found.always_null IS NULL
    RETURNING n.tenant_id, n.id, n.recipient_id, n.status, n.channel, n.category, n.template_key, n.correlation_id, n.is_test,
              -- Nearly always empty.
              EXISTS (
                  SELECT FROM notification.early_bounces AS early
                  WHERE early.tenant_id = n.tenant_id AND early.notification_id = n.id
              ) AS came_back
), attempted AS (
    INSERT INTO notification.delivery_attempts
        (tenant_id, id, started_at, finished_at, attempt_number, latency_ms, notification_id, execution_id,
         router_attempt_id, channel, vendor, vendor_message_id, outcome, error_code, http_status, retry_after_ms,
         error_message, raw_response_ref)
    SELECT a.tenant_id, a.id, a.started_at, a.finished_at, a.number, a.latency_ms, a.notification_id, a.execution_id,
           a.router_attempt_id, a.channel, a.vendor, a.vendor_message_id, a.outcome, a.error_code, a.http_status,
           a.retry_after_ms, a.error, a.answer
    FROM unnest(
        :attempt_tenants::text[], :attempt_ids::text[], :attempt_starts::timestamptz[], :attempt_ends::timestamptz[], :attempt_numbers::integer[],
        :attempt_latencies::integer[], :attempt_notifications::text[], :attempt_executions::text[],
        :attempt_router_ids::text[], :attempt_channels::text[], :attempt_vendors::text[], :attempt_messages::text[],
        :attempt_outcomes::text[], :attempt_codes::text[], :attempt_http_statuses::integer[],
        :attempt_retry_afters::integer[], :attempt_errors::text[], :attempt_answers::text[]
    ) AS a (tenant_id, id, started_at, finished_at, number, latency_ms, notification_id, execution_id, router_attempt_id, channel,
            vendor, vendor_message_id, outcome, error_code, http_status, retry_after_ms, error, answer)
    ON CONFLICT DO NOTHING
), counts AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT moved.tenant_id, :day, :stripe, moved.status, moved.channel, moved.category, count(*)
    FROM moved
    GROUP BY moved.tenant_id, moved.status, moved.channel, moved.category
    ORDER BY moved.tenant_id, moved.status, moved.channel, moved.category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT tenant_id, id, recipient_id, status, channel, category, template_key, correlation_id, is_test, came_back FROM moved;
