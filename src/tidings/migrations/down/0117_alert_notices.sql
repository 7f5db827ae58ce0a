-- Emergency only: undoes 0117_pre_alert_notices. Nobody is told of alerts any more, and what operators chose is lost.
DROP TRIGGER IF EXISTS forget_alert_subscription ON bff_backoffice.operators;
DROP FUNCTION IF EXISTS bff_backoffice.forget_alert_subscription;
DROP TABLE IF EXISTS bff_backoffice.alert_notices;
DROP TABLE IF EXISTS bff_backoffice.alert_subscriptions;
CALL kernel.open_to_worker('notification.template_versions',
    'SELECT (tenant_id, id, template_id, status, source, approver_user_id, updated_at)');
