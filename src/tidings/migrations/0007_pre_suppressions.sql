-- Who must not be written to: per tenant and channel, and platform-wide.

CREATE TABLE IF NOT EXISTS notification.suppressions (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    channel                TEXT NOT NULL,
    address_hash           TEXT COLLATE "C" NOT NULL,
    address_ciphertext     BYTEA,
    reason                 TEXT NOT NULL,
    source_notification_id TEXT COLLATE "C",
    notes                  TEXT,
    expires_at             TIMESTAMPTZ,
    released_at            TIMESTAMPTZ,
    released_by            TEXT,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_suppressions PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_suppressions_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_suppressions_id CHECK (id ~ '^sup_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_suppressions_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push')),
    CONSTRAINT ck_suppressions_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_suppressions_reason CHECK (reason IN
        ('hard_bounce', 'soft_bounce', 'complaint', 'invalid_address', 'opt_out', 'manual', 'compliance',
         'rate_limit')),
    CONSTRAINT ck_suppressions_release CHECK ((released_at IS NULL) = (released_by IS NULL))
);
-- Serves the look-up at send time as well.
CREATE UNIQUE INDEX IF NOT EXISTS ux_suppressions_in_force
    ON notification.suppressions (tenant_id, channel, address_hash) WHERE released_at IS NULL;
COMMENT ON TABLE notification.suppressions IS 'Addresses a tenant must not write to; released, never deleted.';
COMMENT ON COLUMN notification.suppressions.address_ciphertext IS
    'Under the tenant''s key, for reinstatement; null when it came as a hash or its recipient was erased.';
COMMENT ON COLUMN notification.suppressions.reason IS 'soft_bounce: after the threshold of soft bounces.';
COMMENT ON COLUMN notification.suppressions.expires_at IS 'Null: for good.';
CALL kernel.protect_tenant_table('notification.suppressions', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification_platform.suppressions (
    id           TEXT COLLATE "C" NOT NULL,
    channel      TEXT NOT NULL,
    address_hash TEXT COLLATE "C",
    mail_domain  TEXT COLLATE "C",
    reason       TEXT NOT NULL,
    notes        TEXT,
    expires_at   TIMESTAMPTZ,
    released_at  TIMESTAMPTZ,
    released_by  TEXT,
    created_by   TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_suppressions PRIMARY KEY (id),
    CONSTRAINT ck_suppressions_id CHECK (id ~ '^sup_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_suppressions_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push')),
    CONSTRAINT ck_suppressions_target CHECK (num_nonnulls(address_hash, mail_domain) = 1),
    CONSTRAINT ck_suppressions_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_suppressions_domain CHECK (mail_domain IS NULL OR channel = 'email'),
    CONSTRAINT ck_suppressions_reason CHECK (reason IN
        ('hard_bounce', 'soft_bounce', 'complaint', 'invalid_address', 'opt_out', 'manual', 'compliance',
         'rate_limit')),
    CONSTRAINT ck_suppressions_release CHECK ((released_at IS NULL) = (released_by IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_suppressions_address_in_force
    ON notification_platform.suppressions (channel, address_hash)
    WHERE released_at IS NULL AND address_hash IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS ux_suppressions_domain_in_force
    ON notification_platform.suppressions (mail_domain)
    WHERE released_at IS NULL AND mail_domain IS NOT NULL;
COMMENT ON TABLE notification_platform.suppressions IS 'Addresses and mail domains nobody may write to.';
COMMENT ON COLUMN notification_platform.suppressions.address_hash IS
    'Under the platform''s own pepper; checked against the decrypted address at send time.';
COMMENT ON COLUMN notification_platform.suppressions.mail_domain IS 'Wildcard: every address of this domain.';
CALL kernel.protect_platform_table('notification_platform.suppressions', 'SELECT, INSERT, UPDATE');
