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

-- name: reconsider_local_times
-- What is planned by the clocks where these people are is due now: whoever takes it out reckons its time anew, and puts it
-- back where that is ahead.
WITH planned AS MATERIALIZED (
    SELECT s.id FROM notification.notification_scheduled AS s
    WHERE s.tenant_id = :tenant_id AND s.recipient_id = ANY (:recipient_ids::text[]) AND s.payload_ciphertext IS NOT NULL
      AND s.zone IS NOT NULL AND s.processed_at IS NULL AND s.obsolete = false AND s.run_after > :now
    ORDER BY s.id
    FOR UPDATE
)
UPDATE notification.notification_scheduled AS s
SET run_after = :now, updated_at = :now
FROM planned
WHERE s.tenant_id = :tenant_id AND s.id = planned.id;
