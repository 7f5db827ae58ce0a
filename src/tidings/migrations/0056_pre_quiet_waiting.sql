-- tidings: oldest-release=0.1.0
-- Whose quiet hours change is looked at again at once: what waits for them is found by recipient.
-- Of the schedule's rows only those that wait for the end of a quiet time are in it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_quiet ON notification.notification_scheduled (tenant_id, recipient_id)
    WHERE kind = 'quiet_hours' AND processed_at IS NULL AND obsolete = false;
