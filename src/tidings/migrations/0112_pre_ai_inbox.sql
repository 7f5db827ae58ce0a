-- tidings: oldest-release=0.1.0
-- The inbox of what an AI suggests: by the service `assistant`, and drafts of templates that wait for approval.

CREATE TABLE IF NOT EXISTS bff_backoffice.ai_inbox_places (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    property_id TEXT COLLATE "C" NOT NULL,
    pulled_at   TIMESTAMPTZ,
    CONSTRAINT pk_ai_inbox_places PRIMARY KEY (tenant_id, property_id)
);
COMMENT ON TABLE bff_backoffice.ai_inbox_places IS 'When the service `assistant` was asked last about a property.';
COMMENT ON COLUMN bff_backoffice.ai_inbox_places.pulled_at IS 'Null: it has said that something is different since.';
CALL kernel.protect_tenant_table('bff_backoffice.ai_inbox_places', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS bff_backoffice.ai_inbox_entries (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    source             TEXT COLLATE "C" NOT NULL,
    suggestion_id      TEXT COLLATE "C" NOT NULL,
    property_id        TEXT COLLATE "C",
    category           TEXT COLLATE "C" NOT NULL,
    severity           TEXT COLLATE "C" NOT NULL,
    status             TEXT COLLATE "C" NOT NULL DEFAULT 'open',
    content_ciphertext BYTEA NOT NULL,
    suggested_at       TIMESTAMPTZ NOT NULL,
    expires_at         TIMESTAMPTZ,
    decided_at         TIMESTAMPTZ,
    decided_by         TEXT COLLATE "C",
    closed_at          TIMESTAMPTZ,
    delivery           TEXT COLLATE "C",
    CONSTRAINT pk_ai_inbox_entries PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_ai_inbox_entries_suggestion UNIQUE NULLS NOT DISTINCT (tenant_id, source, property_id, suggestion_id),
    CONSTRAINT ck_ai_inbox_entries_id CHECK (id ~ '^aim_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_ai_inbox_entries_source CHECK (source IN ('assistant', 'template')),
    CONSTRAINT ck_ai_inbox_entries_severity CHECK (severity IN ('info', 'warning', 'critical')),
    CONSTRAINT ck_ai_inbox_entries_status CHECK (status IN ('open', 'accepted', 'rejected', 'modified', 'expired')),
    CONSTRAINT ck_ai_inbox_entries_delivery CHECK (delivery IN ('waiting', 'delivered', 'refused', 'dead')),
    CONSTRAINT ck_ai_inbox_entries_closed CHECK ((status = 'open') = (closed_at IS NULL)),
    CONSTRAINT ck_ai_inbox_entries_decided CHECK ((status IN ('accepted', 'rejected', 'modified')) = (decided_by IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS ix_ai_inbox_entries_expiry ON bff_backoffice.ai_inbox_entries (expires_at) WHERE status = 'open';
CREATE INDEX IF NOT EXISTS ix_ai_inbox_entries_closed ON bff_backoffice.ai_inbox_entries (closed_at) WHERE closed_at IS NOT NULL;
COMMENT ON TABLE bff_backoffice.ai_inbox_entries IS 'Suggestions of an AI, until some weeks after they were decided or expired.';
COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.property_id IS 'Null: it is about the whole tenant, such as the draft of a template.';
COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.content_ciphertext IS 'JSON under the tenant''s key: title, body, proposal, provenance.';
COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.delivery IS 'Whether the service that suggested it knows the decision; null: there is none to tell.';
CALL kernel.protect_tenant_table('bff_backoffice.ai_inbox_entries', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('bff_backoffice.ai_inbox_entries',
    'SELECT (tenant_id, id, status, expires_at, closed_at), UPDATE (status, closed_at), DELETE');

CREATE TABLE IF NOT EXISTS bff_backoffice.ai_decision_deliveries (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    entry_id   TEXT COLLATE "C" NOT NULL,
    status     TEXT COLLATE "C" NOT NULL DEFAULT 'waiting',
    due_at     TIMESTAMPTZ NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_error TEXT COLLATE "C",
    claimed_by TEXT COLLATE "C",
    CONSTRAINT pk_ai_decision_deliveries PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_ai_decision_deliveries_id CHECK (id ~ '^sdl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_ai_decision_deliveries_status CHECK (status IN ('waiting', 'dead'))
);
CREATE INDEX IF NOT EXISTS ix_ai_decision_deliveries_due ON bff_backoffice.ai_decision_deliveries (due_at)
    WHERE status = 'waiting' AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_ai_decision_deliveries_claimed ON bff_backoffice.ai_decision_deliveries (claimed_by)
    WHERE claimed_by IS NOT NULL;
COMMENT ON TABLE bff_backoffice.ai_decision_deliveries IS 'Decisions of ai_decision_log that the service has to be told; the id is that of the decision. Removed when it knows.';
COMMENT ON COLUMN bff_backoffice.ai_decision_deliveries.last_error IS 'Why the last attempt failed: a code.';
CALL kernel.protect_tenant_table('bff_backoffice.ai_decision_deliveries', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_worker('bff_backoffice.ai_decision_deliveries',
    'SELECT (tenant_id, id, status, due_at, claimed_by), UPDATE (claimed_by)');
CALL kernel.store_as_queue('bff_backoffice.ai_decision_deliveries');

CALL kernel.assert_protected();
