-- tidings: transaction=off
-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts
-- Planned work is found by what its event is about and by its person, and is kept for longer than what waited for its notification. A tenant's
-- admins are found among its recipients.

-- tidings: online
CREATE INDEX ix_notification_scheduled_subject ON notification.notification_scheduled
    (tenant_id, trigger_id, event_source, event_subject) WHERE trigger_id IS NOT NULL;

-- tidings: online
CREATE INDEX ix_notification_scheduled_payload ON notification.notification_scheduled (tenant_id, recipient_id)
    WHERE payload_ciphertext IS NOT NULL;

-- tidings: online
CREATE INDEX ix_notification_scheduled_over ON notification.notification_scheduled (processed_at)
    WHERE processed_at IS NOT NULL AND trigger_id IS NULL;

-- tidings: online
CREATE INDEX ix_notification_scheduled_planned_over ON notification.notification_scheduled (processed_at)
    WHERE processed_at IS NOT NULL AND trigger_id IS NOT NULL;

-- tidings: online
CREATE INDEX ix_recipients_tenant_admins ON notification.recipients (tenant_id, id) WHERE tags @> ARRAY['tenant_admin'];

-- squawk-ignore ban-drop-index, require-concurrent-index-deletion
DROP INDEX IF EXISTS notification.ix_notification_scheduled_done;
