-- name: settle
-- What the router says became of them, of whatever tenants, in one trip: only forward, each once, announced and counted.
-- One whose row had to be waited for is not among those returned, as in `move`: ask again.
WITH given AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :statuses::text[], :reasons::text[], :ended_ats::timestamptz[],
        :evidences::text[], :final_channels::text[], :attempt_ids::text[], :unreads::smallint[], :event_ids::text[], :event_envelopes::text[]
    ) AS g (tenant_id, id, created_at, status, reason, ended_at, evidence, final_channel, attempt_id, unread, event_id, event_envelope)
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
        delivering_attempt_id = found.attempt_id,
        version = n.version + 1
    FROM found
    WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
      -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
      AND found.always_null IS NULL
    RETURNING n.tenant_id, n.id, n.recipient_id, n.batch_id, n.status, n.channel, n.category, n.template_key, n.correlation_id, n.is_test,
              found.reason, found.unread, found.event_id, found.event_envelope,
              -- Nearly always empty.
              EXISTS (
                  SELECT FROM notification.early_bounces AS early
                  WHERE early.tenant_id = n.tenant_id AND early.notification_id = n.id
              ) AS came_back
), announced AS (
    -- As `moved_event` writes it: what the row says is not fetched first.
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, tenant_id, 'notification.' || status || '.v1', id,
           '{"notification_id":"' || id || '","recipient_id":"' || recipient_id || '","status":"' || status
               || '","channel":"' || channel || '","category":' || to_json(category) || ',"template_key":' || to_json(template_key)
               || coalesce(',"reason":' || to_json(reason), '') || coalesce(',"correlation_id":' || to_json(correlation_id), '')
               || CASE WHEN is_test THEN ',"is_test":true}' ELSE '}' END,
           event_envelope
    FROM moved
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = moved.status, error_code = moved.reason, unread_answers = moved.unread
    FROM moved
    WHERE moved.batch_id IS NOT NULL AND person.tenant_id = moved.tenant_id AND person.batch_id = moved.batch_id
      AND person.recipient_id = moved.recipient_id
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
    SELECT moved.tenant_id, :day, :stripe, moved.status, moved.channel, moved.category, count(*)
    FROM moved
    GROUP BY moved.tenant_id, moved.status, moved.channel, moved.category
    ORDER BY moved.tenant_id, moved.status, moved.channel, moved.category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT tenant_id, id, came_back FROM moved;
