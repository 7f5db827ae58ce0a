-- name: load_pending
-- One index look-up each; the bounds on the time leave all months aside but those that are asked about, also in a plan that
-- was made for any values.
SELECT mine.id, mine.created_at, mine.retention_class, mine.status, mine.channel, mine.category, mine.use_case, mine.priority, mine.locale,
       mine.recipient_id, mine.template_version_id, mine.template_key, mine.template_semver, mine.template_id,
       mine.template_versions, mine.variables_ciphertext, mine.variables_hash, mine.attachments_ciphertext,
       mine.expires_at, mine.is_test, mine.correlation_id, mine.source_event_id, mine.metadata, mine.decision_trace,
       mine.render_snapshot
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT n.*
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine;

-- name: move
-- What a turn came to, in one trip: claims end, rows move on, deferrals are scheduled, all is announced and counted. Whoever lost its claim,
-- or was cancelled meanwhile, is not among those returned, and nothing was written for it.
WITH given AS (
    SELECT *
    FROM unnest(
        :ids::text[], :created_ats::timestamptz[], :retention_classes::text[], :statuses::text[], :reasons::text[],
        :traces::text[], :locales::text[], :snapshots::text[], :preference_versions::integer[], :untils::timestamptz[],
        :schedule_ids::text[], :kinds::text[], :counted::text[], :event_ids::text[], :event_subjects::text[],
        :event_payloads::text[], :event_envelopes::text[]
    ) AS g (id, created_at, retention_class, status, reason, trace, locale, snapshot, preference_version, until,
            schedule_id, kind, counted, event_id, event_subject, event_payload, event_envelope)
), mine AS (
    DELETE FROM notification.dispatch_queue AS q
    USING given
    WHERE q.tenant_id = :tenant_id AND q.notification_id = given.id AND q.claimed_by IS NOT DISTINCT FROM :worker
    RETURNING given.*
), moved AS (
    UPDATE notification.notifications AS n
    SET status = mine.status,
        updated_at = :now,
        dispatched_at = CASE WHEN mine.status = 'dispatched' THEN :now ELSE n.dispatched_at END,
        suppressed_at = CASE WHEN mine.status = 'suppressed' THEN :now ELSE n.suppressed_at END,
        expired_at = CASE WHEN mine.status = 'expired' THEN :now ELSE n.expired_at END,
        failed_at = CASE WHEN mine.status = 'failed' THEN :now ELSE n.failed_at END,
        cancelled_at = CASE WHEN mine.status = 'cancelled' THEN :now ELSE n.cancelled_at END,
        suppression_reason = CASE WHEN mine.status = 'suppressed' THEN mine.reason ELSE n.suppression_reason END,
        failure_reason = CASE WHEN mine.status IN ('failed', 'expired', 'cancelled') THEN mine.reason ELSE n.failure_reason END,
        decision_trace = mine.trace,
        locale = coalesce(mine.locale, n.locale),
        render_snapshot = coalesce(mine.snapshot, n.render_snapshot),
        preference_version = coalesce(mine.preference_version, n.preference_version),
        version = n.version + 1
    FROM mine
    WHERE n.tenant_id = :tenant_id AND n.created_at = mine.created_at AND n.id = mine.id
      AND n.retention_class = mine.retention_class AND n.created_at BETWEEN :oldest AND :newest
      AND n.status IN ('queued', 'scheduled')
    RETURNING n.id, n.channel, n.category, n.priority, n.source_event_id, n.recipient_id, mine.until, mine.schedule_id,
              mine.kind, mine.counted, mine.event_id, mine.event_subject, mine.event_payload, mine.event_envelope
), deferred AS (
    INSERT INTO notification.notification_scheduled
        (tenant_id, id, kind, priority, source_event_id, notification_id, recipient_id, run_after)
    SELECT :tenant_id, schedule_id, kind, priority, source_event_id, id, recipient_id, until
    FROM moved WHERE until IS NOT NULL
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, :tenant_id, event_subject, id, event_payload, event_envelope FROM moved
), counts AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, counted, channel, category, count(*)
    FROM moved
    GROUP BY counted, channel, category
    ORDER BY counted, channel, category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT id FROM moved;

-- name: mark_copies
-- By its trace a guardian's copy is known: in the transaction that makes it, before anybody can decide about it.
UPDATE notification.notifications AS n
SET decision_trace = :trace
FROM unnest(:ids::text[], :created_ats::timestamptz[], :retention_classes::text[])
    AS given (id, created_at, retention_class)
WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
  AND n.retention_class = given.retention_class AND n.created_at BETWEEN :oldest AND :newest;

-- name: note_step
-- What the gates of a later step said; only while the notification is still under way.
UPDATE notification.notifications AS n
SET decision_trace = given.trace,
    locale = coalesce(given.locale, n.locale),
    render_snapshot = coalesce(given.snapshot, n.render_snapshot),
    updated_at = :now
FROM unnest(
    :ids::text[], :created_ats::timestamptz[], :retention_classes::text[], :traces::text[], :locales::text[],
    :snapshots::text[]
) AS given (id, created_at, retention_class, trace, locale, snapshot)
WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
  AND n.retention_class = given.retention_class AND n.created_at BETWEEN :oldest AND :newest
  AND n.status = 'dispatched';
