-- name: insert_planned
-- A set of planned entries, of many tenants. What could not be ordered is written as failed, to be seen and tried again; what
-- has no time at which it could be sent as obsolete, with its order: the thing may be moved again.
INSERT INTO notification.notification_scheduled (
    tenant_id, id, kind, run_after, recipient_id, payload_ciphertext, trigger_id, trigger_version, template_key, channel,
    priority, source_event_id, event_type, event_source, event_subject, event_time, anchor, anchor_offset, local_time, zone,
    is_test, failed_at, obsolete, obsolete_reason, processed_at, last_error, attempt_count, created_at, updated_at
)
SELECT tenant_id, id, 'trigger', run_after, recipient_id, payload, trigger_id, trigger_version, template_key, channel,
       priority, source_event_id, event_type, event_source, event_subject, event_time, anchor, anchor_offset, local_time, zone,
       is_test, failed_at, obsolete_reason IS NOT NULL, obsolete_reason,
       CASE WHEN failed_at IS NOT NULL OR obsolete_reason IS NOT NULL THEN CAST(:now AS timestamptz) END, last_error,
       CASE WHEN failed_at IS NULL THEN 0 ELSE 1 END, :now, :now
FROM unnest(
    :tenant_ids::text[], :ids::text[], :run_afters::timestamptz[], :recipient_ids::text[], :payloads::bytea[],
    :trigger_ids::text[], :trigger_versions::integer[], :template_keys::text[], :channels::text[], :priorities::text[],
    :source_event_ids::text[], :event_types::text[], :event_sources::text[], :event_subjects::text[],
    :event_times::timestamptz[], :anchors::text[], :anchor_offsets::text[], :local_times::text[], :zones::text[],
    :is_tests::boolean[], :failed_ats::timestamptz[], :last_errors::text[], :obsolete_reasons::text[]
) AS fresh (
    tenant_id, id, run_after, recipient_id, payload, trigger_id, trigger_version, template_key, channel, priority,
    source_event_id, event_type, event_source, event_subject, event_time, anchor, anchor_offset, local_time, zone, is_test,
    failed_at, last_error, obsolete_reason
);

-- name: lock_planned_of_subjects
-- What waits, has failed and may be tried again, or had no time at which it could be sent: a later event moves or clears it.
-- Not the orders: how large they are.
SELECT s.tenant_id, s.id, s.recipient_id, s.trigger_id, s.event_source, s.event_subject, s.source_event_id, s.failed_at,
       octet_length(s.payload_ciphertext) AS order_bytes
FROM unnest(:tenant_ids::text[], :trigger_ids::text[], :event_sources::text[], :event_subjects::text[])
    AS wanted (tenant_id, trigger_id, event_source, event_subject)
JOIN notification.notification_scheduled AS s
    ON s.tenant_id = wanted.tenant_id AND s.trigger_id = wanted.trigger_id AND s.event_source = wanted.event_source
   AND s.event_subject = wanted.event_subject
WHERE s.payload_ciphertext IS NOT NULL
  AND (s.obsolete_reason IN ('too_late', 'too_far') OR s.obsolete = false AND (s.processed_at IS NULL OR s.failed_at IS NOT NULL))
ORDER BY s.tenant_id, s.id
FOR UPDATE OF s;

-- name: planned_of_subject
-- The same of one subject, without a lock.
SELECT s.tenant_id, s.id, s.recipient_id, s.trigger_id, s.event_source, s.event_subject, s.source_event_id, s.failed_at,
       octet_length(s.payload_ciphertext) AS order_bytes
FROM notification.notification_scheduled AS s
WHERE s.tenant_id = :tenant_id AND s.trigger_id = :trigger_id AND s.event_source = :event_source
  AND s.event_subject = :event_subject
  AND s.payload_ciphertext IS NOT NULL
  AND (s.obsolete_reason IN ('too_late', 'too_far') OR s.obsolete = false AND (s.processed_at IS NULL OR s.failed_at IS NOT NULL))
ORDER BY s.id;

-- name: load_orders
-- What is to be ordered by entries that are locked; sealed.
SELECT s.tenant_id, s.id, s.payload_ciphertext
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
JOIN notification.notification_scheduled AS s ON s.tenant_id = wanted.tenant_id AND s.id = wanted.id
WHERE s.payload_ciphertext IS NOT NULL;

-- name: end_planned
-- What became of planned entries. Their order is personal: it goes with the need for it.
UPDATE notification.notification_scheduled AS s
SET processed_at = :now,
    obsolete = ended.status = 'obsolete',
    obsolete_reason = CASE WHEN ended.status = 'obsolete' THEN ended.reason END,
    obsolete_event_id = ended.by_event,
    failed_at = CASE WHEN ended.status = 'failed' THEN CAST(:now AS timestamptz) END,
    attempt_count = s.attempt_count + CASE WHEN ended.status = 'failed' THEN 1 ELSE 0 END,
    last_error = CASE WHEN ended.status = 'obsolete' THEN s.last_error ELSE ended.reason END,
    notification_id = coalesce(ended.notification_id, s.notification_id),
    recipient_id = coalesce(ended.recipient_id, s.recipient_id),
    payload_ciphertext = CASE WHEN ended.status = 'failed' THEN s.payload_ciphertext END,
    claimed_by = NULL, claimed_until = NULL, updated_at = :now
FROM unnest(
    :tenant_ids::text[], :ids::text[], :statuses::text[], :notification_ids::text[], :recipient_ids::text[], :reasons::text[],
    :by_events::text[]
) AS ended (tenant_id, id, status, notification_id, recipient_id, reason, by_event)
WHERE s.tenant_id = ended.tenant_id AND s.id = ended.id;

-- name: look_back
-- Looks at so many entries, the newest first, and says which of them fit: no filter can make it read more than that. Ids
-- begin with their time, so the key's own order serves.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:status AS text) IS NULL OR :status =
            CASE WHEN s.obsolete THEN 'obsolete' WHEN s.failed_at IS NOT NULL THEN 'failed'
                 WHEN s.processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END)
           AND (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:subject AS text) IS NULL OR s.event_subject = :subject)
           AND (CAST(:recipient_id AS text) IS NULL OR s.recipient_id = :recipient_id)
           AND (NOT CAST(:tests_only AS boolean) OR s.is_test) AS fits
    FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id
    ORDER BY s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_subject
-- The same among what is about one subject, by ix_notification_scheduled_about. Said as a range and put first in the order,
-- because no other index has that order.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:status AS text) IS NULL OR :status =
            CASE WHEN s.obsolete THEN 'obsolete' WHEN s.failed_at IS NOT NULL THEN 'failed'
                 WHEN s.processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END)
           AND (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:subject AS text) IS NULL OR s.event_subject = :subject)
           AND (CAST(:recipient_id AS text) IS NULL OR s.recipient_id = :recipient_id)
           AND (NOT CAST(:tests_only AS boolean) OR s.is_test) AS fits
    FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id AND s.event_subject IS NOT NULL
      AND s.event_subject >= :subject AND s.event_subject <= :subject
    ORDER BY s.event_subject, s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_recipient
-- The same among what is for one recipient, by ix_notification_scheduled_recipient.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:status AS text) IS NULL OR :status =
            CASE WHEN s.obsolete THEN 'obsolete' WHEN s.failed_at IS NOT NULL THEN 'failed'
                 WHEN s.processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END)
           AND (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:subject AS text) IS NULL OR s.event_subject = :subject)
           AND (CAST(:recipient_id AS text) IS NULL OR s.recipient_id = :recipient_id)
           AND (NOT CAST(:tests_only AS boolean) OR s.is_test) AS fits
    FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id AND s.recipient_id IS NOT NULL
      AND s.recipient_id >= :recipient_id AND s.recipient_id <= :recipient_id
    ORDER BY s.recipient_id, s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_failed
-- The same among what has failed, which is little, by ix_notification_scheduled_failed.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:status AS text) IS NULL OR :status =
            CASE WHEN s.obsolete THEN 'obsolete' WHEN s.failed_at IS NOT NULL THEN 'failed'
                 WHEN s.processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END)
           AND (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:subject AS text) IS NULL OR s.event_subject = :subject)
           AND (CAST(:recipient_id AS text) IS NULL OR s.recipient_id = :recipient_id)
           AND (NOT CAST(:tests_only AS boolean) OR s.is_test) AS fits
    FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id AND s.failed_at IS NOT NULL
    ORDER BY s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: find_several
-- By id, in no order.
SELECT id, kind, run_after, notification_id, recipient_id, trigger_id, trigger_version, template_key, channel, priority,
       source_event_id, event_type, event_source, event_subject, event_time, anchor, anchor_offset, local_time, zone, is_test,
       attempt_count, last_error, obsolete_reason, obsolete_event_id, processed_at, created_at, updated_at,
       CASE WHEN obsolete THEN 'obsolete' WHEN failed_at IS NOT NULL THEN 'failed'
            WHEN processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END AS status
FROM notification.notification_scheduled
WHERE tenant_id = :tenant_id AND id = ANY (CAST(:ids AS text[]));

-- name: find_work
-- One entry.
SELECT id, kind, run_after, notification_id, recipient_id, trigger_id, trigger_version, template_key, channel, priority,
       source_event_id, event_type, event_source, event_subject, event_time, anchor, anchor_offset, local_time, zone, is_test,
       attempt_count, last_error, obsolete_reason, obsolete_event_id, processed_at, created_at, updated_at,
       CASE WHEN obsolete THEN 'obsolete' WHEN failed_at IS NOT NULL THEN 'failed'
            WHEN processed_at IS NOT NULL THEN 'processed' ELSE 'planned' END AS status
FROM notification.notification_scheduled
WHERE tenant_id = :tenant_id AND id = :id;

-- name: hold_work
-- Whoever releases it just now is waited for.
SELECT id FROM notification.notification_scheduled WHERE tenant_id = :tenant_id AND id = :id FOR UPDATE;

-- name: retry_planned
-- With all its attempts before it.
UPDATE notification.notification_scheduled
SET processed_at = NULL, failed_at = NULL, attempt_count = 0, run_after = :now, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND failed_at IS NOT NULL AND payload_ciphertext IS NOT NULL AND obsolete = false;
