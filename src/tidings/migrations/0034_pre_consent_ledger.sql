-- Who agreed to what and who said no, kept as it was told; and what a tenant lets people hear before they chose.

CREATE TABLE IF NOT EXISTS notification.consent_events (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    recipient_id        TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    kind                TEXT NOT NULL,
    channel             TEXT,
    category            TEXT COLLATE "C",
    occurred_at         TIMESTAMPTZ NOT NULL,
    recorded_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    source              TEXT NOT NULL,
    evidence            TEXT,
    actor               TEXT NOT NULL,
    preferences_version INTEGER NOT NULL,
    CONSTRAINT pk_consent_events PRIMARY KEY (tenant_id, recipient_id, id),
    CONSTRAINT ck_consent_events_id CHECK (id ~ '^cns_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_consent_events_kind CHECK (kind IN
        ('consent_requested', 'consent_granted', 'consent_withdrawn', 'opted_out', 'opted_in')),
    CONSTRAINT ck_consent_events_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook'))
);
COMMENT ON TABLE notification.consent_events IS
    'Every yes and no of a recipient, as it was told. Append-only; outlives the recipient''s erasure, without its evidence.';
COMMENT ON COLUMN notification.consent_events.channel IS 'Null: all channels.';
COMMENT ON COLUMN notification.consent_events.category IS 'Null: everything that can be said no to; of consent, what needs it.';
COMMENT ON COLUMN notification.consent_events.occurred_at IS 'When it was told; recorded_at is when it was written down.';
COMMENT ON COLUMN notification.consent_events.evidence IS 'A reference to where it can be looked up; the one thing that erasure takes away.';

-- One change is let through: that the reference to the evidence goes, and nothing else with it.
CREATE OR REPLACE FUNCTION notification.keep_consent_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tg_op = 'UPDATE' AND new.evidence IS NULL AND to_jsonb(new) - 'evidence' = to_jsonb(old) - 'evidence' THEN
        RETURN new;
    END IF;
    RAISE EXCEPTION '% of %.% refused: its rows are kept as they were written', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'restrict_violation',
              CONSTRAINT = tg_name,
              HINT = 'Write a new row that says what changed.';
END;
$$;
COMMENT ON FUNCTION notification.keep_consent_event IS 'Trigger that raises, but where an erasure removes the evidence alone.';
REVOKE ALL ON FUNCTION notification.keep_consent_event FROM PUBLIC;
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON notification.consent_events
    FOR EACH ROW EXECUTE FUNCTION notification.keep_consent_event();
CREATE OR REPLACE TRIGGER append_only_truncate BEFORE TRUNCATE ON notification.consent_events
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();
CALL kernel.protect_tenant_table('notification.consent_events', 'SELECT, INSERT, UPDATE (evidence)');

-- A link that asks somebody to confirm their consent is a token too, and opens no other door.
ALTER TABLE notification.opt_out_tokens ADD COLUMN IF NOT EXISTS purpose TEXT NOT NULL DEFAULT 'opt_out'
    CONSTRAINT ck_opt_out_tokens_purpose CHECK (purpose IN ('opt_out', 'confirm'));
COMMENT ON COLUMN notification.opt_out_tokens.purpose IS 'opt_out: /u and /p; confirm: /c, for double opt-in.';

CALL kernel.assert_protected();
