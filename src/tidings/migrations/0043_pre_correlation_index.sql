-- tidings: transaction=off
-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts
-- "I never got the mail for order A-77": a correlation id finds its notifications, the newest first, page by page. The index that was
-- there had no order, so one id of a large campaign was sorted whole for every page.

-- tidings: online
CREATE INDEX ix_notifications_correlated ON notification.notifications (tenant_id, correlation_id, created_at DESC, id DESC)
    WHERE correlation_id IS NOT NULL;

-- squawk-ignore ban-drop-index, require-concurrent-index-deletion
DROP INDEX IF EXISTS notification.ix_notifications_correlation;
