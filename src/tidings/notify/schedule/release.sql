-- name: claim_due
-- The oldest first, across tenants. The claim is short: what it leads to is one transaction.
WITH due AS (
    SELECT s.tenant_id, s.id
    FROM notification.notification_scheduled AS s
    WHERE s.run_after <= :now AND s.processed_at IS NULL AND s.obsolete = false
      AND (s.claimed_until IS NULL OR s.claimed_until <= :now)
    ORDER BY s.run_after
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE notification.notification_scheduled AS mine
SET claimed_by = :worker, claimed_until = :now::timestamptz + :lease::interval
FROM due
WHERE mine.tenant_id = due.tenant_id AND mine.id = due.id
RETURNING mine.tenant_id, mine.id;

-- name: next_due
-- When the next look is needed: the first that claim_due would take, or the end of a claim on one that is due.
SELECT least(
    (
        SELECT s.run_after FROM notification.notification_scheduled AS s
        WHERE s.processed_at IS NULL AND s.obsolete = false AND (s.claimed_until IS NULL OR s.claimed_until <= :now)
        ORDER BY s.run_after
        LIMIT 1
    ),
    (
        SELECT min(s.claimed_until) FROM notification.notification_scheduled AS s
        WHERE s.run_after <= :now AND s.processed_at IS NULL AND s.obsolete = false AND s.claimed_until > :now
    )
);

-- name: release
-- From the schedule into the queue, both in one statement, of many tenants; what was made obsolete meanwhile stays where it
-- is. What is planned and has no notification yet comes back, locked in one order.
WITH given AS (
    SELECT tenant_id, id FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
), released AS (
    UPDATE notification.notification_scheduled AS s
    SET processed_at = :now, claimed_by = NULL, claimed_until = NULL, updated_at = :now
    FROM given
    WHERE s.tenant_id = given.tenant_id AND s.id = given.id AND s.notification_id IS NOT NULL
      AND s.processed_at IS NULL AND s.obsolete = false
    RETURNING s.tenant_id, s.notification_id, s.priority
), queued AS (
    INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight)
    SELECT released.tenant_id, released.notification_id,
           CASE released.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'normal' THEN 2 ELSE 3 END, tenant.weight
    FROM released
    JOIN notification.tenants_local AS tenant ON tenant.tenant_id = released.tenant_id
    ORDER BY released.tenant_id, released.notification_id
    ON CONFLICT (tenant_id, notification_id) DO NOTHING
)
SELECT s.tenant_id, s.id, s.run_after, s.recipient_id, s.payload_ciphertext AS payload, s.trigger_id, s.trigger_version,
       s.template_key, s.channel, s.priority, s.source_event_id, s.event_type, s.event_source, s.event_subject, s.event_time,
       s.anchor, s.anchor_offset, s.local_time, s.zone, s.is_test, s.attempt_count, s.failed_at, s.last_error
FROM given
JOIN notification.notification_scheduled AS s ON s.tenant_id = given.tenant_id AND s.id = given.id
WHERE s.notification_id IS NULL AND s.payload_ciphertext IS NOT NULL AND s.run_after <= :now
  AND s.processed_at IS NULL AND s.obsolete = false
ORDER BY s.tenant_id, s.id
FOR UPDATE OF s;

-- name: move_planned
-- The person is in another time zone by now: it is due at another moment.
UPDATE notification.notification_scheduled AS s
SET run_after = moved.run_after, zone = moved.zone, claimed_by = NULL, claimed_until = NULL, updated_at = :now
FROM unnest(:tenant_ids::text[], :ids::text[], :run_afters::timestamptz[], :zones::text[])
    AS moved (tenant_id, id, run_after, zone)
WHERE s.tenant_id = moved.tenant_id AND s.id = moved.id;

-- name: hold_attempt
-- How often it has failed before; nothing where somebody else has dealt with it.
SELECT s.attempt_count, s.source_event_id FROM notification.notification_scheduled AS s
WHERE s.tenant_id = :tenant_id AND s.id = :id AND s.processed_at IS NULL AND s.obsolete = false
FOR UPDATE;

-- name: put_off
-- It failed, and is tried again later.
UPDATE notification.notification_scheduled
SET attempt_count = attempt_count + 1, last_error = :error, run_after = :run_after, claimed_by = NULL, claimed_until = NULL,
    updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id;

-- name: sweep_done
-- What waited for its notification and is over is not needed any more; about so many at a time.
DELETE FROM notification.notification_scheduled
WHERE trigger_id IS NULL AND processed_at <= (
    SELECT max(oldest.processed_at)
    FROM (
        SELECT processed_at FROM notification.notification_scheduled
        WHERE processed_at IS NOT NULL AND trigger_id IS NULL AND processed_at <= :before ORDER BY processed_at LIMIT :limit
    ) AS oldest
);

-- name: sweep_planned
-- The same for what was planned, which is kept for longer.
DELETE FROM notification.notification_scheduled
WHERE trigger_id IS NOT NULL AND processed_at <= (
    SELECT max(oldest.processed_at)
    FROM (
        SELECT processed_at FROM notification.notification_scheduled
        WHERE processed_at IS NOT NULL AND trigger_id IS NOT NULL AND processed_at <= :before ORDER BY processed_at LIMIT :limit
    ) AS oldest
);
