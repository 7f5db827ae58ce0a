-- tidings: oldest-release=0.1.0
-- Notes of operators stand in one table, sealed, so that the ledgers beside which they were written are never changed,
-- and a data steward reads them, or redacts one, in one place.
-- squawk-ignore-file ban-drop-column

CREATE TABLE IF NOT EXISTS bff_backoffice.notes (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    about_id        TEXT COLLATE "C" NOT NULL,
    property_id     TEXT COLLATE "C",
    written_by      TEXT COLLATE "C" NOT NULL,
    written_at      TIMESTAMPTZ NOT NULL,
    kept_until      TIMESTAMPTZ NOT NULL,
    text_ciphertext BYTEA,
    redacted_at     TIMESTAMPTZ,
    redacted_by     TEXT COLLATE "C",
    CONSTRAINT pk_notes PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_notes_id CHECK (id ~ '^note_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_notes_redacted CHECK ((redacted_at IS NULL) = (text_ciphertext IS NOT NULL)
        AND (redacted_at IS NULL) = (redacted_by IS NULL))
);
CREATE INDEX IF NOT EXISTS ix_notes_kept_until ON bff_backoffice.notes (kept_until);
COMMENT ON TABLE bff_backoffice.notes IS 'Notes that operators write when they acknowledge or decide: 200 characters at most, sealed under the tenant''s key, redacted by a data steward.';
COMMENT ON COLUMN bff_backoffice.notes.about_id IS 'The row beside which it was written: an alert, a decision.';
COMMENT ON COLUMN bff_backoffice.notes.property_id IS 'Null: about no property.';
COMMENT ON COLUMN bff_backoffice.notes.kept_until IS 'As long as the ledger that names it.';
COMMENT ON COLUMN bff_backoffice.notes.text_ciphertext IS 'Null once redacted.';
CALL kernel.protect_tenant_table('bff_backoffice.notes', 'SELECT, INSERT, UPDATE (text_ciphertext, redacted_at, redacted_by)');
CALL kernel.open_to_worker('bff_backoffice.notes', 'SELECT (tenant_id, id, kept_until), DELETE');

-- Nobody has written the column with the plain text yet.
ALTER TABLE bff_backoffice.alert_ack_log ADD COLUMN IF NOT EXISTS note_id TEXT COLLATE "C";
ALTER TABLE bff_backoffice.alert_ack_log DROP COLUMN IF EXISTS notes_truncated;
COMMENT ON COLUMN bff_backoffice.alert_ack_log.note_id IS 'In bff_backoffice.notes; null: without a note.';

CALL kernel.assert_protected();
