-- Emergency only: undoes 0080_pre_planned_work. What is planned is never sent, with the ledger of what events led to.
DROP TABLE IF EXISTS notification.trigger_firings;
ALTER TABLE notification.notification_scheduled
    DROP COLUMN IF EXISTS trigger_id,
    DROP COLUMN IF EXISTS trigger_version,
    DROP COLUMN IF EXISTS template_key,
    DROP COLUMN IF EXISTS channel,
    DROP COLUMN IF EXISTS event_type,
    DROP COLUMN IF EXISTS event_source,
    DROP COLUMN IF EXISTS event_subject,
    DROP COLUMN IF EXISTS event_time,
    DROP COLUMN IF EXISTS anchor,
    DROP COLUMN IF EXISTS anchor_offset,
    DROP COLUMN IF EXISTS local_time,
    DROP COLUMN IF EXISTS zone,
    DROP COLUMN IF EXISTS is_test,
    DROP COLUMN IF EXISTS failed_at,
    DROP COLUMN IF EXISTS obsolete_reason,
    DROP COLUMN IF EXISTS obsolete_event_id;
COMMENT ON COLUMN notification.notification_scheduled.kind IS
    'quiet_hours, rate_limit, scheduled_send, or what a trigger plans: pre_arrival_reminder, dunning_step…';
COMMENT ON COLUMN notification.notification_scheduled.processed_at IS NULL;
COMMENT ON COLUMN notification.notification_scheduled.attempt_count IS NULL;
COMMENT ON COLUMN notification.notification_scheduled.payload_ciphertext IS
    'What to enqueue, when there is no notification yet. Under the recipient''s key, or the tenant''s where none is known.';
