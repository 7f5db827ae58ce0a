-- A tenant's intent per channel: sender, branding, vendors, limits. The means are the router's (0024).

CREATE TABLE IF NOT EXISTS notification.channels (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    channel            TEXT NOT NULL,
    vendor             TEXT NOT NULL,
    fallback_vendor    TEXT,
    sender             JSONB NOT NULL,
    branding_overrides JSONB,
    rate_limit         JSONB NOT NULL DEFAULT '{}'::jsonb,
    status             TEXT NOT NULL DEFAULT 'active',
    health             JSONB NOT NULL DEFAULT '{}'::jsonb,
    created_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    version            INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_channels PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_channels_channel UNIQUE (tenant_id, channel),
    CONSTRAINT fk_channels_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_channels_id CHECK (id ~ '^ch_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_channels_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_channels_status CHECK (status IN ('active', 'degraded', 'down', 'disabled'))
);
COMMENT ON TABLE notification.channels IS 'How a tenant wants to appear on a channel, and through which vendors.';
COMMENT ON COLUMN notification.channels.sender IS 'From, reply-to, DKIM selector, sender id: the tenant''s, not a person''s.';
CALL kernel.protect_tenant_table('notification.channels', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification.channel_credentials (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    channel_id TEXT COLLATE "C" NOT NULL,
    vendor     TEXT NOT NULL,
    secret_ref TEXT NOT NULL,
    status     TEXT NOT NULL DEFAULT 'active',
    rotated_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_channel_credentials PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_channel_credentials_channel FOREIGN KEY (tenant_id, channel_id)
        REFERENCES notification.channels (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_channel_credentials_id CHECK (id ~ '^chc_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_channel_credentials_secret_ref CHECK (secret_ref ~ '^[a-z][a-z0-9+.-]*://'),
    CONSTRAINT ck_channel_credentials_status CHECK (status IN ('active', 'superseded', 'revoked'))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_channel_credentials_active
    ON notification.channel_credentials (tenant_id, channel_id, vendor) WHERE status = 'active';
COMMENT ON TABLE notification.channel_credentials IS 'Which secret a channel uses with a vendor, and which it used before.';
COMMENT ON COLUMN notification.channel_credentials.secret_ref IS 'A reference (file://, env://, vault://…), never the secret.';
CALL kernel.protect_tenant_table('notification.channel_credentials', 'SELECT, INSERT, UPDATE');
