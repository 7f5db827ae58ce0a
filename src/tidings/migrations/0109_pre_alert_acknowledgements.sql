-- tidings: oldest-release=0.1.0
-- Operators acknowledge alerts, the platform's too, and take it back; a category is muted for a time.
-- Nobody has written alert_ack_log yet.
-- squawk-ignore-file ban-drop-constraint, ban-drop-not-null, constraint-missing-not-valid, adding-serial-primary-key-field

ALTER TABLE bff_backoffice.alert_ack_log DROP CONSTRAINT IF EXISTS pk_alert_ack_log;
ALTER TABLE bff_backoffice.alert_ack_log ALTER COLUMN tenant_id DROP NOT NULL;
ALTER TABLE bff_backoffice.alert_ack_log ADD CONSTRAINT pk_alert_ack_log PRIMARY KEY (alert_id, acknowledged_by);
ALTER TABLE bff_backoffice.alert_ack_log ADD COLUMN IF NOT EXISTS withdrawn_at TIMESTAMPTZ;
COMMENT ON TABLE bff_backoffice.alert_ack_log IS
    'Who acknowledged which alert, once each; 365 days. tenant_id null: an alert of the platform.';
COMMENT ON COLUMN bff_backoffice.alert_ack_log.withdrawn_at IS 'When they took it back; null again if they acknowledge once more.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_ack_log',
    'SELECT, INSERT, UPDATE (acknowledged_at, device_id, note_id, withdrawn_at)');
CALL kernel.open_to_platform('bff_backoffice.alert_ack_log',
    'SELECT, INSERT, UPDATE (acknowledged_at, device_id, note_id, withdrawn_at)', true);
CALL kernel.narrow_by_caller_role('bff_backoffice.alert_ack_log');

CREATE TABLE IF NOT EXISTS bff_backoffice.alert_mutes (
    tenant_id   TEXT COLLATE "C",
    category    TEXT COLLATE "C" NOT NULL,
    muted_until TIMESTAMPTZ NOT NULL,
    muted_by    TEXT COLLATE "C" NOT NULL,
    muted_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_alert_mutes_category UNIQUE NULLS NOT DISTINCT (tenant_id, category)
);
ALTER TABLE bff_backoffice.alert_mutes REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_alert_mutes_until ON bff_backoffice.alert_mutes (muted_until);
COMMENT ON TABLE bff_backoffice.alert_mutes IS 'Categories of alerts of which nobody is told until then. tenant_id null: the platform''s own.';
COMMENT ON COLUMN bff_backoffice.alert_mutes.muted_by IS 'Not personal: an operator''s id.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_mutes', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_platform('bff_backoffice.alert_mutes', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_worker('bff_backoffice.alert_mutes', 'SELECT (tenant_id, category, muted_until), DELETE');

-- How many are open is remembered by every process until it changes.
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.alerts;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OF status, severity OR DELETE ON bff_backoffice.alerts
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.alert_mutes;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON bff_backoffice.alert_mutes
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CALL kernel.assert_protected();
