-- Emergency only: undoes 0003_pre_templates_and_versions. Rows are lost.

DROP TABLE IF EXISTS notification_platform.template_versions;
DROP TABLE IF EXISTS notification_platform.templates;
DROP TABLE IF EXISTS notification.template_versions;
DROP TABLE IF EXISTS notification.templates;
