-- Emergency only: undoes 0106_pre_ledgers_by_month. Rows of the ledgers are lost.
DROP TABLE IF EXISTS kernel.exported_months;
DROP TABLE IF EXISTS bff_backoffice.exports;
DROP TABLE IF EXISTS bff_backoffice.lock_actions;
DROP TABLE IF EXISTS bff_backoffice.ai_decision_keys;
DROP TABLE IF EXISTS bff_backoffice.lock_action_proxy_audit;
DROP TABLE IF EXISTS bff_backoffice.ai_decision_log;
DROP TABLE IF EXISTS bff_backoffice.operator_activity;
DELETE FROM kernel.partitioned_tables WHERE parent IN ('bff_backoffice.ai_decision_log', 'bff_backoffice.lock_action_proxy_audit');
UPDATE kernel.partitioned_tables SET keep = NULL WHERE parent = 'bff_backoffice.operator_activity';
ALTER TABLE kernel.partitioned_tables DROP COLUMN IF EXISTS after_export;

CREATE TABLE IF NOT EXISTS bff_backoffice.operator_activity (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    occurred_at   TIMESTAMPTZ NOT NULL,
    latency_ms    INTEGER,
    property_id   TEXT COLLATE "C",
    operator_id   TEXT COLLATE "C" NOT NULL,
    device_id     TEXT COLLATE "C" NOT NULL,
    session_id    TEXT COLLATE "C" NOT NULL,
    category      TEXT NOT NULL,
    action        TEXT COLLATE "C" NOT NULL,
    resource_kind TEXT,
    resource_id   TEXT COLLATE "C",
    outcome       TEXT NOT NULL,
    error_code    TEXT,
    context_hash  TEXT COLLATE "C",
    CONSTRAINT pk_operator_activity PRIMARY KEY (tenant_id, occurred_at, id),
    CONSTRAINT ck_operator_activity_id CHECK (id LIKE 'act\_%' AND length(id) = 30)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_operator_activity_operator
    ON bff_backoffice.operator_activity (tenant_id, operator_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_operator_activity_action
    ON bff_backoffice.operator_activity (tenant_id, action, occurred_at DESC);
COMMENT ON TABLE bff_backoffice.operator_activity IS 'Append-only ledger of what operators did; 90 days, then exported and dropped by month.';
COMMENT ON COLUMN bff_backoffice.operator_activity.occurred_at IS 'The time inside the id.';
COMMENT ON COLUMN bff_backoffice.operator_activity.resource_id IS 'An id, never a name.';
CALL kernel.protect_tenant_table('bff_backoffice.operator_activity', 'SELECT, INSERT', any_role_writes => true);
CALL kernel.make_append_only('bff_backoffice.operator_activity');

CREATE TABLE IF NOT EXISTS bff_backoffice.ai_decision_log (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    property_id     TEXT COLLATE "C",
    suggestion_id   TEXT COLLATE "C" NOT NULL,
    inbox_entry_id  TEXT COLLATE "C" NOT NULL,
    category        TEXT NOT NULL,
    severity        TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    modified_delta  TEXT,
    notes_truncated TEXT,
    decided_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    decided_by      TEXT COLLATE "C" NOT NULL,
    device_id       TEXT COLLATE "C" NOT NULL,
    provenance      TEXT NOT NULL,
    CONSTRAINT pk_ai_decision_log PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_ai_decision_log_decision UNIQUE (tenant_id, suggestion_id, decided_by),
    CONSTRAINT ck_ai_decision_log_id CHECK (id ~ '^sdl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_ai_decision_log_outcome CHECK (outcome IN ('accepted', 'rejected', 'modified')),
    CONSTRAINT ck_ai_decision_log_notes CHECK (length(notes_truncated) <= 200)
);
CREATE INDEX IF NOT EXISTS ix_ai_decision_log_time ON bff_backoffice.ai_decision_log (tenant_id, decided_at DESC);
COMMENT ON TABLE bff_backoffice.ai_decision_log IS 'Append-only: what people decided about AI suggestions, with provenance; 7 years.';
COMMENT ON COLUMN bff_backoffice.ai_decision_log.modified_delta IS 'JSON: what was changed before accepting.';
CALL kernel.protect_tenant_table('bff_backoffice.ai_decision_log', 'SELECT, INSERT');
CALL kernel.make_append_only('bff_backoffice.ai_decision_log');

CREATE TABLE IF NOT EXISTS bff_backoffice.lock_action_proxy_audit (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    property_id         TEXT COLLATE "C" NOT NULL,
    operator_id         TEXT COLLATE "C" NOT NULL,
    device_id           TEXT COLLATE "C" NOT NULL,
    reservation_id      TEXT COLLATE "C" NOT NULL,
    action              TEXT NOT NULL,
    vendor              TEXT NOT NULL,
    occurred_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    outcome             TEXT NOT NULL,
    error_code          TEXT,
    mfa_attestation_id  TEXT COLLATE "C" NOT NULL,
    upstream_request_id TEXT COLLATE "C" NOT NULL,
    upstream_latency_ms INTEGER NOT NULL,
    CONSTRAINT pk_lock_action_proxy_audit PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_lock_action_proxy_audit_id CHECK (id ~ '^lap_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_lock_action_proxy_audit_action CHECK (action IN ('issue', 'revoke', 'rebind', 'extend')),
    CONSTRAINT ck_lock_action_proxy_audit_outcome CHECK (outcome IN ('success', 'failure'))
);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_time
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_property
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, property_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_operator
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, operator_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_reservation
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, reservation_id, occurred_at DESC);
COMMENT ON TABLE bff_backoffice.lock_action_proxy_audit IS 'Append-only: lock actions passed on to the lock service, each with its MFA attestation; 7 years.';
CALL kernel.protect_tenant_table('bff_backoffice.lock_action_proxy_audit', 'SELECT, INSERT');
CALL kernel.make_append_only('bff_backoffice.lock_action_proxy_audit');
CALL kernel.assert_protected();
