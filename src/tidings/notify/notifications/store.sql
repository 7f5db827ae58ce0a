-- name: find_notifications
-- By id: the time inside an id names its month. The bounds leave all other months aside, also in a plan that was made
-- for any values.
SELECT mine.id, mine.recipient_id, mine.status, mine.channel, mine.final_channel, mine.category, mine.use_case,
       mine.priority, mine.locale, mine.template_key,
       coalesce(went.semver, mine.template_semver) AS template_semver,
       coalesce(went.id, mine.template_version_id) AS template_version_id,
       mine.preference_version, mine.scheduled_for, mine.expires_at, mine.queued_at, mine.dispatched_at,
       mine.delivered_at, mine.failed_at, mine.bounced_at, mine.suppressed_at, mine.superseded_at, mine.cancelled_at,
       mine.expired_at, mine.opened_at, mine.clicked_at, mine.read_at, mine.suppression_reason, mine.failure_reason,
       mine.delivery_evidence, mine.decision_trace, mine.render_snapshot, mine.correlation_id, mine.source_event_id,
       mine.source_event_type, mine.source_event_produced_at,
       mine.is_test, mine.metadata, mine.resent_from, mine.updated_at, mine.address_ciphertext, mine.sender, mine.body_ref, mine.traceparent,
       mine.digest_group_id, mine.batch_id
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT n.id, n.recipient_id, n.status, n.channel, n.final_channel, n.category, n.use_case, n.priority, n.locale,
           n.template_key, n.template_semver, n.template_version_id, n.template_versions, n.preference_version, n.scheduled_for,
           n.expires_at, n.queued_at, n.dispatched_at, n.delivered_at, n.failed_at, n.bounced_at, n.suppressed_at,
           n.superseded_at, n.cancelled_at, n.expired_at, n.opened_at, n.clicked_at, n.read_at,
           n.suppression_reason, n.failure_reason, n.delivery_evidence, n.decision_trace, n.render_snapshot,
           n.correlation_id, n.source_event_id, n.source_event_type, n.source_event_produced_at, n.is_test, n.metadata,
           n.resent_from, n.updated_at, n.address_ciphertext, n.sender, n.body_ref,
           n.traceparent, n.digest_group_id, n.batch_id
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine
LEFT JOIN LATERAL (
    -- Channels of one key have versions of their own: shown is that of the channel which it went by.
    SELECT v.id, v.semver FROM notification.template_versions AS v
    WHERE v.tenant_id = :tenant_id AND v.id = CAST(mine.template_versions AS jsonb) ->> mine.final_channel
    UNION ALL
    SELECT v.id, v.semver FROM notification_platform.template_versions AS v
    WHERE v.id = CAST(mine.template_versions AS jsonb) ->> mine.final_channel
    LIMIT 1
) AS went ON CAST(mine.template_versions AS jsonb) ->> mine.final_channel <> mine.template_version_id;

-- name: look_back
-- Looks at so many rows, the newest first, and says which of them fit: no filter can make it read more than that, and
-- no row needs an index for a filter. The bounds on created_at leave whole months out.
WITH seen AS MATERIALIZED (
    SELECT n.id,
           (CAST(:status AS text) IS NULL OR n.status = :status)
           AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
           AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
           AND (CAST(:category AS text) IS NULL OR n.category = :category)
           AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
           AND (CAST(:batch_id AS text) IS NULL OR n.batch_id = :batch_id)
           AND (CAST(:correlation_id AS text) IS NULL OR n.correlation_id = :correlation_id) AS fits
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at >= :since AND n.created_at <= :before_at
      AND (n.created_at, n.id) < (:before_at, CAST(:before_id AS text))
    ORDER BY n.created_at DESC, n.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_recipient
-- The same among one recipient's. Said as a range and put first in the order, because only ix_notifications_recipient has
-- that order: told that they are equal, and knowing nothing of a new month, the planner would walk through the rows of all recipients.
WITH seen AS MATERIALIZED (
    SELECT n.id,
           (CAST(:status AS text) IS NULL OR n.status = :status)
           AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
           AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
           AND (CAST(:category AS text) IS NULL OR n.category = :category)
           AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
           AND (CAST(:batch_id AS text) IS NULL OR n.batch_id = :batch_id)
           AND (CAST(:correlation_id AS text) IS NULL OR n.correlation_id = :correlation_id) AS fits
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.recipient_id >= :recipient_id AND n.recipient_id <= :recipient_id
      AND n.created_at >= :since AND n.created_at <= :before_at
      AND (n.created_at, n.id) < (:before_at, CAST(:before_id AS text))
    ORDER BY n.recipient_id, n.created_at DESC, n.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_recipients
-- The same among several recipients': those who have one address. Each by its own index scan, never more than asked for.
WITH seen AS MATERIALIZED (
    SELECT theirs.id, theirs.fits
    FROM unnest(:recipient_ids::text[]) AS wanted (recipient_id)
    CROSS JOIN LATERAL (
        SELECT n.id,
               (CAST(:status AS text) IS NULL OR n.status = :status)
               AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
               AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
               AND (CAST(:category AS text) IS NULL OR n.category = :category)
               AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
               AND (CAST(:batch_id AS text) IS NULL OR n.batch_id = :batch_id)
               AND (CAST(:correlation_id AS text) IS NULL OR n.correlation_id = :correlation_id) AS fits
        FROM notification.notifications AS n
        WHERE n.tenant_id = :tenant_id AND n.recipient_id >= wanted.recipient_id
          AND n.recipient_id <= wanted.recipient_id
          AND n.created_at >= :since AND n.created_at <= :before_at
          AND (n.created_at, n.id) < (:before_at, CAST(:before_id AS text))
        ORDER BY n.recipient_id, n.created_at DESC, n.id DESC
        LIMIT :most
    ) AS theirs
    ORDER BY theirs.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_correlation
-- The same among those with one correlation id, by ix_notifications_correlated; a range for the same reason.
WITH seen AS MATERIALIZED (
    SELECT n.id,
           (CAST(:status AS text) IS NULL OR n.status = :status)
           AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
           AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
           AND (CAST(:category AS text) IS NULL OR n.category = :category)
           AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
           AND (CAST(:batch_id AS text) IS NULL OR n.batch_id = :batch_id)
           AND (CAST(:recipient_ids AS text[]) IS NULL OR n.recipient_id = ANY(CAST(:recipient_ids AS text[]))) AS fits
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.correlation_id IS NOT NULL
      AND n.correlation_id >= :correlation_id AND n.correlation_id <= :correlation_id
      AND n.created_at >= :since AND n.created_at <= :before_at
      AND (n.created_at, n.id) < (:before_at, CAST(:before_id AS text))
    ORDER BY n.correlation_id, n.created_at DESC, n.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_batch
-- The same among those of one batch, by ix_notifications_in_batch; a range for the same reason.
WITH seen AS MATERIALIZED (
    SELECT n.id,
           (CAST(:status AS text) IS NULL OR n.status = :status)
           AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
           AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
           AND (CAST(:category AS text) IS NULL OR n.category = :category)
           AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
           AND (CAST(:correlation_id AS text) IS NULL OR n.correlation_id = :correlation_id)
           AND (CAST(:recipient_ids AS text[]) IS NULL OR n.recipient_id = ANY(CAST(:recipient_ids AS text[]))) AS fits
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.batch_id IS NOT NULL
      AND n.batch_id >= :batch_id AND n.batch_id <= :batch_id
      AND n.created_at >= :since AND n.created_at <= :before_at
      AND (n.created_at, n.id) < (:before_at, CAST(:before_id AS text))
    ORDER BY n.batch_id, n.created_at DESC, n.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_metadata
-- The same among those with one value of searchable metadata: by ix_searchable_metadata_value, then each row by its key.
WITH named AS MATERIALIZED (
    SELECT m.notification_id, m.created_at
    FROM notification.searchable_metadata AS m
    WHERE m.tenant_id = :tenant_id AND m.key = :key
      AND m.value_hash >= :value_hash AND m.value_hash <= :value_hash
      AND m.created_at >= :since AND m.created_at <= :before_at
      AND (m.created_at, m.notification_id) < (:before_at, CAST(:before_id AS text))
    ORDER BY m.value_hash, m.created_at DESC, m.notification_id DESC
    LIMIT :most
), seen AS MATERIALIZED (
    SELECT named.notification_id AS id, coalesce(mine.fits, false) AS fits
    FROM named
    LEFT JOIN LATERAL (
        SELECT (CAST(:status AS text) IS NULL OR n.status = :status)
               AND (NOT CAST(:tests_only AS boolean) OR n.is_test)
               AND (CAST(:channel AS text) IS NULL OR n.channel = :channel OR n.final_channel = :channel)
               AND (CAST(:category AS text) IS NULL OR n.category = :category)
               AND (CAST(:template AS text) IS NULL OR n.template_key = :template)
               AND (CAST(:batch_id AS text) IS NULL OR n.batch_id = :batch_id)
               AND (CAST(:correlation_id AS text) IS NULL OR n.correlation_id = :correlation_id)
               AND (CAST(:recipient_ids AS text[]) IS NULL OR n.recipient_id = ANY(CAST(:recipient_ids AS text[])))
               AS fits
        FROM notification.notifications AS n
        WHERE n.tenant_id = :tenant_id AND n.created_at = named.created_at AND n.id = named.notification_id
          AND n.created_at >= :since AND n.created_at <= :before_at
        OFFSET 0
    ) AS mine ON true
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: find_waits
-- Where it waits: its place in the queue, the digest that it is gathered in, and all its appointments that were not swept yet.
SELECT 'queue' AS kind, queued_at AS created_at, NULL::timestamptz AS run_after, claimed_by IS NOT NULL AS claimed,
       false AS over
FROM notification.dispatch_queue
WHERE tenant_id = :tenant_id AND notification_id = :id
UNION ALL
SELECT kind, created_at, run_after, coalesce(claimed_until > :now, false), processed_at IS NOT NULL OR obsolete
FROM notification.notification_scheduled
WHERE tenant_id = :tenant_id AND notification_id = :id
UNION ALL
SELECT 'digest', greatest(window_start, :created_at), flush_at, claimed_by IS NOT NULL, state = 'flushed'
FROM notification.digest_windows
WHERE tenant_id = :tenant_id AND id = CAST(:window_id AS text);

-- name: find_digest
-- The window that it was gathered in, or that it is the digest of.
SELECT id, state, result, flush_at, flushed_at, digest_notification_id
FROM notification.digest_windows WHERE tenant_id = :tenant_id AND id = :id;

-- name: list_digest_items
-- What a digest took the place of, the oldest first; all of it was there when the digest was made.
SELECT n.id
FROM notification.notifications AS n
WHERE n.tenant_id = :tenant_id AND n.digest_group_id = :window_id AND n.status = 'superseded'
  AND n.created_at BETWEEN :since AND :until
ORDER BY n.created_at, n.id
LIMIT :limit;

-- name: load_own_attempts
-- Notify's own log; attempts begin after their notification was made, which leaves earlier months out.
SELECT id, started_at, finished_at, attempt_number, router_attempt_id, channel, vendor, vendor_message_id, outcome,
       error_code
FROM notification.delivery_attempts
WHERE tenant_id = :tenant_id AND notification_id = :id AND started_at >= :created_at
ORDER BY started_at, id;

-- name: cancel_notification
-- The queue's row goes first and the notification's after it, in the order in which a worker's turn takes them: the two wait
-- for each other and never crosswise. A dispatcher that hands it over just now, or has, wins: no row back, and it was not
-- waiting any more. Its appointments and the count go in the same trip.
WITH left_queue AS (
    DELETE FROM notification.dispatch_queue
    WHERE tenant_id = :tenant_id AND notification_id = :id
    RETURNING notification_id
), waiting AS (
    SELECT n.id, n.status
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = :id
      AND n.status IN ('queued', 'scheduled')
      AND (SELECT count(*) FROM left_queue) >= 0
    FOR UPDATE
), cancelled AS (
    UPDATE notification.notifications AS n
    SET status = 'cancelled', cancelled_at = :now, updated_at = :now, version = n.version + 1
    FROM waiting
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = waiting.id
    RETURNING n.id, n.recipient_id, n.batch_id, n.status, n.channel, n.category, waiting.status AS before
), left_schedule AS (
    UPDATE notification.notification_scheduled AS s SET obsolete = true, processed_at = :now, updated_at = :now
    FROM cancelled
    WHERE s.tenant_id = :tenant_id AND s.notification_id = cancelled.id AND s.processed_at IS NULL
      AND NOT s.obsolete
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = cancelled.status, error_code = 'cancelled'
    FROM cancelled
    WHERE cancelled.batch_id IS NOT NULL AND person.tenant_id = :tenant_id AND person.batch_id = cancelled.batch_id
      AND person.recipient_id = cancelled.recipient_id
    RETURNING person.tenant_id, person.batch_id, person.variant, person.state
), batch_totals AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT tenant_id, batch_id, variant, state, :stripe, count(*)
    FROM in_batch
    GROUP BY tenant_id, batch_id, variant, state
    ORDER BY tenant_id, batch_id, variant, state
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
), counted AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, 'cancelled', cancelled.channel, cancelled.category, 1
    FROM cancelled
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT cancelled.before FROM cancelled;

-- name: release_notification
-- It is due now, and the gates know by its trace that it does not wait for quiet hours any more, nor for a digest, which it leaves
-- for the queue. The notification first and its appointment after it, as when one is cancelled.
WITH waiting AS (
    SELECT n.id, n.digest_group_id FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = :id AND n.status = 'scheduled'
    FOR UPDATE
), marked AS (
    UPDATE notification.notifications AS n
    SET decision_trace = CASE WHEN strpos(coalesce(n.decision_trace, ''), :mark) > 0 THEN n.decision_trace
                              ELSE concat_ws(';', nullif(n.decision_trace, ''), CAST(:mark AS text)) END,
        digest_group_id = NULL, updated_at = :now, version = n.version + 1
    FROM waiting
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = waiting.id
    RETURNING n.id, n.priority, waiting.digest_group_id AS window_id
), left_digest AS (
    INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight)
    SELECT :tenant_id, marked.id, known.rank, tenant.weight
    FROM marked
    JOIN (VALUES ('critical', 0), ('high', 1), ('normal', 2), ('low', 3)) AS known (priority, rank)
        ON known.priority = marked.priority
    CROSS JOIN notification.tenants_local AS tenant
    WHERE tenant.tenant_id = :tenant_id AND marked.window_id IS NOT NULL
    ON CONFLICT (tenant_id, notification_id) DO NOTHING
), due AS (
    UPDATE notification.notification_scheduled AS s SET run_after = :now, updated_at = :now
    FROM marked
    WHERE s.tenant_id = :tenant_id AND s.notification_id = marked.id AND s.processed_at IS NULL AND NOT s.obsolete
      AND s.run_after > :now
)
SELECT id FROM marked;

-- name: find_template_keys
-- Each by its own index scan, as the time that is inside an id names its partition.
SELECT mine.id, mine.template_key
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT n.id, n.template_key FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    LIMIT 1
) AS mine;
