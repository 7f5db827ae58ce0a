-- Emergency only: undoes 0109_pre_alert_acknowledgements. Mutes and acknowledgements of the platform's alerts are lost.
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.alerts;
DROP TABLE IF EXISTS bff_backoffice.alert_mutes;
DROP POLICY IF EXISTS platform_access ON bff_backoffice.alert_ack_log;
CALL kernel.set_grants('bff_backoffice.alert_ack_log', 'tidings_platform', NULL);
CALL kernel.set_policy('bff_backoffice.alert_ack_log', 'down', 'FOR ALL TO tidings_owner USING (true)');
DELETE FROM bff_backoffice.alert_ack_log WHERE tenant_id IS NULL OR withdrawn_at IS NOT NULL;
DROP POLICY down ON bff_backoffice.alert_ack_log;
ALTER TABLE bff_backoffice.alert_ack_log DROP COLUMN IF EXISTS withdrawn_at;
ALTER TABLE bff_backoffice.alert_ack_log DROP CONSTRAINT IF EXISTS pk_alert_ack_log;
ALTER TABLE bff_backoffice.alert_ack_log ALTER COLUMN tenant_id SET NOT NULL;
ALTER TABLE bff_backoffice.alert_ack_log ADD CONSTRAINT pk_alert_ack_log PRIMARY KEY (tenant_id, alert_id, acknowledged_by);
CALL kernel.protect_tenant_table('bff_backoffice.alert_ack_log', 'SELECT, INSERT');
