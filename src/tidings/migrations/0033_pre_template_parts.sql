-- Partials, strings and layouts of templates; drafts can be deleted.
ALTER TABLE notification.template_versions
    ADD COLUMN IF NOT EXISTS partials JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS strings JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS layout TEXT COLLATE "C";
ALTER TABLE notification_platform.template_versions
    ADD COLUMN IF NOT EXISTS partials JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS strings JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS layout TEXT COLLATE "C";
COMMENT ON COLUMN notification.template_versions.partials IS 'By name: texts that the others call.';
COMMENT ON COLUMN notification.template_versions.strings IS 'By locale and name: what {{t "name"}} prints.';
COMMENT ON COLUMN notification.template_versions.layout IS
    'The tenant''s layout that bodies are set into; its text is compiled into locales at publishing.';

-- What was published keeps its parts as well.
CREATE OR REPLACE TRIGGER published_parts_frozen BEFORE UPDATE ON notification.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft'
          AND (OLD.partials, OLD.strings, OLD.layout, OLD.ai_provenance)
              IS DISTINCT FROM (NEW.partials, NEW.strings, NEW.layout, NEW.ai_provenance))
    EXECUTE FUNCTION kernel.refuse_change();
CREATE OR REPLACE TRIGGER published_parts_frozen BEFORE UPDATE ON notification_platform.template_versions
    FOR EACH ROW
    WHEN (OLD.status <> 'draft'
          AND (OLD.partials, OLD.strings, OLD.layout, OLD.ai_provenance)
              IS DISTINCT FROM (NEW.partials, NEW.strings, NEW.layout, NEW.ai_provenance))
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

CALL kernel.assert_protected();
