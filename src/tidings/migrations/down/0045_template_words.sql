-- Emergency only: undoes 0045_pre_template_words. The order of samples, and what templates were customised from, are lost.
ALTER TABLE notification_platform.templates ADD COLUMN IF NOT EXISTS renderer_profile TEXT NOT NULL DEFAULT 'default';
ALTER TABLE notification.templates ADD COLUMN IF NOT EXISTS renderer_profile TEXT NOT NULL DEFAULT 'default';
ALTER TABLE notification.templates DROP COLUMN IF EXISTS platform_semver;
ALTER TABLE notification_platform.template_versions DROP COLUMN IF EXISTS sample_names;
ALTER TABLE notification.template_versions DROP COLUMN IF EXISTS sample_names;
