-- name: release_notification
-- It is due now, and the gates know by its trace that it does not wait for quiet hours any more. The notification first and its
-- appointment after it, as when one is cancelled.
WITH waiting AS (
    SELECT n.id FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = :id AND n.status = 'scheduled'
    FOR UPDATE
), marked AS (
    UPDATE notification.notifications AS n
    SET decision_trace = CASE WHEN strpos(coalesce(n.decision_trace, ''), :mark) > 0 THEN n.decision_trace
                              ELSE concat_ws(';', nullif(n.decision_trace, ''), CAST(:mark AS text)) END,
        updated_at = :now, version = n.version + 1
    FROM waiting
    WHERE n.tenant_id = :tenant_id AND n.created_at = :created_at AND n.id = waiting.id
    RETURNING n.id
), due AS (
    UPDATE notification.notification_scheduled AS s SET run_after = :now, updated_at = :now
    FROM marked
    WHERE s.tenant_id = :tenant_id AND s.notification_id = marked.id AND s.processed_at IS NULL AND NOT s.obsolete
      AND s.run_after > :now
)
SELECT id FROM marked;
