-- Emergency only: undoes 0033_pre_template_parts. Layouts and pictures, and the partials and strings of drafts, are lost.
DROP TABLE IF EXISTS notification.template_assets;
DROP TABLE IF EXISTS notification_platform.template_assets;
DROP FUNCTION IF EXISTS notification.refuse_published_asset();
DROP FUNCTION IF EXISTS notification_platform.refuse_published_asset();
DROP TABLE IF EXISTS notification.layouts;
DROP TRIGGER IF EXISTS published_kept ON notification.template_versions;
DROP TRIGGER IF EXISTS published_kept ON notification_platform.template_versions;
DROP TRIGGER IF EXISTS published_parts_frozen ON notification.template_versions;
DROP TRIGGER IF EXISTS published_parts_frozen ON notification_platform.template_versions;
CALL kernel.protect_tenant_table('notification.template_versions', 'SELECT, INSERT, UPDATE');
CALL kernel.protect_platform_table('notification_platform.template_versions', 'SELECT, INSERT, UPDATE');
ALTER TABLE notification.template_versions
    DROP COLUMN IF EXISTS partials, DROP COLUMN IF EXISTS strings, DROP COLUMN IF EXISTS layout,
    DROP COLUMN IF EXISTS assets;
ALTER TABLE notification_platform.template_versions
    DROP COLUMN IF EXISTS partials, DROP COLUMN IF EXISTS strings, DROP COLUMN IF EXISTS layout,
    DROP COLUMN IF EXISTS assets;
