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
