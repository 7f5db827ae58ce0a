-- Who can be written to, where, and what they want.

CREATE TABLE IF NOT EXISTS notification.recipients (
    tenant_id               TEXT COLLATE "C" NOT NULL,
    id                      TEXT COLLATE "C" NOT NULL,
    identity_type           TEXT,
    identity_id             TEXT COLLATE "C",
    display_name_ciphertext BYTEA,
    primary_locale          TEXT NOT NULL DEFAULT 'en-US',
    primary_timezone        TEXT NOT NULL DEFAULT 'UTC',
    tags                    TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    attributes              JSONB NOT NULL DEFAULT '{}'::jsonb,
    erased_at               TIMESTAMPTZ,
    created_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                 INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_recipients PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_recipients_identity UNIQUE (tenant_id, identity_type, identity_id),
    CONSTRAINT fk_recipients_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_recipients_id CHECK (id ~ '^rcp_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_recipients_identity_type CHECK (identity_type IN ('guest', 'user', 'vendor', 'anonymous')),
    CONSTRAINT ck_recipients_attributes CHECK (jsonb_typeof(attributes) = 'object')
);
COMMENT ON TABLE notification.recipients IS 'People, and what is known of them without knowing who they are.';
COMMENT ON COLUMN notification.recipients.identity_id IS
    'Id in the caller''s own system. Null for somebody known by address only; such rows are all distinct.';
COMMENT ON COLUMN notification.recipients.display_name_ciphertext IS 'Under the recipient''s data key.';
COMMENT ON COLUMN notification.recipients.attributes IS
    'Queryable by batches, and therefore in the clear: not for personal data.';
COMMENT ON COLUMN notification.recipients.erased_at IS 'The data key was destroyed then; ciphertexts can no longer be read.';
CALL kernel.protect_tenant_table('notification.recipients', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification.recipient_addresses (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    recipient_id       TEXT COLLATE "C" NOT NULL,
    channel            TEXT NOT NULL,
    address_hash       TEXT COLLATE "C" NOT NULL,
    address_ciphertext BYTEA NOT NULL,
    is_primary         BOOLEAN NOT NULL DEFAULT false,
    verified           BOOLEAN NOT NULL DEFAULT false,
    status             TEXT NOT NULL DEFAULT 'active',
    metadata           JSONB,
    created_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_recipient_addresses PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_recipient_addresses_address UNIQUE (tenant_id, recipient_id, channel, address_hash),
    CONSTRAINT fk_recipient_addresses_recipient FOREIGN KEY (tenant_id, recipient_id)
        REFERENCES notification.recipients (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_recipient_addresses_id CHECK (id ~ '^rad_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_recipient_addresses_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_recipient_addresses_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_recipient_addresses_status CHECK (status IN ('active', 'suppressed', 'revoked'))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_recipient_addresses_primary
    ON notification.recipient_addresses (tenant_id, recipient_id, channel) WHERE is_primary;
CREATE INDEX IF NOT EXISTS ix_recipient_addresses_hash
    ON notification.recipient_addresses (tenant_id, channel, address_hash);
COMMENT ON TABLE notification.recipient_addresses IS 'Addresses of a recipient, per channel; two recipients may share one.';
COMMENT ON COLUMN notification.recipient_addresses.address_hash IS
    'sha256: and the hex of HMAC-SHA256 under the tenant''s pepper. Outlives erasure, for suppression.';
CALL kernel.protect_tenant_table('notification.recipient_addresses', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS notification.notification_preferences (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    recipient_id           TEXT COLLATE "C" NOT NULL,
    locale                 TEXT NOT NULL,
    timezone               TEXT NOT NULL,
    channels               JSONB NOT NULL DEFAULT '{}'::jsonb,
    quiet_hours            JSONB,
    digest_schedule        JSONB NOT NULL DEFAULT '{}'::jsonb,
    marketing_consent      JSONB NOT NULL DEFAULT '{"granted": false}'::jsonb,
    guardian_routing       JSONB,
    global_unsubscribed_at TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_notification_preferences PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_notification_preferences_recipient UNIQUE (tenant_id, recipient_id),
    CONSTRAINT fk_notification_preferences_recipient FOREIGN KEY (tenant_id, recipient_id)
        REFERENCES notification.recipients (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_notification_preferences_id CHECK (id ~ '^rpf_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_notification_preferences_consent CHECK (jsonb_typeof(marketing_consent -> 'granted') = 'boolean')
);
COMMENT ON TABLE notification.notification_preferences IS
    'What a recipient allows: channels and categories, quiet hours, digests, consent, guardian.';
COMMENT ON COLUMN notification.notification_preferences.channels IS
    'Per channel: allow, and per category. What is absent follows the category''s default.';
COMMENT ON COLUMN notification.notification_preferences.marketing_consent IS
    'granted, when, source, evidence. Denied until given. Evidence is a reference, not a copy of personal data.';
COMMENT ON COLUMN notification.notification_preferences.version IS 'ETag of the preferences; a notification notes which it was decided by.';
CALL kernel.protect_tenant_table('notification.notification_preferences', 'SELECT, INSERT, UPDATE');
