-- name: find_suppressions
-- By hash and not by channel: a number has one hash on all of them.
SELECT mine.id, mine.channel, mine.reason, mine.notes, mine.expires_at, mine.released_at, mine.created_at,
       mine.occurred_at, mine.source_notification_id, mine.address_hash
FROM (SELECT DISTINCT hash FROM unnest(:hashes::text[]) AS given (hash)) AS theirs
JOIN notification.suppressions AS mine ON mine.tenant_id = :tenant_id AND mine.address_hash = theirs.hash
ORDER BY mine.id;

-- name: load_looks
-- Who read the words of a set of notifications, or stopped one; all of that came after they were made.
SELECT mine.id, mine.occurred_at, mine.entity_id, mine.action, mine.actor
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT a.id, a.occurred_at, a.entity_id, a.action, a.actor
    FROM notification.audit AS a
    WHERE a.tenant_id = :tenant_id AND a.entity_type = 'notification' AND a.entity_id = wanted.id
      AND a.occurred_at >= wanted.created_at
    ORDER BY a.occurred_at, a.id
    OFFSET 0
) AS mine;

-- name: load_logs
-- What was said or done after the calls, of a set of notifications; it begins after their notification was made.
SELECT mine.notification_id, mine.id, mine.started_at, mine.finished_at, mine.channel, mine.vendor, mine.vendor_message_id, mine.outcome,
       mine.error_code
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT a.notification_id, a.id, a.started_at, a.finished_at, a.channel, a.vendor, a.vendor_message_id, a.outcome,
           a.error_code
    FROM notification.delivery_attempts AS a
    WHERE a.tenant_id = :tenant_id AND a.notification_id = wanted.id AND a.started_at >= wanted.created_at
      -- Rows of before have the calls too, which the router keeps.
      AND a.attempt_number = 0
    ORDER BY a.started_at, a.id
    OFFSET 0
) AS mine;

-- name: list_planned
-- What triggers have planned for them and what has failed of it, with its sealed order, by ix_notification_scheduled_payload; what
-- became a message is among the messages.
SELECT s.id, s.run_after, s.trigger_id, s.template_key, s.channel, s.event_type, s.event_subject, s.source_event_id, s.event_time,
       s.anchor, s.anchor_offset, s.local_time, s.zone, s.is_test, s.failed_at, s.last_error, s.created_at, s.payload_ciphertext
FROM notification.notification_scheduled AS s
WHERE s.tenant_id = :tenant_id AND s.recipient_id = :recipient_id AND s.payload_ciphertext IS NOT NULL AND s.id > :after_id
ORDER BY s.id
LIMIT :limit;

-- name: list_digests
-- Windows of theirs, by ix_digest_windows_recipient, with those of their own messages in each: a guardian's window may hold a child's.
SELECT w.id, w.category, w.channel, w.digest_key, w.is_test, w.state, w.result, w.window_start, w.flush_at, w.flushed_at,
       w.digest_notification_id, held.ids AS notification_ids
FROM (
    SELECT mine.* FROM notification.digest_windows AS mine
    WHERE mine.tenant_id = :tenant_id AND mine.recipient_id = :recipient_id AND mine.id > :after_id
    ORDER BY mine.id
    LIMIT :limit
) AS w
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}') AS ids
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.digest_group_id = w.id AND n.recipient_id = :recipient_id
      AND n.created_at BETWEEN w.oldest_item_at AND w.newest_item_at
) AS held
ORDER BY w.id;

-- name: list_batches
-- Batches that have a line for them, or name them in a list: each batch's by its key. The page is of batches, whether they fit or not.
SELECT b.id, b.name, b.template_key, b.channel, b.category, b.status, b.created_at, line.state, line.send_at, line.notification_id,
       line.error_code, line.recipient_id IS NOT NULL AS has_line, named.recipient_id IS NOT NULL AS is_named,
       named.variables_ciphertext
FROM (
    SELECT mine.* FROM notification.dispatch_batches AS mine
    WHERE mine.tenant_id = :tenant_id AND mine.id > :after_id
    ORDER BY mine.id
    LIMIT :limit
) AS b
LEFT JOIN LATERAL (
    SELECT p.recipient_id, p.state, p.send_at, p.notification_id, p.error_code FROM notification.batch_people AS p
    WHERE p.tenant_id = :tenant_id AND p.batch_id = b.id AND p.recipient_id = :recipient_id
    OFFSET 0
) AS line ON true
LEFT JOIN LATERAL (
    SELECT l.recipient_id, l.variables_ciphertext FROM notification.batch_list AS l
    WHERE l.tenant_id = :tenant_id AND l.batch_id = b.id AND l.recipient_id = :recipient_id
    OFFSET 0
) AS named ON true
ORDER BY b.id;
