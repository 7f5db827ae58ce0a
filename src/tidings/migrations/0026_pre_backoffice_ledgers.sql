-- Ledgers and mirrors of the back office. Ids of operators, properties, devices and reservations are other
-- systems' ids. No domain data, no names.

CREATE TABLE IF NOT EXISTS bff_backoffice.device_sync_status (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    device_id              TEXT COLLATE "C" NOT NULL,
    property_id            TEXT COLLATE "C",
    operator_id            TEXT COLLATE "C",
    last_heartbeat_at      TIMESTAMPTZ,
    last_sync_handshake_at TIMESTAMPTZ,
    last_pull_cursor       TEXT,
    last_push_ack          TEXT,
    cursor_version         INTEGER NOT NULL DEFAULT 0,
    app_version            TEXT,
    app_platform           TEXT,
    installer_channel      TEXT NOT NULL DEFAULT 'stable',
    network_profile        TEXT,
    status                 TEXT NOT NULL DEFAULT 'online',
    pending_hints          JSONB NOT NULL DEFAULT '[]'::jsonb,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_device_sync_status PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_device_sync_status_device UNIQUE (tenant_id, device_id),
    CONSTRAINT ck_device_sync_status_id CHECK (id ~ '^dsy_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_device_sync_status_status CHECK (status IN ('online', 'offline'))
);
CREATE INDEX IF NOT EXISTS ix_device_sync_status_heartbeat
    ON bff_backoffice.device_sync_status (status, last_heartbeat_at DESC);
COMMENT ON TABLE bff_backoffice.device_sync_status IS 'Heartbeat and sync cursors of each operator device.';
CALL kernel.protect_tenant_table('bff_backoffice.device_sync_status', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('bff_backoffice.device_sync_status', 'SELECT (tenant_id, id, device_id, status, last_heartbeat_at)');

CREATE TABLE IF NOT EXISTS bff_backoffice.operator_preferences (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    id          TEXT COLLATE "C" NOT NULL,
    operator_id TEXT COLLATE "C" NOT NULL,
    property_id TEXT COLLATE "C",
    payload     TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_operator_preferences PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_operator_preferences_operator UNIQUE NULLS NOT DISTINCT (tenant_id, operator_id, property_id),
    CONSTRAINT ck_operator_preferences_id CHECK (id ~ '^opr_[0-9A-HJKMNP-TV-Z]{26}$')
);
COMMENT ON TABLE bff_backoffice.operator_preferences IS 'Mirror of operators'' preferences, with versions.';
COMMENT ON COLUMN bff_backoffice.operator_preferences.property_id IS 'Null: for all properties.';
CALL kernel.protect_tenant_table('bff_backoffice.operator_preferences', 'SELECT, INSERT, UPDATE, DELETE');

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

CREATE TABLE IF NOT EXISTS bff_backoffice.alert_ack_log (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    alert_id        TEXT COLLATE "C" NOT NULL,
    acknowledged_by TEXT COLLATE "C" NOT NULL,
    property_id     TEXT COLLATE "C",
    category        TEXT NOT NULL,
    severity        TEXT NOT NULL,
    raised_at       TIMESTAMPTZ NOT NULL,
    acknowledged_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    device_id       TEXT COLLATE "C" NOT NULL,
    notes_truncated TEXT,
    CONSTRAINT pk_alert_ack_log PRIMARY KEY (tenant_id, alert_id, acknowledged_by),
    CONSTRAINT ck_alert_ack_log_notes CHECK (length(notes_truncated) <= 200)
);
CREATE INDEX IF NOT EXISTS ix_alert_ack_log_time ON bff_backoffice.alert_ack_log (tenant_id, acknowledged_at DESC);
COMMENT ON TABLE bff_backoffice.alert_ack_log IS 'Who acknowledged which alert, once each; 365 days.';
CALL kernel.protect_tenant_table('bff_backoffice.alert_ack_log', 'SELECT, INSERT');
CALL kernel.open_to_worker('bff_backoffice.alert_ack_log',
    'SELECT (tenant_id, alert_id, acknowledged_by, acknowledged_at), DELETE');

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
COMMENT ON TABLE bff_backoffice.ai_decision_log IS 'Append-only: what people decided about AI suggestions, with provenance; 7 years.';
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
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_property
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, property_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_operator
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, operator_id, occurred_at DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_reservation
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, reservation_id, occurred_at DESC);
COMMENT ON TABLE bff_backoffice.lock_action_proxy_audit IS 'Append-only: lock actions passed on to the lock service, each with its MFA attestation; 7 years.';
CALL kernel.protect_tenant_table('bff_backoffice.lock_action_proxy_audit', 'SELECT, INSERT');
CALL kernel.make_append_only('bff_backoffice.lock_action_proxy_audit');

CREATE TABLE IF NOT EXISTS bff_backoffice.offline_action_queue_hints (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    id          TEXT COLLATE "C" NOT NULL,
    device_id   TEXT COLLATE "C" NOT NULL,
    operator_id TEXT COLLATE "C" NOT NULL,
    reported_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    payload     TEXT NOT NULL,
    app_version TEXT NOT NULL,
    CONSTRAINT pk_offline_action_queue_hints PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_offline_action_queue_hints_id CHECK (id ~ '^oaq_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_offline_action_queue_hints_device
    ON bff_backoffice.offline_action_queue_hints (tenant_id, device_id, reported_at DESC);
CREATE INDEX IF NOT EXISTS ix_offline_action_queue_hints_time
    ON bff_backoffice.offline_action_queue_hints (reported_at);
COMMENT ON TABLE bff_backoffice.offline_action_queue_hints IS 'What a device says it has queued while offline; informational, 7 days.';
COMMENT ON COLUMN bff_backoffice.offline_action_queue_hints.payload IS 'JSON: kinds, counts and ids.';
CALL kernel.protect_tenant_table('bff_backoffice.offline_action_queue_hints', 'SELECT, INSERT');
CALL kernel.open_to_worker('bff_backoffice.offline_action_queue_hints', 'SELECT (tenant_id, id, reported_at), DELETE');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column) VALUES
    ('bff_backoffice.operator_activity', 'backoffice', 'month', 3, 'occurred_at')
ON CONFLICT (parent) DO NOTHING;
