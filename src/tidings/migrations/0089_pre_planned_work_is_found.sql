-- tidings: transaction=off
-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts, ban-drop-index, require-concurrent-index-deletion
-- What is planned about a subject is found among what is still planned, and what came of it among the lines that count:
-- however often somebody tells of one thing, an event about it costs the same.

-- tidings: online
CREATE INDEX ix_notification_scheduled_planned_subject ON notification.notification_scheduled
    (tenant_id, trigger_id, event_source, event_subject) WHERE trigger_id IS NOT NULL AND payload_ciphertext IS NOT NULL;
DROP INDEX IF EXISTS notification.ix_notification_scheduled_subject;
-- tidings: online
CREATE INDEX ix_trigger_firings_told ON notification.trigger_firings
    (tenant_id, trigger_id, event_source, event_subject, id DESC)
    WHERE event_subject IS NOT NULL AND (recipient_id IS NOT NULL OR result = 'cleared' OR reason = 'condition_not_met');
DROP INDEX IF EXISTS notification.ix_trigger_firings_subject;

-- The filters of the two lists that name one thing out of many; all others walk through a bounded number of rows.
-- tidings: online
CREATE INDEX ix_notification_scheduled_about ON notification.notification_scheduled (tenant_id, event_subject, id DESC)
    WHERE event_subject IS NOT NULL;
-- tidings: online
CREATE INDEX ix_notification_scheduled_recipient ON notification.notification_scheduled (tenant_id, recipient_id, id DESC)
    WHERE recipient_id IS NOT NULL;
-- tidings: online
CREATE INDEX ix_notification_scheduled_failed ON notification.notification_scheduled (tenant_id, id) WHERE failed_at IS NOT NULL;
-- tidings: online
CREATE INDEX ix_trigger_firings_failed ON notification.trigger_firings (tenant_id, id) WHERE result = 'failed';
