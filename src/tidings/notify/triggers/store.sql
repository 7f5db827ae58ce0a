-- name: load_platform_triggers
-- A short list that is read whole and remembered; a tenant may have switched on what the platform has not. Of those that
-- are deleted, the ones that may still have something planned.
SELECT id, tenant_id, title, consumed_event_type, template_key, channel, recipient_resolver, variables, schedule_anchor,
       anchor_offset, local_time, category, priority, condition, cancelled_by, replanned_by, subject_path, enabled, version,
       set_name, set_key, customises, created_at, updated_at, deleted_at
FROM notification.notification_trigger_map
WHERE tenant_id IS NULL AND (deleted_at IS NULL OR deleted_at > CAST(:deleted_since AS timestamptz))
ORDER BY id;

-- name: load_tenant_triggers
-- Those of these tenants, remembered too; also those that are off or deleted and may still have something planned.
SELECT t.id, t.tenant_id, t.title, t.consumed_event_type, t.template_key, t.channel, t.recipient_resolver, t.variables,
       t.schedule_anchor, t.anchor_offset, t.local_time, t.category, t.priority, t.condition, t.cancelled_by, t.replanned_by,
       t.subject_path, t.enabled, t.version, t.set_name, t.set_key, t.customises, t.created_at, t.updated_at, t.deleted_at
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
JOIN notification.notification_trigger_map AS t ON t.tenant_id = wanted.tenant_id
WHERE t.deleted_at IS NULL OR t.deleted_at > CAST(:deleted_since AS timestamptz)
ORDER BY t.id;

-- name: load_choices
-- Which of the platform's these tenants have switched on or off.
SELECT c.tenant_id, c.trigger_id, c.enabled
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
JOIN notification.trigger_choices AS c ON c.tenant_id = wanted.tenant_id;

-- name: list_triggers
-- The newest first; ids begin with their time.
SELECT id, tenant_id, title, consumed_event_type, template_key, channel, recipient_resolver, variables, schedule_anchor,
       anchor_offset, local_time, category, priority, condition, cancelled_by, replanned_by, subject_path, enabled, version,
       set_name, set_key, customises, created_at, updated_at, deleted_at
FROM notification.notification_trigger_map
WHERE (tenant_id IS NULL OR tenant_id = :tenant_id) AND deleted_at IS NULL
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND (CAST(:event_type AS text) IS NULL OR consumed_event_type = :event_type)
ORDER BY id DESC
LIMIT :limit;

-- name: find_triggers
-- One of the caller's own, or of the platform's.
SELECT id, tenant_id, title, consumed_event_type, template_key, channel, recipient_resolver, variables, schedule_anchor,
       anchor_offset, local_time, category, priority, condition, cancelled_by, replanned_by, subject_path, enabled, version,
       set_name, set_key, customises, created_at, updated_at, deleted_at
FROM notification.notification_trigger_map
WHERE (tenant_id IS NULL OR tenant_id = :tenant_id) AND id = ANY (CAST(:ids AS text[])) AND deleted_at IS NULL;

-- name: hold_trigger
-- Its row is held while it is changed, so that the version which was read is the one that is changed.
SELECT id FROM notification.notification_trigger_map
WHERE tenant_id IS NOT DISTINCT FROM CAST(:tenant_id AS text) AND id = :id
FOR UPDATE;

-- name: put_trigger
-- A new one, or what one is from now on; its version stands beside the earlier ones.
WITH kept AS (
    INSERT INTO notification.trigger_versions (tenant_id, trigger_id, version, definition, changed_at, changed_by)
    VALUES (CAST(:tenant_id AS text), :id, :version, :definition, :updated_at, :actor)
)
INSERT INTO notification.notification_trigger_map AS known (
    id, tenant_id, scope, title, consumed_event_type, template_key, channel, recipient_resolver, variables, schedule_anchor,
    anchor_offset, schedule_offset_seconds, local_time, category, priority, condition, cancelled_by, replanned_by,
    subject_path, enabled, version, set_name, set_key, customises, created_at, updated_at
) VALUES (
    :id, CAST(:tenant_id AS text), :scope, :title, :event_type, :template, :channel, :recipient_resolver, :variables, :anchor,
    :offset, :offset_seconds, :local_time, :category, :priority, :condition, CAST(:cancelled_by AS text[]), CAST(:replanned_by AS text[]),
    :subject, :enabled, :version, :set_name, :set_key, :customises, :created_at, :updated_at
)
ON CONFLICT (id) DO UPDATE SET
    title = excluded.title, consumed_event_type = excluded.consumed_event_type, template_key = excluded.template_key,
    channel = excluded.channel, recipient_resolver = excluded.recipient_resolver, variables = excluded.variables,
    schedule_anchor = excluded.schedule_anchor, anchor_offset = excluded.anchor_offset,
    schedule_offset_seconds = excluded.schedule_offset_seconds, local_time = excluded.local_time,
    category = excluded.category, priority = excluded.priority, condition = excluded.condition,
    cancelled_by = excluded.cancelled_by, replanned_by = excluded.replanned_by, subject_path = excluded.subject_path,
    enabled = excluded.enabled, version = excluded.version, updated_at = excluded.updated_at;

-- name: delete_trigger
-- It is kept: firings and planned work name it.
UPDATE notification.notification_trigger_map SET deleted_at = :now, enabled = false, updated_at = :now
WHERE tenant_id IS NOT DISTINCT FROM CAST(:tenant_id AS text) AND id = :id;

-- name: put_choices
-- A tenant's word about the platform's triggers.
INSERT INTO notification.trigger_choices AS known (tenant_id, trigger_id, enabled, updated_at)
SELECT :tenant_id, trigger_id, :enabled, :now FROM unnest(CAST(:trigger_ids AS text[])) AS chosen (trigger_id)
ORDER BY trigger_id
ON CONFLICT (tenant_id, trigger_id) DO UPDATE
SET enabled = excluded.enabled, updated_at = excluded.updated_at, version = known.version + 1;

-- name: list_versions
-- The newest first.
SELECT version, definition, changed_at, changed_by FROM notification.trigger_versions
WHERE trigger_id = :trigger_id
ORDER BY version DESC;

-- name: enter_subjects
-- A subject that is new has a row before it is locked: two who hear of it at once wait for each other.
INSERT INTO notification.trigger_subjects
    (tenant_id, trigger_id, event_source, event_subject, event_id, event_time, cancelled, expires_at)
SELECT tenant_id, trigger_id, event_source, event_subject, '', 'epoch', false, :expires_at
FROM unnest(:tenant_ids::text[], :trigger_ids::text[], :event_sources::text[], :event_subjects::text[])
    AS heard (tenant_id, trigger_id, event_source, event_subject)
ORDER BY tenant_id, trigger_id, event_source, event_subject
ON CONFLICT ON CONSTRAINT pk_trigger_subjects DO NOTHING;

-- name: hold_subjects
-- Locked in one order.
SELECT s.tenant_id, s.trigger_id, s.event_source, s.event_subject, s.event_id, s.event_time, s.cancelled
FROM unnest(:tenant_ids::text[], :trigger_ids::text[], :event_sources::text[], :event_subjects::text[])
    AS heard (tenant_id, trigger_id, event_source, event_subject)
JOIN notification.trigger_subjects AS s
    ON s.tenant_id = heard.tenant_id AND s.trigger_id = heard.trigger_id AND s.event_source = heard.event_source
   AND s.event_subject = heard.event_subject
ORDER BY s.tenant_id, s.trigger_id, s.event_source, s.event_subject
FOR UPDATE OF s;

-- name: find_subject
-- The same of one, without a lock.
SELECT event_id, event_time, cancelled FROM notification.trigger_subjects
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id AND event_source = :event_source AND event_subject = :event_subject;

-- name: put_subjects
-- Which event each has heard last.
UPDATE notification.trigger_subjects AS s
SET event_id = heard.event_id, event_time = heard.event_time, cancelled = heard.cancelled, expires_at = :expires_at
FROM unnest(
    :tenant_ids::text[], :trigger_ids::text[], :event_sources::text[], :event_subjects::text[], :event_ids::text[],
    :event_times::timestamptz[], :cancelleds::boolean[]
) AS heard (tenant_id, trigger_id, event_source, event_subject, event_id, event_time, cancelled)
WHERE s.tenant_id = heard.tenant_id AND s.trigger_id = heard.trigger_id AND s.event_source = heard.event_source
  AND s.event_subject = heard.event_subject;

-- name: lines_about
-- What came of the events about these subjects, as far as it was about somebody or ended something; the newest thousand of
-- each: as many as one event may write to. Not what changed nothing. Said as a range and put first in the order, because only
-- ix_trigger_firings_told has that order: told that they are equal, the planner may walk through the lines of all subjects.
SELECT f.tenant_id, f.trigger_id, f.event_source, f.event_subject, f.event_id, f.result, f.reason, f.recipient_id,
       f.notification_id
FROM unnest(:tenant_ids::text[], :trigger_ids::text[], :event_sources::text[], :event_subjects::text[])
    AS wanted (tenant_id, trigger_id, event_source, event_subject)
CROSS JOIN LATERAL (
    SELECT mine.tenant_id, mine.trigger_id, mine.event_source, mine.event_subject, mine.event_id, mine.result, mine.reason,
           mine.recipient_id, mine.notification_id
    FROM notification.trigger_firings AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.trigger_id = wanted.trigger_id
      AND mine.event_source = wanted.event_source
      AND mine.event_subject >= wanted.event_subject AND mine.event_subject <= wanted.event_subject
      AND (mine.recipient_id IS NOT NULL OR mine.result = 'cleared' OR mine.reason = 'condition_not_met')
    ORDER BY mine.event_subject, mine.id DESC
    LIMIT 1000
) AS f
LIMIT :most;

-- name: words_of_sent
-- What was said in messages that triggers have sent, as long as they are kept; of people who are still known. Nothing of
-- what would be too much together.
SELECT n.tenant_id, n.id, n.recipient_id,
       CASE WHEN CAST(:most_bytes AS bigint) IS NULL
                 OR sum(octet_length(n.variables_ciphertext)) OVER (ORDER BY n.id) <= :most_bytes
            THEN n.variables_ciphertext END AS variables_ciphertext
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS wanted (tenant_id, id, created_at)
CROSS JOIN LATERAL (
    SELECT mine.tenant_id, mine.id, mine.recipient_id, mine.variables_ciphertext FROM notification.notifications AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.created_at = wanted.created_at AND mine.id = wanted.id
    OFFSET 0
) AS n
JOIN notification.recipients AS who ON who.tenant_id = n.tenant_id AND who.id = n.recipient_id AND who.erased_at IS NULL;

-- name: waiting_among
-- Those that no dispatcher has taken yet.
SELECT n.id
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS wanted (tenant_id, id, created_at)
CROSS JOIN LATERAL (
    SELECT mine.id FROM notification.notifications AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.created_at = wanted.created_at AND mine.id = wanted.id
      AND mine.status IN ('queued', 'scheduled')
    OFFSET 0
) AS n;

-- name: admins_of
-- Found by the index of those who are tagged so.
SELECT found.tenant_id, found.id
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
CROSS JOIN LATERAL (
    SELECT r.tenant_id, r.id FROM notification.recipients AS r
    WHERE r.tenant_id = wanted.tenant_id AND r.tags @> ARRAY['tenant_admin']
      AND r.erased_at IS NULL
    ORDER BY r.id
    LIMIT :most
) AS found;

-- name: sweep_subjects
-- About so many at a time, across tenants.
DELETE FROM notification.trigger_subjects
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM notification.trigger_subjects WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);

-- name: published_channels
-- The channels that a template is published for, by the tenant or by the platform.
SELECT t.channel FROM notification.templates AS t
WHERE t.tenant_id = CAST(:tenant_id AS text) AND t.key = :key AND t.status = 'active' AND t.active_version_id IS NOT NULL
UNION
SELECT p.channel FROM notification_platform.templates AS p
WHERE p.key = :key AND p.status = 'active' AND p.active_version_id IS NOT NULL;

-- name: published_channels_of_platform
-- The same for the platform, which sees its own alone.
SELECT p.channel FROM notification_platform.templates AS p
WHERE p.key = :key AND p.status = 'active' AND p.active_version_id IS NOT NULL;
