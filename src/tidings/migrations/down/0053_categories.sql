-- Emergency only: undoes 0053_pre_categories. Tenants' own categories, names, order and what was hidden are lost; templates
-- of an own category must be gone before.
ALTER TABLE notification.templates DROP CONSTRAINT IF EXISTS fk_templates_category;
ALTER TABLE notification.templates ADD CONSTRAINT fk_templates_category
    FOREIGN KEY (category) REFERENCES notification_platform.categories (category);
DROP TRIGGER IF EXISTS known_category ON notification.templates;
DROP FUNCTION IF EXISTS notification.refuse_unknown_category();
DROP TABLE IF EXISTS notification.categories;
ALTER TABLE notification_platform.categories
    DROP COLUMN IF EXISTS names,
    DROP COLUMN IF EXISTS position,
    DROP COLUMN IF EXISTS retired_at;
