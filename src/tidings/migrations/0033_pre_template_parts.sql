-- Partials, strings, layouts and pictures of templates; drafts can be deleted.
ALTER TABLE notification.template_versions
    ADD COLUMN IF NOT EXISTS partials JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS strings JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS layout TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS assets JSONB NOT NULL DEFAULT '{}';
ALTER TABLE notification_platform.template_versions
    ADD COLUMN IF NOT EXISTS partials JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS strings JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS layout TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS assets JSONB NOT NULL DEFAULT '{}';
COMMENT ON COLUMN notification.template_versions.partials IS 'By name: texts that the others call.';
COMMENT ON COLUMN notification.template_versions.strings IS 'By locale and name: what {{t "name"}} prints.';
COMMENT ON COLUMN notification.template_versions.layout IS
    'The tenant''s layout that bodies are set into; its text is compiled into locales at publishing.';
COMMENT ON COLUMN notification.template_versions.assets IS
    'By name: media type, size and hash of each picture; whoever reads a version knows whether there are any.';

-- What was published keeps its parts as well.
CREATE OR REPLACE TRIGGER published_parts_frozen BEFORE UPDATE ON notification.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft'
          AND (OLD.partials, OLD.strings, OLD.layout, OLD.assets, OLD.ai_provenance)
              IS DISTINCT FROM (NEW.partials, NEW.strings, NEW.layout, NEW.assets, NEW.ai_provenance))
    EXECUTE FUNCTION kernel.refuse_change();
CREATE OR REPLACE TRIGGER published_parts_frozen BEFORE UPDATE ON notification_platform.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft'
          AND (OLD.partials, OLD.strings, OLD.layout, OLD.assets, OLD.ai_provenance)
              IS DISTINCT FROM (NEW.partials, NEW.strings, NEW.layout, NEW.assets, NEW.ai_provenance))
    EXECUTE FUNCTION kernel.refuse_change();
-- Notifications refer to versions that were in force; only a draft can go.
CREATE OR REPLACE TRIGGER published_kept BEFORE DELETE ON notification.template_versions
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION kernel.refuse_change();
CREATE OR REPLACE TRIGGER published_kept BEFORE DELETE ON notification_platform.template_versions
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION kernel.refuse_change();
CALL kernel.protect_tenant_table('notification.template_versions', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.protect_platform_table('notification_platform.template_versions', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS notification.layouts (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    text       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_by TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_layouts PRIMARY KEY (tenant_id, name),
    CONSTRAINT fk_layouts_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_layouts_name CHECK (name ~ '^[a-z][a-z0-9_-]{0,63}$')
);
COMMENT ON TABLE notification.layouts IS
    'Texts of a tenant that its templates share; compiled into a version when it is published.';
CALL kernel.protect_tenant_table('notification.layouts', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS notification.template_assets (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    content    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_template_assets PRIMARY KEY (tenant_id, version_id, name),
    CONSTRAINT fk_template_assets_version FOREIGN KEY (tenant_id, version_id)
        REFERENCES notification.template_versions (tenant_id, id),
    CONSTRAINT ck_template_assets_name CHECK (name ~ '^[a-z0-9._-]{1,80}$'),
    CONSTRAINT ck_template_assets_size CHECK (octet_length(content) BETWEEN 1 AND 524288)
);
COMMENT ON TABLE notification.template_assets IS
    'Pictures of a version, in the clear; they travel inside the mails that show them. Frozen once it is published.';
-- It is compressed already.
ALTER TABLE notification.template_assets ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS notification_platform.template_assets (
    version_id TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    content    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_template_assets PRIMARY KEY (version_id, name),
    CONSTRAINT fk_template_assets_version FOREIGN KEY (version_id)
        REFERENCES notification_platform.template_versions (id),
    CONSTRAINT ck_template_assets_name CHECK (name ~ '^[a-z0-9._-]{1,80}$'),
    CONSTRAINT ck_template_assets_size CHECK (octet_length(content) BETWEEN 1 AND 524288)
);
COMMENT ON TABLE notification_platform.template_assets IS 'Pictures of the platform''s versions.';
ALTER TABLE notification_platform.template_assets ALTER COLUMN content SET STORAGE EXTERNAL;

-- A trigger's condition can't look into another table, so this one looks for itself.
CREATE OR REPLACE FUNCTION notification.refuse_published_asset() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM notification.template_versions v
               WHERE v.tenant_id = coalesce(NEW.tenant_id, OLD.tenant_id)
                 AND v.id IN (NEW.version_id, OLD.version_id) AND v.status <> 'draft') THEN
        RAISE EXCEPTION '% of %.% refused: its version was published', tg_op, tg_table_schema, tg_table_name
            USING ERRCODE = 'restrict_violation', CONSTRAINT = tg_name, HINT = 'Make a new version.';
    END IF;
    RETURN coalesce(NEW, OLD);
END;
$$;
COMMENT ON FUNCTION notification.refuse_published_asset IS 'Trigger that raises: pictures of what was published are frozen.';
CREATE OR REPLACE FUNCTION notification_platform.refuse_published_asset() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM notification_platform.template_versions v
               WHERE v.id IN (NEW.version_id, OLD.version_id) AND v.status <> 'draft') THEN
        RAISE EXCEPTION '% of %.% refused: its version was published', tg_op, tg_table_schema, tg_table_name
            USING ERRCODE = 'restrict_violation', CONSTRAINT = tg_name, HINT = 'Make a new version.';
    END IF;
    RETURN coalesce(NEW, OLD);
END;
$$;
COMMENT ON FUNCTION notification_platform.refuse_published_asset IS
    'Trigger that raises: pictures of what was published are frozen.';
REVOKE ALL ON FUNCTION notification.refuse_published_asset() FROM PUBLIC;
REVOKE ALL ON FUNCTION notification_platform.refuse_published_asset() FROM PUBLIC;
CREATE OR REPLACE TRIGGER published_asset_frozen BEFORE INSERT OR UPDATE OR DELETE ON notification.template_assets
    FOR EACH ROW EXECUTE FUNCTION notification.refuse_published_asset();
CREATE OR REPLACE TRIGGER published_asset_frozen
    BEFORE INSERT OR UPDATE OR DELETE ON notification_platform.template_assets
    FOR EACH ROW EXECUTE FUNCTION notification_platform.refuse_published_asset();
CALL kernel.protect_tenant_table('notification.template_assets', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.protect_platform_table('notification_platform.template_assets', 'SELECT, INSERT, UPDATE, DELETE');

CALL kernel.assert_protected();
