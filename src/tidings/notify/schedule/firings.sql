-- name: insert_firings
-- What a set of events has led to, of many tenants.
INSERT INTO notification.trigger_firings (
    tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
    channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
)
SELECT tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
       channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
FROM unnest(
    :tenant_ids::text[], :ids::text[], :event_ids::text[], :event_types::text[], :event_sources::text[],
    :event_subjects::text[], :event_times::timestamptz[], :trigger_ids::text[], :trigger_versions::integer[],
    :template_keys::text[], :channels::text[], :recipient_ids::text[], :scheduled_ids::text[], :notification_ids::text[],
    :results::text[], :reasons::text[], :send_ats::timestamptz[], :ended_bys::text[], :fired_ats::timestamptz[],
    :expires_ats::timestamptz[]
) AS fresh (
    tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
    channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
);

-- name: end_firings
-- What became of planned entries; found by their event, which has a handful of lines.
UPDATE notification.trigger_firings AS mine
SET result = ended.result, notification_id = coalesce(ended.notification_id, mine.notification_id), reason = ended.reason,
    ended_by = coalesce(ended.ended_by, mine.ended_by)
FROM unnest(
    :tenant_ids::text[], :event_ids::text[], :scheduled_ids::text[], :results::text[], :notification_ids::text[],
    :reasons::text[], :ended_bys::text[]
) AS ended (tenant_id, event_id, scheduled_id, result, notification_id, reason, ended_by)
WHERE mine.tenant_id = ended.tenant_id AND mine.event_id = ended.event_id AND mine.scheduled_id = ended.scheduled_id;

-- name: end_sent
-- What was sent, as far as triggers are concerned, and is taken back before a dispatcher has it; also where a second trigger
-- would have said the same.
UPDATE notification.trigger_firings AS mine
SET result = ended.result, reason = ended.reason, ended_by = ended.ended_by
FROM unnest(:tenant_ids::text[], :notification_ids::text[], :results::text[], :reasons::text[], :ended_bys::text[])
    AS ended (tenant_id, notification_id, result, reason, ended_by)
WHERE mine.tenant_id = ended.tenant_id AND mine.notification_id = ended.notification_id
  AND (mine.result = 'sent' OR mine.reason = 'duplicate');

-- name: firings_of_event
-- One for each trigger that heard it, and each person: as a rule a handful, in their order.
SELECT tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
       channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
FROM notification.trigger_firings
WHERE tenant_id = :tenant_id AND event_id = :event_id
  AND (CAST(:after_id AS text) IS NULL OR id > :after_id)
  AND (CAST(:trigger_id AS text) IS NULL OR trigger_id = :trigger_id)
  AND (CAST(:result AS text) IS NULL OR result = :result)
ORDER BY id
LIMIT :limit;

-- name: firings_of_notification
-- Which trigger and event made it; the first, where a second one would have made the same.
SELECT tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
       channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
FROM notification.trigger_firings
WHERE tenant_id = :tenant_id AND notification_id = :notification_id
ORDER BY id
LIMIT 1;

-- name: look_back
-- Looks at so many lines, the newest first, and says which of them fit: no filter can make it read more than that.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:result AS text) IS NULL OR s.result = :result) AS fits
    FROM notification.trigger_firings AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id
    ORDER BY s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: look_back_at_failed
-- The same among those that failed, which are few, by ix_trigger_firings_failed.
WITH seen AS MATERIALIZED (
    SELECT s.id,
           (CAST(:trigger_id AS text) IS NULL OR s.trigger_id = :trigger_id)
           AND (CAST(:result AS text) IS NULL OR s.result = :result) AS fits
    FROM notification.trigger_firings AS s
    WHERE s.tenant_id = :tenant_id AND s.id < :before_id AND s.result = 'failed'
    ORDER BY s.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: find_firings
-- By id, in no order.
SELECT tenant_id, id, event_id, event_type, event_source, event_subject, event_time, trigger_id, trigger_version, template_key,
       channel, recipient_id, scheduled_id, notification_id, result, reason, send_at, ended_by, fired_at, expires_at
FROM notification.trigger_firings
WHERE tenant_id = :tenant_id AND id = ANY (CAST(:ids AS text[]));

-- name: sweep_firings
-- About so many at a time, across tenants.
DELETE FROM notification.trigger_firings
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM notification.trigger_firings WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);
