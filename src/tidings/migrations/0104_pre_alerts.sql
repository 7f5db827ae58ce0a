-- tidings: oldest-release=0.1.0
-- Alerts: what operators have to know of, until it is over. Whoever raises one does so in its own transaction.

CREATE TABLE IF NOT EXISTS bff_backoffice.alerts (
    id              TEXT COLLATE "C" NOT NULL,
    tenant_id       TEXT COLLATE "C",
    dedup_key       TEXT COLLATE "C" NOT NULL,
    category        TEXT COLLATE "C" NOT NULL,
    severity        TEXT COLLATE "C" NOT NULL,
    property_id     TEXT COLLATE "C",
    source          TEXT COLLATE "C" NOT NULL,
    facts           TEXT NOT NULL DEFAULT '{}',
    status          TEXT COLLATE "C" NOT NULL DEFAULT 'raised',
    raised_at       TIMESTAMPTZ NOT NULL,
    last_seen_at    TIMESTAMPTZ NOT NULL,
    times_seen      INTEGER NOT NULL DEFAULT 1,
    acknowledged_at TIMESTAMPTZ,
    resolved_at     TIMESTAMPTZ,
    resolved_by     TEXT COLLATE "C",
    CONSTRAINT pk_alerts PRIMARY KEY (id),
    CONSTRAINT ck_alerts_id CHECK (id ~ '^ali_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_alerts_severity CHECK (severity IN ('info', 'warning', 'critical')),
    CONSTRAINT ck_alerts_status CHECK (status IN ('raised', 'acknowledged', 'resolved')),
    CONSTRAINT ck_alerts_acknowledged CHECK (status <> 'acknowledged' OR acknowledged_at IS NOT NULL),
    CONSTRAINT ck_alerts_resolved CHECK (
        (status = 'resolved') = (resolved_at IS NOT NULL) AND (status = 'resolved') = (resolved_by IS NOT NULL))
);
-- One that is open is raised once, however many processes see its cause.
CREATE UNIQUE INDEX IF NOT EXISTS ux_alerts_open ON bff_backoffice.alerts (tenant_id, dedup_key) NULLS NOT DISTINCT
    WHERE resolved_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_alerts_tenant ON bff_backoffice.alerts (tenant_id, id);
CREATE INDEX IF NOT EXISTS ix_alerts_open ON bff_backoffice.alerts (tenant_id, id) WHERE resolved_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_alerts_resolved ON bff_backoffice.alerts (resolved_at) WHERE resolved_at IS NOT NULL;
COMMENT ON TABLE bff_backoffice.alerts IS 'What operators have to know of: raised, acknowledged, resolved. tenant_id null: the platform''s own. 365 days after the end.';
COMMENT ON COLUMN bff_backoffice.alerts.dedup_key IS 'Of two open alerts of one key there is one; after its end the next is a new row.';
COMMENT ON COLUMN bff_backoffice.alerts.source IS 'Not personal: the part of Tidings that raised it.';
COMMENT ON COLUMN bff_backoffice.alerts.facts IS 'JSON: ids and numbers. What it says to a person is made of category and facts when it is shown.';
COMMENT ON COLUMN bff_backoffice.alerts.acknowledged_at IS 'When the first operator did; all of them are in alert_ack_log.';
COMMENT ON COLUMN bff_backoffice.alerts.resolved_by IS 'Not personal: an operator''s id, or the part of Tidings that saw the end.';
-- What happens while a viewer is at work is raised too.
CALL kernel.protect_tenant_table('bff_backoffice.alerts', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('bff_backoffice.alerts', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('bff_backoffice.alerts',
    'SELECT (tenant_id, id, dedup_key, category, severity, source, status, raised_at, last_seen_at, resolved_at), DELETE');

CALL kernel.assert_protected();
