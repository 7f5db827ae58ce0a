-- name: begin_executions
-- One row a ladder, in the transaction that hands it over. Those whose first step is ready are in our hands from the start and
-- carry the call that is about to be made. A second ladder for the same notification and recipient falls out.
INSERT INTO chan.executions_live (
    tenant_id, id, started_at, updated_at, expires_at, due_at, cost_cap_micros, cost_reserved_micros, policy_version,
    is_test, notification_id, recipient_id, use_case, priority, strategy, policy_id, ladder_snapshot, state,
    cost_currency, traceparent, trace_id, claimed_by
)
SELECT fresh.tenant_id, fresh.id, :now, :now, fresh.expires_at, coalesce(fresh.due_at, :now), fresh.cap, fresh.reserved, fresh.policy_version,
       fresh.is_test, fresh.notification_id, fresh.recipient_id, fresh.use_case, fresh.priority, fresh.strategy,
       fresh.policy_id, fresh.ladder_snapshot, fresh.state, fresh.currency,
       fresh.traceparent, substr(fresh.traceparent, 4, 32),
       CASE WHEN fresh.claimed THEN :worker::text END
FROM unnest(
    :tenant_ids::text[], :ids::text[], :expires_ats::timestamptz[], :due_ats::timestamptz[], :caps::bigint[], :reserveds::bigint[], :policy_versions::integer[],
    :is_tests::boolean[], :notification_ids::text[], :recipient_ids::text[], :use_cases::text[], :priorities::text[],
    :strategies::text[], :policy_ids::text[], :ladder_snapshots::text[], :states::text[], :currencies::text[],
    :traceparents::text[], :claimeds::boolean[]
) AS fresh (
    tenant_id, id, expires_at, due_at, cap, reserved, policy_version, is_test, notification_id, recipient_id, use_case, priority,
    strategy, policy_id, ladder_snapshot, state, currency, traceparent, claimed
)
ON CONFLICT (tenant_id, notification_id, recipient_id) DO NOTHING
RETURNING id;

-- name: claim_due
-- Across tenants, by ids alone. The most urgent first; among equals tenants take turns, within the oldest that are due, so
-- that one tenant's thousand retries do not stand before another's single one. Rows in another worker's grasp are passed over.
WITH due AS (
    SELECT oldest.tenant_id, oldest.id, oldest.due_at, urgency.place,
           row_number() OVER (PARTITION BY urgency.place, oldest.tenant_id ORDER BY oldest.due_at) AS turn
    FROM unnest(ARRAY['critical', 'high', 'normal', 'low']) WITH ORDINALITY AS urgency (priority, place)
    CROSS JOIN LATERAL (
        SELECT tenant_id, id, due_at FROM chan.executions_live
        WHERE claimed_by IS NULL AND priority = urgency.priority AND due_at <= :now
        ORDER BY due_at LIMIT :window
    ) AS oldest
), chosen AS MATERIALIZED (
    SELECT tenant_id, id FROM due ORDER BY place, turn, due_at LIMIT :limit
), found AS MATERIALIZED (
    SELECT live.tenant_id, live.id, live.claimed_by
    FROM chosen
    CROSS JOIN LATERAL (
        SELECT tenant_id, id, claimed_by FROM chan.executions_live
        WHERE tenant_id = chosen.tenant_id AND id = chosen.id AND claimed_by IS NULL
        FOR UPDATE SKIP LOCKED
    ) AS live
)
UPDATE chan.executions_live AS live
SET claimed_by = :worker
FROM found
-- `claimed_by IS NULL` is a selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
WHERE live.tenant_id = found.tenant_id AND live.id = found.id AND found.claimed_by IS NULL
RETURNING live.tenant_id, live.id;

-- name: next_due
-- When the next look is needed: the first of each urgency, from the index alone.
SELECT min(first.due_at) AS due_at
FROM unnest(ARRAY['critical', 'high', 'normal', 'low']) AS urgency (priority)
CROSS JOIN LATERAL (
    SELECT due_at FROM chan.executions_live
    WHERE claimed_by IS NULL AND priority = urgency.priority
    ORDER BY due_at LIMIT 1
) AS first;

-- name: load_claimed
-- What a claim is about; only what is still in our hands.
SELECT live.tenant_id, live.id, live.notification_id, live.recipient_id, live.use_case, live.priority, live.expires_at, live.strategy,
       live.is_test, live.ladder_snapshot, live.state, live.version, live.receipts, live.cost_cap_micros,
       live.cost_reserved_micros, live.cost_spent_micros, live.cost_currency, live.traceparent, live.due_at
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT * FROM chan.executions_live
    WHERE tenant_id = wanted.tenant_id AND id = wanted.id AND claimed_by = :worker
    OFFSET 0
) AS live
ORDER BY live.due_at;

-- name: find_states
-- Where some executions stand; those that are over are left out.
SELECT live.id, live.state
FROM unnest(:ids::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT id, state FROM chan.executions_live
    WHERE tenant_id = :tenant_id AND id = wanted.id
    OFFSET 0
) AS live;

-- name: find_receipts
-- What vendors have said about some attempts since, in the order in which it came.
SELECT heard.id, heard.attempt_id, heard.status, heard.reason, heard.provider_code, heard.occurred_at,
       heard.recorded_at, heard.late, heard.cost_micros, heard.cost_currency
FROM unnest(:tenant_ids::text[], :attempt_ids::text[], :started_ats::timestamptz[]) AS wanted (tenant_id, attempt_id, started_at)
CROSS JOIN LATERAL (
    SELECT * FROM chan.delivery_attempt_events
    -- The clocks of two processes differ a little.
    WHERE tenant_id = wanted.tenant_id AND attempt_id = wanted.attempt_id
      AND recorded_at >= wanted.started_at - interval '5 minutes'
    OFFSET 0
) AS heard
ORDER BY heard.recorded_at, heard.id;

-- name: record_transitions
-- One statement a set, of whatever tenants, all or nothing, under an optimistic lock: a worker that lost the claim, or fails the version check, writes nothing: no
-- attempt, no end, no event. The event goes out only if this is the first outcome, with the group that applies it in this transaction.
WITH told AS (
    SELECT * FROM unnest(
        :tenant_ids::text[], :ids::text[], :versions::integer[], :keeps::boolean[], :reserveds::bigint[], :spents::bigint[],
        :currencies::text[], :states::text[], :due_ats::timestamptz[], :waits::text[],
        :results::text[], :evidences::text[], :final_channels::text[], :paths::text[],
        :event_ids::text[], :payloads::text[], :envelopes::text[], :applied_bys::text[]
    ) AS told (
        tenant_id, id, read_version, keep, reserved, spent,
        currency, state, due_at, waits_for,
        result, evidence, final_channel, path,
        event_id, payload, envelope, applied_by
    )
), found AS MATERIALIZED (
    -- Each by its key and locked, whatever the planner thinks of the table's size; no other transaction changes them from here on.
    SELECT told.*, live.*
    FROM told
    CROSS JOIN LATERAL (
        SELECT ctid AS place, started_at, policy_version, notification_id, recipient_id, use_case, strategy, policy_id,
               ladder_snapshot, cost_currency, trace_id
        FROM chan.executions_live
        WHERE tenant_id = told.tenant_id AND id = told.id AND claimed_by = :worker AND version = told.read_version
        FOR UPDATE
    ) AS live
), over AS (
    DELETE FROM chan.executions_live
    WHERE ctid = ANY (ARRAY(SELECT place FROM found WHERE result IS NOT NULL))
), goes_on AS (
    UPDATE chan.executions_live AS live
    SET state = found.state,
        due_at = found.due_at,
        waits_for = found.waits_for,
        cost_reserved_micros = found.reserved,
        cost_spent_micros = found.spent,
        cost_currency = coalesce(live.cost_currency, found.currency),
        claimed_by = CASE WHEN found.keep THEN live.claimed_by END,
        updated_at = :now,
        version = live.version + 1
    FROM found
    WHERE live.ctid = found.place AND found.result IS NULL
), history AS (
    INSERT INTO chan.fallback_executions (
        tenant_id, id, started_at, terminated_at, total_cost_micros, policy_version, notification_id, recipient_id,
        use_case, strategy, policy_id, ladder_snapshot, final_channel, outcome, evidence, cost_currency,
        fallback_path, trace_id
    )
    SELECT tenant_id, id, started_at, :now, spent, policy_version, notification_id, recipient_id,
           use_case, strategy, policy_id, ladder_snapshot, final_channel, result, evidence,
           coalesce(cost_currency, currency), path, trace_id
    FROM found WHERE result IS NOT NULL
), attempts AS (
    INSERT INTO chan.delivery_attempts (
        tenant_id, id, started_at, terminated_at, cost_micros, step_index, duration_ms, execution_id, channel,
        adapter_config_id, provider, provider_message_id, status, reason, meaning, cost_currency,
        http_status, retry_after_ms, error_message, raw_payload_ref, address_hash, address_ciphertext, sender, content_digest
    )
    SELECT made.tenant_id, made.id, made.started_at, :now, made.cost, made.step,
           extract(epoch FROM :now - made.started_at) * 1000, made.execution_id, made.channel,
           made.account_id, made.vendor, made.provider_message_id, made.status, made.reason, made.meaning,
           made.cost_currency, made.http_status, made.retry_after_ms, made.error, made.answer_ref,
           made.address_hash, made.address, made.sender, made.digest
    FROM unnest(
        :attempt_tenants::text[], :attempt_executions::text[], :attempt_ids::text[], :attempt_started_ats::timestamptz[], :attempt_steps::integer[],
        :channels::text[], :account_ids::text[], :vendors::text[], :provider_message_ids::text[], :statuses::text[],
        :reasons::text[], :meanings::text[], :costs::bigint[], :cost_currencies::text[], :http_statuses::integer[],
        :retry_afters::integer[], :errors::text[], :answer_refs::text[], :address_hashes::text[], :addresses::bytea[],
        :senders::text[], :digests::text[]
    ) AS made (
        tenant_id, execution_id, id, started_at, step, channel, account_id, vendor, provider_message_id, status, reason, meaning,
        cost, cost_currency, http_status, retry_after_ms, error, answer_ref, address_hash, address, sender, digest
    )
    -- A join would be planned for one row and take the square of the set; this looks each up in a hash.
    WHERE (made.execution_id IN (SELECT id FROM found)) IS TRUE
), proven AS (
    INSERT INTO chan.delivery_outbox (tenant_id, notification_id, recipient_id, event_id, execution_id)
    SELECT tenant_id, notification_id, recipient_id, event_id, id FROM found WHERE result IS NOT NULL
    ON CONFLICT (tenant_id, notification_id, recipient_id) DO NOTHING
    RETURNING event_id
), announced AS (
    INSERT INTO chan.outbox (id, tenant_id, subject, ordering_key, payload, envelope, applied_by)
    SELECT event_id, tenant_id, :subject, notification_id, payload, envelope, applied_by
    FROM found
    WHERE (event_id IN (SELECT event_id FROM proven)) IS TRUE
)
SELECT id, (event_id IN (SELECT event_id FROM proven)) IS TRUE AS is_first_outcome FROM found;

-- name: note_clock_events
-- What our own clock says about attempts: that their receipt did not come in time, or that they were called off.
INSERT INTO chan.delivery_attempt_events (tenant_id, id, recorded_at, attempt_id, execution_id, status, reason)
SELECT told.tenant_id, told.id, told.recorded_at, told.attempt_id, told.execution_id, told.status, told.reason
FROM unnest(
    :tenant_ids::text[], :ids::text[], :recorded_ats::timestamptz[], :attempt_ids::text[], :execution_ids::text[], :statuses::text[],
    :reasons::text[]
) AS told (tenant_id, id, recorded_at, attempt_id, execution_id, status, reason)
ON CONFLICT DO NOTHING;

-- name: release_claims
-- Give back what could not be dealt with, for another look later. A call that was under way stays noted.
UPDATE chan.executions_live AS live
SET claimed_by = NULL, due_at = :due_at
FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
WHERE live.tenant_id = given.tenant_id AND live.id = given.id AND live.claimed_by = :worker;

-- name: wake_waiting
-- Those that wait for a circuit are looked at again, over a while: which account's circuit it is, each finds out by itself.
UPDATE chan.executions_live
SET due_at = :now::timestamptz + :spread::interval * random()
WHERE waits_for = :waits_for AND claimed_by IS NULL AND due_at > :now::timestamptz + :spread::interval;

-- name: free_orphans
-- Rare, so it reads the whole table rather than that every ladder pays for an index. What was under way stays noted in the
-- row. Also what is in our hands by name only, because the answer to a commit was lost; what is fresh may be on its way to us.
UPDATE chan.executions_live AS live
SET claimed_by = NULL, due_at = now()
WHERE live.claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = live.claimed_by)
    OR (live.claimed_by = :worker AND live.updated_at < :fresh AND live.id <> ALL (:held::text[]))
);

-- name: find_live
-- Ladders under way of some notifications.
SELECT live.id, live.notification_id, live.recipient_id, live.strategy, live.ladder_snapshot, live.policy_id,
       live.policy_version, live.started_at, live.due_at, live.state, live.use_case, live.cost_cap_micros,
       live.cost_reserved_micros, live.cost_spent_micros, live.cost_currency
FROM unnest(:notification_ids::text[]) AS wanted (notification_id)
CROSS JOIN LATERAL (
    SELECT * FROM chan.executions_live
    WHERE tenant_id = :tenant_id AND notification_id = wanted.notification_id
    OFFSET 0
) AS live;

-- name: find_ended
-- A ladder is never older than its notification, so that earlier months are passed over.
SELECT ended.id, ended.notification_id, ended.recipient_id, ended.strategy, ended.ladder_snapshot, ended.policy_id,
       ended.policy_version, ended.started_at, ended.terminated_at, ended.outcome, ended.evidence, ended.final_channel,
       ended.use_case, ended.total_cost_micros, ended.cost_currency, ended.fallback_path
FROM unnest(:notification_ids::text[], :created_ats::timestamptz[]) AS wanted (notification_id, created_at)
CROSS JOIN LATERAL (
    SELECT * FROM chan.fallback_executions
    WHERE tenant_id = :tenant_id AND notification_id = wanted.notification_id AND started_at >= wanted.created_at
    OFFSET 0
) AS ended;

-- name: find_attempts
-- All calls and skipped steps of some ladders, within the time that each had.
SELECT made.id, made.execution_id, made.step_index, made.channel, made.provider, made.status, made.reason, made.meaning,
       made.provider_message_id, made.started_at, made.terminated_at, made.cost_micros, made.cost_currency,
       made.adapter_config_id, made.http_status, made.retry_after_ms, made.error_message, made.raw_payload_ref,
       made.address_hash, made.address_ciphertext, made.sender, made.content_digest
FROM unnest(:execution_ids::text[], :started_ats::timestamptz[], :ended_ats::timestamptz[])
    AS wanted (execution_id, started_at, ended_at)
CROSS JOIN LATERAL (
    SELECT * FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND execution_id = wanted.execution_id
      AND started_at BETWEEN wanted.started_at AND wanted.ended_at
    OFFSET 0
) AS made
ORDER BY made.started_at, made.step_index, made.id;

-- name: sweep_delivery_outbox
-- The proof outlives every replay; after that it only takes room. The oldest first, about so many at a time.
DELETE FROM chan.delivery_outbox
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (SELECT expires_at FROM chan.delivery_outbox WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
);

-- name: sweep_delivery_inbox
-- Likewise for requests that were taken.
DELETE FROM chan.delivery_inbox
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (SELECT expires_at FROM chan.delivery_inbox WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
);
