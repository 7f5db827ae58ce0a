-- Templates by key and channel, and their versions: a tenant's own, and the platform's that they override.

CREATE TABLE IF NOT EXISTS notification.templates (
    tenant_id         TEXT COLLATE "C" NOT NULL,
    id                TEXT COLLATE "C" NOT NULL,
    key               TEXT COLLATE "C" NOT NULL,
    channel           TEXT NOT NULL,
    category          TEXT COLLATE "C" NOT NULL,
    status            TEXT NOT NULL DEFAULT 'active',
    active_version_id TEXT COLLATE "C",
    default_locale    TEXT NOT NULL,
    fallback_chain    TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    renderer_profile  TEXT NOT NULL DEFAULT 'default',
    default_priority  TEXT NOT NULL DEFAULT 'normal',
    created_by        TEXT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    version           INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_templates PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_templates_key_channel UNIQUE (tenant_id, key, channel),
    CONSTRAINT fk_templates_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT fk_templates_category FOREIGN KEY (category) REFERENCES notification_platform.categories (category),
    CONSTRAINT ck_templates_id CHECK (id ~ '^tpl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_templates_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_templates_status CHECK (status IN ('active', 'archived')),
    CONSTRAINT ck_templates_priority CHECK (default_priority IN ('critical', 'high', 'normal', 'low'))
);
COMMENT ON TABLE notification.templates IS 'A tenant''s templates; one wins over the platform''s of the same key and channel.';
COMMENT ON COLUMN notification.templates.active_version_id IS
    'The published version. No foreign key: the two tables would refer to each other.';
CALL kernel.protect_tenant_table('notification.templates', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification.template_versions (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    template_id            TEXT COLLATE "C" NOT NULL,
    semver                 TEXT COLLATE "C" NOT NULL,
    status                 TEXT NOT NULL DEFAULT 'draft',
    source                 TEXT NOT NULL,
    ai_provenance          JSONB,
    created_by             TEXT NOT NULL,
    approver_user_id       TEXT,
    approved_at            TIMESTAMPTZ,
    supersedes_id          TEXT COLLATE "C",
    variables_schema       JSONB NOT NULL,
    fallback_chain         TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    preview_samples        JSONB,
    locales                JSONB NOT NULL,
    published_at           TIMESTAMPTZ,
    archived_at            TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_template_versions PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_template_versions_semver UNIQUE (tenant_id, template_id, semver),
    CONSTRAINT fk_template_versions_template FOREIGN KEY (tenant_id, template_id)
        REFERENCES notification.templates (tenant_id, id),
    CONSTRAINT ck_template_versions_id CHECK (id ~ '^tpv_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_template_versions_semver CHECK (semver ~ '^[0-9]+\.[0-9]+\.[0-9]+'),
    CONSTRAINT ck_template_versions_status CHECK (status IN ('draft', 'active', 'archived')),
    CONSTRAINT ck_template_versions_source CHECK (source IN ('platform', 'tenant', 'ai_drafted')),
    CONSTRAINT ck_template_versions_ai_approved CHECK
        (source <> 'ai_drafted' OR status <> 'active'
         OR (approver_user_id IS NOT NULL AND approver_user_id <> created_by))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_template_versions_active
    ON notification.template_versions (tenant_id, template_id) WHERE status = 'active';
COMMENT ON TABLE notification.template_versions IS 'Versions of a tenant''s template: draft, active, archived; content frozen once active.';
COMMENT ON COLUMN notification.template_versions.created_by IS
    'Author, or requester of an AI draft, who cannot be its approver.';
COMMENT ON COLUMN notification.template_versions.locales IS
    'Per locale: subject, preheader, body, text alternative, body format, direction.';
CREATE OR REPLACE TRIGGER published_content_frozen BEFORE UPDATE ON notification.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft' AND (NEW.status = 'draft'
          OR (OLD.semver, OLD.template_id, OLD.source, OLD.variables_schema, OLD.locales, OLD.fallback_chain)
             IS DISTINCT FROM
             (NEW.semver, NEW.template_id, NEW.source, NEW.variables_schema, NEW.locales, NEW.fallback_chain)))
    EXECUTE FUNCTION kernel.refuse_change();
CALL kernel.protect_tenant_table('notification.template_versions', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification_platform.templates (
    id                TEXT COLLATE "C" NOT NULL,
    key               TEXT COLLATE "C" NOT NULL,
    channel           TEXT NOT NULL,
    category          TEXT COLLATE "C" NOT NULL,
    status            TEXT NOT NULL DEFAULT 'active',
    active_version_id TEXT COLLATE "C",
    default_locale    TEXT NOT NULL,
    fallback_chain    TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    renderer_profile  TEXT NOT NULL DEFAULT 'default',
    default_priority  TEXT NOT NULL DEFAULT 'normal',
    created_by        TEXT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    version           INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_templates PRIMARY KEY (id),
    CONSTRAINT uq_templates_key_channel UNIQUE (key, channel),
    CONSTRAINT fk_templates_category FOREIGN KEY (category) REFERENCES notification_platform.categories (category),
    CONSTRAINT ck_templates_id CHECK (id ~ '^tpl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_templates_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_templates_status CHECK (status IN ('active', 'archived')),
    CONSTRAINT ck_templates_priority CHECK (default_priority IN ('critical', 'high', 'normal', 'low'))
);
COMMENT ON TABLE notification_platform.templates IS 'Templates of the platform, used where a tenant has none of its own.';
CALL kernel.protect_platform_table('notification_platform.templates', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification_platform.template_versions (
    id                     TEXT COLLATE "C" NOT NULL,
    template_id            TEXT COLLATE "C" NOT NULL,
    semver                 TEXT COLLATE "C" NOT NULL,
    status                 TEXT NOT NULL DEFAULT 'draft',
    source                 TEXT NOT NULL DEFAULT 'platform',
    ai_provenance          JSONB,
    created_by             TEXT NOT NULL,
    approver_user_id       TEXT,
    approved_at            TIMESTAMPTZ,
    supersedes_id          TEXT COLLATE "C",
    variables_schema       JSONB NOT NULL,
    fallback_chain         TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    preview_samples        JSONB,
    locales                JSONB NOT NULL,
    published_at           TIMESTAMPTZ,
    archived_at            TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_template_versions PRIMARY KEY (id),
    CONSTRAINT uq_template_versions_semver UNIQUE (template_id, semver),
    CONSTRAINT fk_template_versions_template FOREIGN KEY (template_id) REFERENCES notification_platform.templates (id),
    CONSTRAINT ck_template_versions_id CHECK (id ~ '^tpv_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_template_versions_semver CHECK (semver ~ '^[0-9]+\.[0-9]+\.[0-9]+'),
    CONSTRAINT ck_template_versions_status CHECK (status IN ('draft', 'active', 'archived')),
    CONSTRAINT ck_template_versions_source CHECK (source IN ('platform', 'ai_drafted')),
    CONSTRAINT ck_template_versions_ai_approved CHECK
        (source <> 'ai_drafted' OR status <> 'active'
         OR (approver_user_id IS NOT NULL AND approver_user_id <> created_by))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_template_versions_active
    ON notification_platform.template_versions (template_id) WHERE status = 'active';
COMMENT ON TABLE notification_platform.template_versions IS 'Versions of the platform''s templates; content frozen once active.';
CREATE OR REPLACE TRIGGER published_content_frozen BEFORE UPDATE ON notification_platform.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft' AND (NEW.status = 'draft'
          OR (OLD.semver, OLD.template_id, OLD.source, OLD.variables_schema, OLD.locales, OLD.fallback_chain)
             IS DISTINCT FROM
             (NEW.semver, NEW.template_id, NEW.source, NEW.variables_schema, NEW.locales, NEW.fallback_chain)))
    EXECUTE FUNCTION kernel.refuse_change();
CALL kernel.protect_platform_table('notification_platform.template_versions', 'SELECT, INSERT, UPDATE');
