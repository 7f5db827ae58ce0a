-- Emergency only: undoes 0026_pre_backoffice_ledgers. Rows are lost.

DELETE FROM kernel.partitioned_tables WHERE parent IN (
    'bff_backoffice.operator_activity'
);
DROP TABLE IF EXISTS bff_backoffice.offline_action_queue_hints;
DROP TABLE IF EXISTS bff_backoffice.lock_action_proxy_audit;
DROP TABLE IF EXISTS bff_backoffice.ai_decision_log;
DROP TABLE IF EXISTS bff_backoffice.alert_ack_log;
DROP TABLE IF EXISTS bff_backoffice.operator_activity;
DROP TABLE IF EXISTS bff_backoffice.operator_preferences;
DROP TABLE IF EXISTS bff_backoffice.device_sync_status;
