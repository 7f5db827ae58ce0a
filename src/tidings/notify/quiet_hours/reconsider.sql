-- name: reconsider_quiet
-- What waits for the end of a quiet time is decided anew now: it goes, or waits for the end that holds by now. Locked in one
-- order; those of all recipients where none is named.
WITH waiting AS MATERIALIZED (
    SELECT s.id FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.kind = 'quiet_hours' AND s.processed_at IS NULL AND s.obsolete = false
      AND s.run_after > :now
      AND (CAST(:recipient_ids AS text[]) IS NULL OR s.recipient_id = ANY (:recipient_ids::text[]))
    ORDER BY s.id
    FOR UPDATE
)
UPDATE notification.notification_scheduled AS s
SET run_after = :now, updated_at = :now
FROM waiting
WHERE s.tenant_id = :tenant_id AND s.id = waiting.id;
