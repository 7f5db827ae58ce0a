-- name: load_pending
-- Notifications with their recipients, as `load_people` reads those: what they chose, their addresses on the channels that the notification may
-- take, and the versions of their keys, all of one snapshot, so that a key which is rotated meanwhile is seen together with what
-- it opens. One index look-up each; the bounds on the time leave all months aside but those that are asked about, also in a plan
-- that was made for any values.
SELECT mine.tenant_id, mine.id, mine.created_at, mine.retention_class, mine.status, mine.channel, mine.category, mine.use_case, mine.priority, mine.locale,
       mine.recipient_id, mine.template_version_id, mine.template_key, mine.template_semver, mine.template_id,
       mine.template_versions, mine.variables_ciphertext, mine.variables_hash, mine.attachments_ciphertext,
       mine.expires_at, mine.is_test, mine.correlation_id, mine.source_event_id, mine.metadata, mine.decision_trace,
       mine.render_snapshot, mine.pinned, mine.body_ref, mine.traceparent, mine.digest_key, mine.batch_id,
       who.primary_locale, who.primary_timezone, who.erased_at, who.display_name_ciphertext,
       chose.id AS preferences_id, chose.locale AS chosen_locale, chose.timezone AS chosen_timezone, chose.channels AS chosen_channels,
       chose.quiet_hours, chose.digest_schedule, chose.marketing_consent, chose.guardian_routing, chose.global_unsubscribed_at,
       chose.version AS preferences_version,
       ARRAY(
           SELECT ROW(a.id, a.channel, a.address_hash, a.address_ciphertext, a.is_primary)
           FROM notification.recipient_addresses AS a
           WHERE a.tenant_id = wanted.tenant_id AND a.recipient_id = mine.recipient_id
             AND (a.channel = mine.channel OR mine.channel = 'auto')
           ORDER BY a.is_primary DESC, a.id
       ) AS addresses,
       ARRAY(
           SELECT ROW(k.version, k.wrapped_key, k.tenant_key_version)
           FROM kernel.data_keys AS k
           WHERE k.tenant_id = wanted.tenant_id AND k.subject_id = mine.recipient_id
       ) AS keys
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS wanted (tenant_id, id, created_at)
CROSS JOIN LATERAL (
    SELECT n.*
    FROM notification.notifications AS n
    WHERE n.tenant_id = wanted.tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine
LEFT JOIN LATERAL (
    SELECT r.primary_locale, r.primary_timezone, r.erased_at, r.display_name_ciphertext
    FROM notification.recipients AS r
    WHERE r.tenant_id = wanted.tenant_id AND r.id = mine.recipient_id
    OFFSET 0
) AS who ON true
LEFT JOIN LATERAL (
    SELECT p.id, p.locale, p.timezone, p.channels, p.quiet_hours, p.digest_schedule, p.marketing_consent,
           p.guardian_routing, p.global_unsubscribed_at, p.version
    FROM notification.notification_preferences AS p
    WHERE p.tenant_id = wanted.tenant_id AND p.recipient_id = mine.recipient_id
    OFFSET 0
) AS chose ON true;

-- name: move
-- What a turn came to, in one trip: claims end, rows move on, deferrals are scheduled, all is announced and counted. A notification that lost its claim,
-- or was cancelled meanwhile, is not among those returned, and nothing was written for it. Nor is one whose row had to be waited for:
-- the lock is on its new version, and at that place a statement that began before it sees nothing. It is still in the queue, no other
-- worker can change it now, and the next statement moves it: `store.move` asks twice where some are missing.
WITH given AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :retention_classes::text[], :statuses::text[], :reasons::text[],
        :traces::text[], :locales::text[], :snapshots::text[], :address_hashes::text[], :addresses::bytea[], :senders::text[],
        :body_refs::text[], :preference_versions::integer[], :untils::timestamptz[],
        :schedule_ids::text[], :kinds::text[], :window_ids::text[], :counted::text[], :event_ids::text[], :event_subjects::text[],
        :event_payloads::text[], :event_envelopes::text[]
    ) AS g (tenant_id, id, created_at, retention_class, status, reason, trace, locale, snapshot, address_hash, address, sender,
            body_ref, preference_version, until,
            schedule_id, kind, window_id, counted, event_id, event_subject, event_payload, event_envelope)
), mine AS MATERIALIZED (
    -- Each by its key and locked, whatever the planner thinks of the length of a queue.
    SELECT given.*, held.place
    FROM given
    CROSS JOIN LATERAL (
        SELECT q.ctid AS place FROM notification.dispatch_queue AS q
        WHERE q.tenant_id = given.tenant_id AND q.notification_id = given.id AND q.claimed_by IS NOT DISTINCT FROM :worker
        FOR UPDATE
    ) AS held
), found AS MATERIALIZED (
    SELECT mine.*, there.part, there.row, NULL::text AS always_null
    FROM mine
    CROSS JOIN LATERAL (
        SELECT n.tableoid AS part, n.ctid AS row FROM notification.notifications AS n
        WHERE n.tenant_id = mine.tenant_id AND n.created_at = mine.created_at AND n.id = mine.id
          AND n.retention_class = mine.retention_class AND n.created_at BETWEEN :oldest AND :newest
          AND n.status IN ('queued', 'scheduled')
        LIMIT 1
        FOR UPDATE
    ) AS there
), moved AS (
    UPDATE notification.notifications AS n
    SET status = found.status,
        updated_at = :now,
        dispatched_at = CASE WHEN found.status = 'dispatched' THEN :now ELSE n.dispatched_at END,
        suppressed_at = CASE WHEN found.status = 'suppressed' THEN :now ELSE n.suppressed_at END,
        expired_at = CASE WHEN found.status = 'expired' THEN :now ELSE n.expired_at END,
        failed_at = CASE WHEN found.status = 'failed' THEN :now ELSE n.failed_at END,
        cancelled_at = CASE WHEN found.status = 'cancelled' THEN :now ELSE n.cancelled_at END,
        suppression_reason = CASE WHEN found.status = 'suppressed' THEN found.reason ELSE n.suppression_reason END,
        failure_reason = CASE WHEN found.status IN ('failed', 'expired', 'cancelled') THEN found.reason ELSE n.failure_reason END,
        decision_trace = found.trace,
        locale = coalesce(found.locale, n.locale),
        render_snapshot = coalesce(found.snapshot, n.render_snapshot),
        -- Of one message together: a step without an address leaves none of another's behind.
        address_hash = CASE WHEN found.sender IS NULL THEN n.address_hash ELSE found.address_hash END,
        address_ciphertext = CASE WHEN found.sender IS NULL THEN n.address_ciphertext ELSE found.address END,
        sender = coalesce(found.sender, n.sender),
        body_ref = coalesce(found.body_ref, n.body_ref),
        digest_group_id = coalesce(found.window_id, n.digest_group_id),
        preference_version = coalesce(found.preference_version, n.preference_version),
        -- Accepted while its recipient was being erased: the caller's words go as those of the others went.
        metadata = CASE WHEN found.reason = 'recipient_erased' THEN NULL ELSE n.metadata END,
        correlation_id = CASE WHEN found.reason = 'recipient_erased' THEN NULL ELSE n.correlation_id END,
        digest_key = CASE WHEN found.reason = 'recipient_erased' THEN NULL ELSE n.digest_key END,
        version = n.version + 1
    FROM found
    WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
      -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
      AND found.always_null IS NULL
    RETURNING n.tenant_id, n.id, n.channel, n.category, n.priority, n.source_event_id, n.recipient_id, n.batch_id, n.status, found.reason, found.place, found.until,
              found.schedule_id, found.kind, found.counted, found.event_id, found.event_subject, found.event_payload, found.event_envelope
), taken AS (
    -- What was not moved stays; so does a place that had to be waited for itself, until `leave_queue` finds it.
    DELETE FROM notification.dispatch_queue AS q USING moved WHERE q.ctid = moved.place
), deferred AS (
    INSERT INTO notification.notification_scheduled
        (tenant_id, id, kind, priority, source_event_id, notification_id, recipient_id, run_after)
    SELECT tenant_id, schedule_id, kind, priority, source_event_id, id, recipient_id, until
    FROM moved WHERE schedule_id IS NOT NULL
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, tenant_id, event_subject, id, event_payload, event_envelope FROM moved
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = CASE moved.status WHEN 'dispatched' THEN 'sent' ELSE moved.status END, error_code = moved.reason
    FROM moved
    WHERE moved.batch_id IS NOT NULL AND moved.status <> 'scheduled' AND person.tenant_id = moved.tenant_id AND person.batch_id = moved.batch_id
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
    SELECT tenant_id, :day, :stripe, counted, channel, category, count(*)
    FROM moved
    GROUP BY tenant_id, counted, channel, category
    ORDER BY tenant_id, counted, channel, category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT tenant_id, id FROM moved;

-- name: leave_queue
-- What is claimed and still could not be moved is over already: there is nothing in the queue for it to wait for.
DELETE FROM notification.dispatch_queue AS q
USING unnest(:tenant_ids::text[], :ids::text[]) AS over (tenant_id, id)
WHERE q.tenant_id = over.tenant_id AND q.notification_id = over.id AND q.claimed_by IS NOT DISTINCT FROM :worker;

-- name: mark_copies
-- By its trace a guardian's copy is known: in the transaction that makes it, before a worker can decide about it. No other
-- transaction sees them yet, so none has to be waited for.
WITH found AS MATERIALIZED (
    SELECT there.part, there.row, NULL::text AS always_null
    FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :retention_classes::text[])
        AS given (tenant_id, id, created_at, retention_class)
    CROSS JOIN LATERAL (
        SELECT n.tableoid AS part, n.ctid AS row FROM notification.notifications AS n
        WHERE n.tenant_id = given.tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.retention_class = given.retention_class AND n.created_at BETWEEN :oldest AND :newest
        LIMIT 1
        FOR UPDATE
    ) AS there
)
UPDATE notification.notifications AS n
SET decision_trace = :trace
FROM found
WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
  -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
  AND found.always_null IS NULL;

-- name: note_step
-- What the gates of a later step said; only while the notification is still under way. One that had to be waited for is missing in
-- the count, as in `move`: ask again.
WITH found AS MATERIALIZED (
    SELECT given.trace, given.locale, given.snapshot, given.address_hash, given.address, given.sender, given.body_ref, there.part,
           there.row, NULL::text AS always_null
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :retention_classes::text[], :traces::text[], :locales::text[],
        :snapshots::text[], :address_hashes::text[], :addresses::bytea[], :senders::text[], :body_refs::text[]
    ) AS given (tenant_id, id, created_at, retention_class, trace, locale, snapshot, address_hash, address, sender, body_ref)
    CROSS JOIN LATERAL (
        SELECT n.tableoid AS part, n.ctid AS row FROM notification.notifications AS n
        WHERE n.tenant_id = given.tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.retention_class = given.retention_class AND n.created_at BETWEEN :oldest AND :newest
          AND n.status = 'dispatched'
        LIMIT 1
        FOR UPDATE
    ) AS there
)
UPDATE notification.notifications AS n
SET decision_trace = found.trace,
    locale = coalesce(found.locale, n.locale),
    render_snapshot = coalesce(found.snapshot, n.render_snapshot),
    address_hash = CASE WHEN found.sender IS NULL THEN n.address_hash ELSE found.address_hash END,
    address_ciphertext = CASE WHEN found.sender IS NULL THEN n.address_ciphertext ELSE found.address END,
    sender = coalesce(found.sender, n.sender),
    body_ref = coalesce(found.body_ref, n.body_ref),
    updated_at = :now
FROM found
WHERE n.tableoid = found.part AND n.ctid = found.row AND n.created_at BETWEEN :oldest AND :newest
  -- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
  AND found.always_null IS NULL;
