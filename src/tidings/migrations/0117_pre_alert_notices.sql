-- tidings: oldest-release=0.1.0
-- Operators are told of alerts by a notification, if they want to be: which severity, and where beside their mail.

CREATE TABLE IF NOT EXISTS bff_backoffice.alert_subscriptions (
    tenant_id        TEXT COLLATE "C",
    operator_id      TEXT COLLATE "C" NOT NULL,
    severity         TEXT COLLATE "C" NOT NULL,
    language         TEXT COLLATE "C" NOT NULL,
    phone_ciphertext BYTEA,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_alert_subscriptions PRIMARY KEY (operator_id),
    CONSTRAINT fk_alert_subscriptions_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators (id),
    CONSTRAINT ck_alert_subscriptions_severity CHECK (severity IN ('info', 'warning', 'critical'))
);
CREATE INDEX IF NOT EXISTS ix_alert_subscriptions_tenant ON bff_backoffice.alert_subscriptions (tenant_id, operator_id);
COMMENT ON TABLE bff_backoffice.alert_subscriptions IS
    'Operators who want to be told of alerts. tenant_id null: of the platform''s. Without a row nobody is told.';
COMMENT ON COLUMN bff_backoffice.alert_subscriptions.severity IS 'Alerts of this severity and graver ones.';
COMMENT ON COLUMN bff_backoffice.alert_subscriptions.phone_ciphertext IS 'A number for text messages, sealed under the operator''s own key.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_subscriptions', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_platform('bff_backoffice.alert_subscriptions', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_worker('bff_backoffice.alert_subscriptions', 'SELECT (tenant_id, operator_id, severity)');

-- Whoever is erased is told of nothing, and their number goes with them, whichever way the erasure came.
CREATE OR REPLACE FUNCTION bff_backoffice.forget_alert_subscription() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM bff_backoffice.alert_subscriptions WHERE operator_id = new.id;
    RETURN NULL;
END;
$$;
COMMENT ON FUNCTION bff_backoffice.forget_alert_subscription IS 'Trigger: removes what an operator who is erased had chosen to be told of.';
REVOKE ALL ON FUNCTION bff_backoffice.forget_alert_subscription FROM PUBLIC;
DROP TRIGGER IF EXISTS forget_alert_subscription ON bff_backoffice.operators;
CREATE TRIGGER forget_alert_subscription AFTER UPDATE OF erased_at ON bff_backoffice.operators
    FOR EACH ROW WHEN (new.erased_at IS NOT NULL AND old.erased_at IS NULL)
    EXECUTE FUNCTION bff_backoffice.forget_alert_subscription();

CREATE TABLE IF NOT EXISTS bff_backoffice.alert_notices (
    tenant_id   TEXT COLLATE "C",
    operator_id TEXT COLLATE "C" NOT NULL,
    dedup_key   TEXT COLLATE "C" NOT NULL,
    alert_id    TEXT COLLATE "C" NOT NULL,
    told_at     TIMESTAMPTZ NOT NULL,
    times       INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_alert_notices PRIMARY KEY (operator_id, dedup_key)
);
CREATE INDEX IF NOT EXISTS ix_alert_notices_told ON bff_backoffice.alert_notices (told_at);
COMMENT ON TABLE bff_backoffice.alert_notices IS 'Which operator was told of what, and when last, so that nobody is told twice of one outage; a month.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_notices', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('bff_backoffice.alert_notices', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('bff_backoffice.alert_notices', 'SELECT (tenant_id, operator_id, dedup_key, told_at), DELETE');

-- Whether a draft waits for its approver is asked by sets of tenants: templates are out of the worker's reach.
DROP POLICY IF EXISTS worker_claims ON notification.template_versions;
CALL kernel.set_grants('notification.template_versions', 'tidings_worker', '');

CALL kernel.assert_protected();
