-- tidings: oldest-release=0.1.0
-- No release has written the three ledgers that are made anew here.
-- squawk-ignore-file ban-drop-table, constraint-missing-not-valid, ban-drop-constraint, prefer-bigint-over-smallint
-- Ledgers of the back office that are kept for years are split by month, so that a month goes as a whole once it is exported.
-- The activity of the platform's own operators has no tenant.

-- Only the tables of before, which have no status, or no months: run twice, this file takes nothing away.
DO $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass('bff_backoffice.operator_activity') AND attname = 'status'
    ) THEN
        DROP TABLE IF EXISTS bff_backoffice.operator_activity;
    END IF;
END $$;
CREATE TABLE IF NOT EXISTS bff_backoffice.operator_activity (
    tenant_id     TEXT COLLATE "C",
    id            TEXT COLLATE "C" NOT NULL,
    occurred_at   TIMESTAMPTZ NOT NULL,
    property_id   TEXT COLLATE "C",
    operator_id   TEXT COLLATE "C" NOT NULL,
    device_id     TEXT COLLATE "C" NOT NULL,
    session_id    TEXT COLLATE "C" NOT NULL,
    category      TEXT COLLATE "C" NOT NULL,
    action        TEXT COLLATE "C" NOT NULL,
    resource_kind TEXT COLLATE "C",
    resource_id   TEXT COLLATE "C",
    outcome       TEXT COLLATE "C" NOT NULL,
    status        SMALLINT NOT NULL,
    error_code    TEXT COLLATE "C",
    latency_ms    INTEGER NOT NULL,
    context_hash  TEXT COLLATE "C",
    CONSTRAINT uq_operator_activity_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id),
    CONSTRAINT ck_operator_activity_id CHECK (id ~ '^act_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_operator_activity_outcome CHECK (outcome IN ('success', 'refused', 'failure'))
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_operator_activity_operator
    ON bff_backoffice.operator_activity (tenant_id, operator_id, occurred_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS ix_operator_activity_action
    ON bff_backoffice.operator_activity (tenant_id, action, occurred_at DESC, id DESC);
COMMENT ON TABLE bff_backoffice.operator_activity IS
    'Append-only: every request of an operator, refusals too. A month is dropped 90 to 120 days later, once it is exported. tenant_id null: the platform''s own.';
COMMENT ON COLUMN bff_backoffice.operator_activity.occurred_at IS 'The time inside the id.';
COMMENT ON COLUMN bff_backoffice.operator_activity.category IS 'Not personal: the group of operations in the API document, or console for a page.';
COMMENT ON COLUMN bff_backoffice.operator_activity.action IS 'Not personal: the operation, as the API document calls it.';
COMMENT ON COLUMN bff_backoffice.operator_activity.resource_id IS 'An id, never a name or an address.';
COMMENT ON COLUMN bff_backoffice.operator_activity.outcome IS 'refused: answered with 4xx; failure: with 5xx.';
COMMENT ON COLUMN bff_backoffice.operator_activity.latency_ms IS 'Until the answer stood; writing this row is not in it.';
COMMENT ON COLUMN bff_backoffice.operator_activity.context_hash IS 'Of the place and the browser that it came from, peppered: two rows with the same one came from the same.';
CALL kernel.make_append_only('bff_backoffice.operator_activity');
CALL kernel.protect_tenant_table('bff_backoffice.operator_activity', 'SELECT, INSERT', true);
CALL kernel.open_to_platform('bff_backoffice.operator_activity', 'SELECT, INSERT', true);
CALL kernel.open_to_sets('bff_backoffice.operator_activity');
-- Exports ask whose rows there are, and then read tenant by tenant.
CALL kernel.open_to_worker('bff_backoffice.operator_activity', 'SELECT (tenant_id, occurred_at)');

DO $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = to_regclass('bff_backoffice.ai_decision_log')) = 'r' THEN
        DROP TABLE bff_backoffice.ai_decision_log;
    END IF;
END $$;
CREATE TABLE IF NOT EXISTS bff_backoffice.ai_decision_log (
    tenant_id             TEXT COLLATE "C" NOT NULL,
    id                    TEXT COLLATE "C" NOT NULL,
    decided_at            TIMESTAMPTZ NOT NULL,
    property_id           TEXT COLLATE "C",
    suggestion_id         TEXT COLLATE "C" NOT NULL,
    inbox_entry_id        TEXT COLLATE "C" NOT NULL,
    category              TEXT COLLATE "C" NOT NULL,
    severity              TEXT COLLATE "C" NOT NULL,
    outcome               TEXT COLLATE "C" NOT NULL,
    decided_by            TEXT COLLATE "C" NOT NULL,
    device_id             TEXT COLLATE "C" NOT NULL,
    note_id               TEXT COLLATE "C",
    delta_ciphertext      BYTEA,
    provenance_ciphertext BYTEA NOT NULL,
    CONSTRAINT pk_ai_decision_log PRIMARY KEY (tenant_id, decided_at, id),
    CONSTRAINT ck_ai_decision_log_id CHECK (id ~ '^sdl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_ai_decision_log_outcome CHECK (outcome IN ('accepted', 'rejected', 'modified'))
) PARTITION BY RANGE (decided_at);
CREATE INDEX IF NOT EXISTS ix_ai_decision_log_suggestion ON bff_backoffice.ai_decision_log (tenant_id, suggestion_id, decided_at DESC);
COMMENT ON TABLE bff_backoffice.ai_decision_log IS 'Append-only: what people decided about AI suggestions, with provenance; 7 years, by month.';
COMMENT ON COLUMN bff_backoffice.ai_decision_log.decided_at IS 'The time inside the id.';
COMMENT ON COLUMN bff_backoffice.ai_decision_log.note_id IS 'In bff_backoffice.notes; null: without a note.';
COMMENT ON COLUMN bff_backoffice.ai_decision_log.delta_ciphertext IS 'JSON under the tenant''s key: what was changed before accepting; of modified ones.';
COMMENT ON COLUMN bff_backoffice.ai_decision_log.provenance_ciphertext IS 'JSON under the tenant''s key: where the suggestion came from.';
CALL kernel.make_append_only('bff_backoffice.ai_decision_log');
CALL kernel.protect_tenant_table('bff_backoffice.ai_decision_log', 'SELECT, INSERT');
CALL kernel.open_to_worker('bff_backoffice.ai_decision_log', 'SELECT (tenant_id, decided_at)');

-- A ledger that is split by time can't keep a decision from being made twice; this table can.
CREATE TABLE IF NOT EXISTS bff_backoffice.ai_decision_keys (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    suggestion_id TEXT COLLATE "C" NOT NULL,
    decided_by    TEXT COLLATE "C" NOT NULL,
    decision_id   TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_ai_decision_keys PRIMARY KEY (tenant_id, suggestion_id, decided_by)
);
COMMENT ON TABLE bff_backoffice.ai_decision_keys IS 'One decision of each operator on each suggestion: written before the row of ai_decision_log, in its transaction.';
CALL kernel.protect_tenant_table('bff_backoffice.ai_decision_keys', 'SELECT, INSERT');

DO $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = to_regclass('bff_backoffice.lock_action_proxy_audit')) = 'r' THEN
        DROP TABLE bff_backoffice.lock_action_proxy_audit;
    END IF;
END $$;
CREATE TABLE IF NOT EXISTS bff_backoffice.lock_action_proxy_audit (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    occurred_at         TIMESTAMPTZ NOT NULL,
    property_id         TEXT COLLATE "C" NOT NULL,
    operator_id         TEXT COLLATE "C" NOT NULL,
    device_id           TEXT COLLATE "C" NOT NULL,
    reservation_id      TEXT COLLATE "C" NOT NULL,
    action              TEXT COLLATE "C" NOT NULL,
    vendor              TEXT COLLATE "C",
    outcome             TEXT COLLATE "C" NOT NULL,
    error_code          TEXT COLLATE "C",
    mfa_attestation_id  TEXT COLLATE "C",
    upstream_request_id TEXT COLLATE "C" NOT NULL,
    upstream_latency_ms INTEGER NOT NULL,
    settles_id          TEXT COLLATE "C",
    CONSTRAINT pk_lock_action_proxy_audit PRIMARY KEY (tenant_id, occurred_at, id),
    CONSTRAINT ck_lock_action_proxy_audit_id CHECK (id ~ '^lap_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_lock_action_proxy_audit_action CHECK (action IN ('issue', 'revoke', 'rebind', 'extend')),
    CONSTRAINT ck_lock_action_proxy_audit_outcome CHECK (outcome IN ('success', 'failure', 'refused', 'unknown'))
) PARTITION BY RANGE (occurred_at);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_property
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, property_id, occurred_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_operator
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, operator_id, occurred_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS ix_lock_action_proxy_audit_reservation
    ON bff_backoffice.lock_action_proxy_audit (tenant_id, reservation_id, occurred_at DESC, id DESC);
COMMENT ON TABLE bff_backoffice.lock_action_proxy_audit IS
    'Append-only: lock actions that operators asked for, those that were refused or failed too; 7 years, by month.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.occurred_at IS 'The time inside the id.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.vendor IS 'Of the lock, as the lock service says; null: it was never learned.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.outcome IS
    'refused: by us, before the call; failure: by the lock service; unknown: its answer was not learned, and a later row settles it.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.mfa_attestation_id IS 'Null: refused, as there was none.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.upstream_request_id IS 'Ours, by which the lock service knows the request again.';
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.settles_id IS 'The row of outcome unknown whose end this one tells.';
CALL kernel.make_append_only('bff_backoffice.lock_action_proxy_audit');
CALL kernel.protect_tenant_table('bff_backoffice.lock_action_proxy_audit', 'SELECT, INSERT', true);
CALL kernel.open_to_worker('bff_backoffice.lock_action_proxy_audit', 'SELECT (tenant_id, occurred_at)');

-- What is under way at the lock service: written before the call and removed with the row of the audit.
CREATE TABLE IF NOT EXISTS bff_backoffice.lock_actions (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    property_id         TEXT COLLATE "C" NOT NULL,
    operator_id         TEXT COLLATE "C" NOT NULL,
    device_id           TEXT COLLATE "C" NOT NULL,
    reservation_id      TEXT COLLATE "C" NOT NULL,
    action              TEXT COLLATE "C" NOT NULL,
    mfa_attestation_id  TEXT COLLATE "C" NOT NULL,
    asked_at            TIMESTAMPTZ NOT NULL,
    unknown_id          TEXT COLLATE "C",
    due_at              TIMESTAMPTZ NOT NULL,
    attempts            INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT pk_lock_actions PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_lock_actions_id CHECK (id ~ '^lap_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_lock_actions_due ON bff_backoffice.lock_actions (due_at);
COMMENT ON TABLE bff_backoffice.lock_actions IS 'Lock actions whose end is not known yet; a job asks the lock service for those that are due.';
COMMENT ON COLUMN bff_backoffice.lock_actions.id IS 'The id of the row that the audit gets.';
COMMENT ON COLUMN bff_backoffice.lock_actions.unknown_id IS 'The row of the audit that says unknown; null: the process ended before it wrote one.';
CALL kernel.protect_tenant_table('bff_backoffice.lock_actions', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_worker('bff_backoffice.lock_actions', 'SELECT (tenant_id, id, due_at)');
CALL kernel.store_as_queue('bff_backoffice.lock_actions');

CREATE TABLE IF NOT EXISTS bff_backoffice.exports (
    tenant_id   TEXT COLLATE "C",
    id          TEXT COLLATE "C" NOT NULL,
    ledger      TEXT COLLATE "C" NOT NULL,
    part        INTEGER NOT NULL,
    month       DATE NOT NULL,
    from_at     TIMESTAMPTZ NOT NULL,
    until_at    TIMESTAMPTZ NOT NULL,
    object_key  TEXT COLLATE "C",
    rows        BIGINT,
    bytes       BIGINT,
    checksum    TEXT COLLATE "C",
    begun_at    TIMESTAMPTZ NOT NULL,
    verified_at TIMESTAMPTZ,
    CONSTRAINT uq_exports_id UNIQUE NULLS NOT DISTINCT (tenant_id, id),
    CONSTRAINT uq_exports_part UNIQUE NULLS NOT DISTINCT (tenant_id, ledger, part),
    CONSTRAINT ck_exports_id CHECK (id ~ '^exp_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_exports_time CHECK (from_at <= until_at),
    CONSTRAINT ck_exports_verified CHECK ((verified_at IS NULL) = (rows IS NULL))
);
ALTER TABLE bff_backoffice.exports REPLICA IDENTITY FULL;
COMMENT ON TABLE bff_backoffice.exports IS
    'The manifest of ledgers in Parquet: each part holds the rows of one tenant and one stretch of time; parts follow each other without gap or overlap. tenant_id null: the platform''s own.';
COMMENT ON COLUMN bff_backoffice.exports.part IS 'Counts from 1 within tenant and ledger, without gaps.';
COMMENT ON COLUMN bff_backoffice.exports.until_at IS 'Not in the part any more.';
COMMENT ON COLUMN bff_backoffice.exports.object_key IS 'In the blob store; null: there were no rows, or it is not verified.';
COMMENT ON COLUMN bff_backoffice.exports.verified_at IS 'When it was read back and found whole; null: it is being written, and begun anew by whoever comes next.';
CALL kernel.protect_tenant_table('bff_backoffice.exports', 'SELECT, INSERT, UPDATE (object_key, rows, bytes, checksum, verified_at)');
CALL kernel.open_to_platform('bff_backoffice.exports', 'SELECT, INSERT, UPDATE (object_key, rows, bytes, checksum, verified_at)', true);
CALL kernel.open_to_worker('bff_backoffice.exports', 'SELECT');

-- What the owner may drop.
CREATE TABLE IF NOT EXISTS kernel.exported_months (
    parent      TEXT COLLATE "C" NOT NULL,
    month       DATE NOT NULL,
    rows        BIGINT NOT NULL,
    verified_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_exported_months PRIMARY KEY (parent, month)
);
COMMENT ON TABLE kernel.exported_months IS 'Months of ledgers all rows of which stand in files that were read back: only these are dropped.';
CALL kernel.protect_platform_table('kernel.exported_months', 'SELECT');
CALL kernel.open_to_worker('kernel.exported_months', 'SELECT, INSERT');

ALTER TABLE kernel.partitioned_tables ADD COLUMN IF NOT EXISTS after_export BOOLEAN NOT NULL DEFAULT false;
COMMENT ON COLUMN kernel.partitioned_tables.after_export IS 'A month is dropped only once kernel.exported_months has it.';
UPDATE kernel.partitioned_tables SET keep = 3, after_export = true WHERE parent = 'bff_backoffice.operator_activity';
INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor, keep, after_export) VALUES
    ('bff_backoffice.ai_decision_log', 'backoffice', 'month', 3, 'decided_at', 100, 84, true),
    ('bff_backoffice.lock_action_proxy_audit', 'backoffice', 'month', 3, 'occurred_at', 100, 84, true)
ON CONFLICT (parent) DO NOTHING;

ALTER TABLE bff_backoffice.notes
    DROP CONSTRAINT IF EXISTS ck_notes_redacted,
    ADD CONSTRAINT ck_notes_redacted CHECK ((redacted_at IS NULL) = (redacted_by IS NULL)
        AND (redacted_at IS NULL OR text_ciphertext IS NULL));

CALL kernel.assert_protected();
