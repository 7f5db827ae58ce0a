-- What the router has learned about reaching a recipient.

CREATE TABLE IF NOT EXISTS chan.recipient_profiles (
    tenant_id                   TEXT COLLATE "C" NOT NULL,
    id                          TEXT COLLATE "C" NOT NULL,
    recipient_id                TEXT COLLATE "C" NOT NULL,
    channel_preferences         JSONB NOT NULL DEFAULT '[]'::jsonb,
    has_whatsapp_business       TEXT NOT NULL DEFAULT 'UNKNOWN',
    voice_otp_supported         TEXT NOT NULL DEFAULT 'UNKNOWN',
    telegram_chat_id_hash       TEXT COLLATE "C",
    telegram_chat_id_ciphertext BYTEA,
    viber_id_hash               TEXT COLLATE "C",
    viber_id_ciphertext         BYTEA,
    email_verified              BOOLEAN NOT NULL DEFAULT false,
    last_successful_channel     TEXT,
    last_observed_at            TIMESTAMPTZ,
    discovery_state             TEXT NOT NULL DEFAULT 'UNSEEN',
    field_times                 JSONB NOT NULL DEFAULT '{}'::jsonb,
    created_at                  TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at                  TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                     INTEGER NOT NULL DEFAULT 1,
    erased                      BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT pk_recipient_profiles PRIMARY KEY (tenant_id, recipient_id),
    CONSTRAINT uq_recipient_profiles_id UNIQUE (tenant_id, id),
    CONSTRAINT ck_recipient_profiles_id CHECK (id ~ '^profile_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_recipient_profiles_whatsapp CHECK (has_whatsapp_business IN ('KNOWN_YES', 'KNOWN_NO', 'UNKNOWN')),
    CONSTRAINT ck_recipient_profiles_voice CHECK (voice_otp_supported IN ('KNOWN_YES', 'KNOWN_NO', 'UNKNOWN')),
    CONSTRAINT ck_recipient_profiles_channel CHECK (last_successful_channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_recipient_profiles_discovery CHECK (discovery_state IN ('UNSEEN', 'LEARNING', 'STABLE')),
    -- The database itself keeps a tombstone empty.
    CONSTRAINT ck_recipient_profiles_erased CHECK (NOT erased OR (
        channel_preferences = '[]'::jsonb AND field_times = '{}'::jsonb AND discovery_state = 'UNSEEN'
        AND has_whatsapp_business = 'UNKNOWN' AND voice_otp_supported = 'UNKNOWN' AND NOT email_verified
        AND telegram_chat_id_hash IS NULL AND telegram_chat_id_ciphertext IS NULL
        AND viber_id_hash IS NULL AND viber_id_ciphertext IS NULL
        AND last_successful_channel IS NULL AND last_observed_at IS NULL
    ))
-- Every step of a ladder writes here: the row stays on its page, and no index grows unless the person becomes better known.
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_recipient_profiles_discovery
    ON chan.recipient_profiles (tenant_id, discovery_state, id) WHERE NOT erased;
COMMENT ON TABLE chan.recipient_profiles IS 'Per recipient: how well each channel reaches them, learned from outcomes.';
COMMENT ON COLUMN chan.recipient_profiles.recipient_id IS 'Notify''s recipient; no foreign key across services.';
COMMENT ON COLUMN chan.recipient_profiles.channel_preferences IS
    'List of channel, a and b of its Beta distribution, their score and confidence then, how often and when last observed.';
COMMENT ON COLUMN chan.recipient_profiles.discovery_state IS 'By how often anything was observed: not at all, less than five times, more.';
COMMENT ON COLUMN chan.recipient_profiles.erased IS
    'A tombstone: the recipient was erased, and what is observed later is not kept. Nothing else stands in the row.';
COMMENT ON COLUMN chan.recipient_profiles.telegram_chat_id_ciphertext IS 'Under the recipient''s data key.';
COMMENT ON COLUMN chan.recipient_profiles.field_times IS 'When each field was observed: merging keeps the latest, field by field.';
CALL kernel.protect_tenant_table('chan.recipient_profiles', 'SELECT, INSERT, UPDATE, DELETE');
