-- name: cancel_notification
-- The queue's row goes first and the notification's after it, in the order in which a worker's turn takes them: the two wait
-- for each other and never crosswise. Whoever hands it over just now, or has, wins: no row back, and it was not
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
    RETURNING n.id, n.channel, n.category, waiting.status AS before
), left_schedule AS (
    UPDATE notification.notification_scheduled AS s SET obsolete = true, processed_at = :now, updated_at = :now
    FROM cancelled
    WHERE s.tenant_id = :tenant_id AND s.notification_id = cancelled.id AND s.processed_at IS NULL
      AND NOT s.obsolete
), counted AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, 'cancelled', cancelled.channel, cancelled.category, 1
    FROM cancelled
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT cancelled.before FROM cancelled;
