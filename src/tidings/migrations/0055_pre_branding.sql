-- How a tenant looks: name, logo, colour and footer of its mails and pages.
-- tidings: oldest-release=0.1.0

CREATE TABLE IF NOT EXISTS notification.branding (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    branding   JSONB NOT NULL,
    updated_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    version    INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_branding PRIMARY KEY (tenant_id),
    CONSTRAINT fk_branding_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id)
);
COMMENT ON TABLE notification.branding IS 'A tenant''s look in mails and on pages; a channel may override parts of it.';
COMMENT ON COLUMN notification.branding.version IS 'ETag; part of the theme_etag that templates can show.';
CALL kernel.protect_tenant_table('notification.branding', 'SELECT, INSERT, UPDATE');

CALL kernel.assert_protected();
