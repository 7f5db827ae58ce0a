-- tidings: oldest-release=0.1.0
-- What a tenant means to spend on messages in a month: an alert says when it is nearly spent. Nothing is held back by it.

CREATE TABLE IF NOT EXISTS bff_backoffice.alert_budgets (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    currency   TEXT COLLATE "C" NOT NULL,
    micros     BIGINT NOT NULL,
    set_by     TEXT COLLATE "C" NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_alert_budgets PRIMARY KEY (tenant_id, currency),
    CONSTRAINT ck_alert_budgets_currency CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT ck_alert_budgets_micros CHECK (micros > 0)
);
COMMENT ON TABLE bff_backoffice.alert_budgets IS 'What a tenant means to spend in a month, by currency; an alert says when it is nearly spent.';
COMMENT ON COLUMN bff_backoffice.alert_budgets.set_by IS 'Not personal: an operator''s id.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_budgets', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_worker('bff_backoffice.alert_budgets', 'SELECT (tenant_id)');

CALL kernel.assert_protected();
