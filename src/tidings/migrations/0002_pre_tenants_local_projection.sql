-- What every other table refers to: the tenants we know, the category registry, the callers' keys.

CREATE TABLE IF NOT EXISTS notification.tenants_local (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    slug                TEXT,
    name                TEXT,
    region              TEXT NOT NULL,
    status              TEXT NOT NULL DEFAULT 'active',
    frozen_at           TIMESTAMPTZ,
    default_locale      TEXT NOT NULL DEFAULT 'en-US',
    default_timezone    TEXT NOT NULL DEFAULT 'UTC',
    notification_policy JSONB NOT NULL DEFAULT '{}'::jsonb,
    theme_etag          TEXT NOT NULL DEFAULT '',
    weight              INTEGER NOT NULL DEFAULT 1,
    event_version       BIGINT NOT NULL DEFAULT 0,
    last_event_id       TEXT COLLATE "C",
    created_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_tenants_local PRIMARY KEY (tenant_id),
    CONSTRAINT uq_tenants_local_slug UNIQUE (slug),
    CONSTRAINT ck_tenants_local_tenant_id CHECK (tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_tenants_local_status CHECK (status IN ('active', 'suspended', 'deleting')),
    CONSTRAINT ck_tenants_local_weight CHECK (weight BETWEEN 1 AND 1000)
);
COMMENT ON TABLE notification.tenants_local IS 'Projection of tenant events; not authoritative.';
COMMENT ON COLUMN notification.tenants_local.frozen_at IS
    'Set while frozen: new API writes get 423, accepted work drains. Independent of status.';
COMMENT ON COLUMN notification.tenants_local.notification_policy IS
    'Tenant defaults: quiet hours, limits, allowed links and domains, retention.';
COMMENT ON COLUMN notification.tenants_local.weight IS 'Share of turns when workers claim fairly between tenants.';
COMMENT ON COLUMN notification.tenants_local.event_version IS
    'Version of the last tenant event applied; an event that is not newer changes nothing.';
CALL kernel.protect_tenant_table('notification.tenants_local', 'SELECT');
CALL kernel.open_to_platform('notification.tenants_local', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.tenants_local', 'SELECT (tenant_id, status, frozen_at, weight)');

CREATE TABLE IF NOT EXISTS notification_platform.categories (
    category               TEXT COLLATE "C" NOT NULL,
    title                  TEXT NOT NULL,
    default_use_case       TEXT NOT NULL,
    retention_class        TEXT NOT NULL,
    default_priority       TEXT NOT NULL DEFAULT 'normal',
    default_expiry_seconds INTEGER NOT NULL,
    needs_consent          BOOLEAN NOT NULL,
    can_unsubscribe        BOOLEAN NOT NULL,
    breaks_quiet_hours     BOOLEAN NOT NULL,
    may_digest             BOOLEAN NOT NULL,
    tracking_allowed       BOOLEAN NOT NULL,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_categories PRIMARY KEY (category),
    CONSTRAINT ck_categories_category CHECK (category ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_categories_use_case CHECK (default_use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    CONSTRAINT ck_categories_retention_class CHECK (retention_class IN ('regulated', 'standard', 'marketing')),
    CONSTRAINT ck_categories_priority CHECK (default_priority IN ('critical', 'high', 'normal', 'low')),
    CONSTRAINT ck_categories_expiry CHECK (default_expiry_seconds > 0)
);
COMMENT ON TABLE notification_platform.categories IS 'Registry of categories; a row carries the policy of its category.';
COMMENT ON COLUMN notification_platform.categories.needs_consent IS 'Denied until the recipient has consented.';
COMMENT ON COLUMN notification_platform.categories.tracking_allowed IS 'Whether opens and clicks may be tracked.';
CALL kernel.protect_platform_table('notification_platform.categories', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification.api_keys (
    id              TEXT COLLATE "C" NOT NULL,
    tenant_id       TEXT COLLATE "C",
    name            TEXT NOT NULL,
    secret_hash     TEXT COLLATE "C" NOT NULL,
    scopes          TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    role            TEXT NOT NULL,
    environment     TEXT NOT NULL DEFAULT 'live',
    created_by      TEXT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at      TIMESTAMPTZ,
    last_used_at    TIMESTAMPTZ,
    revoked_at      TIMESTAMPTZ,
    rotated_from    TEXT COLLATE "C",
    rotated_to      TEXT COLLATE "C",
    overlap_ends_at TIMESTAMPTZ,
    version         INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT fk_api_keys_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_api_keys_id CHECK (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_api_keys_secret_hash CHECK (secret_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_api_keys_role CHECK (role IN
        ('platform.channel.admin', 'platform.support', 'tenant.admin', 'tenant.support', 'tenant.viewer')),
    CONSTRAINT ck_api_keys_role_fits_tenant CHECK ((tenant_id IS NULL) = (role LIKE 'platform.%')),
    CONSTRAINT ck_api_keys_environment CHECK (environment IN ('live', 'test'))
);
CREATE INDEX IF NOT EXISTS ix_api_keys_tenant ON notification.api_keys (tenant_id, id);
COMMENT ON TABLE notification.api_keys IS 'Callers'' keys. tenant_id null: a key of the platform, which no tenant sees.';
COMMENT ON COLUMN notification.api_keys.secret_hash IS
    'sha256 of a random secret of full entropy; the secret itself is shown once and not kept.';
COMMENT ON COLUMN notification.api_keys.overlap_ends_at IS 'After a rotation the old key works until then.';
CALL kernel.protect_tenant_table('notification.api_keys', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_platform('notification.api_keys', 'SELECT, INSERT, UPDATE');
