-- Samples keep the order in which they were written, and a tenant's template says which of the platform's it was copied from.
-- tidings: oldest-release=0.1.0

ALTER TABLE notification.template_versions
    ADD COLUMN IF NOT EXISTS sample_names TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
ALTER TABLE notification_platform.template_versions
    ADD COLUMN IF NOT EXISTS sample_names TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
COMMENT ON COLUMN notification.template_versions.sample_names IS
    'The names of preview_samples as they were written: the first is shown unless another is asked for. Empty: by name.';

ALTER TABLE notification.templates ADD COLUMN IF NOT EXISTS platform_semver TEXT COLLATE "C";
COMMENT ON COLUMN notification.templates.platform_semver IS
    'The platform''s version that it was customised from last; null: it is the tenant''s own from the beginning.';

-- No release has ever written or read it.
-- squawk-ignore ban-drop-column
ALTER TABLE notification.templates DROP COLUMN IF EXISTS renderer_profile;
-- squawk-ignore ban-drop-column
ALTER TABLE notification_platform.templates DROP COLUMN IF EXISTS renderer_profile;
