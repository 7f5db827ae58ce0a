-- Categories as a resource: names by language, an order and an end for the platform's; tenants' own beside them.
-- tidings: oldest-release=0.1.0

ALTER TABLE notification_platform.categories
    ADD COLUMN IF NOT EXISTS names JSONB NOT NULL DEFAULT '{}'::jsonb,
    ADD COLUMN IF NOT EXISTS position INTEGER NOT NULL DEFAULT 100,
    ADD COLUMN IF NOT EXISTS retired_at TIMESTAMPTZ;
COMMENT ON COLUMN notification_platform.categories.names IS 'By language tag: what people read on pages.';
COMMENT ON COLUMN notification_platform.categories.position IS 'Where it stands on pages; the lowest first.';
COMMENT ON COLUMN notification_platform.categories.retired_at IS
    'Since when nothing new may use it; what uses it already goes on. No category is ever deleted.';

CREATE TABLE IF NOT EXISTS notification.categories (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    category               TEXT COLLATE "C" NOT NULL,
    own                    BOOLEAN NOT NULL,
    names                  JSONB NOT NULL DEFAULT '{}'::jsonb,
    position               INTEGER,
    hidden                 BOOLEAN NOT NULL DEFAULT false,
    default_use_case       TEXT,
    retention_class        TEXT,
    default_priority       TEXT,
    default_expiry_seconds INTEGER,
    needs_consent          BOOLEAN,
    can_unsubscribe        BOOLEAN,
    breaks_quiet_hours     BOOLEAN,
    may_digest             BOOLEAN,
    tracking_allowed       BOOLEAN,
    retired_at             TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_categories PRIMARY KEY (tenant_id, category),
    CONSTRAINT fk_categories_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_categories_category CHECK (category ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_categories_policy CHECK (num_nulls(default_use_case, retention_class, default_priority,
        default_expiry_seconds, needs_consent, can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed)
        = CASE WHEN own THEN 0 ELSE 9 END),
    CONSTRAINT ck_categories_retired CHECK (own OR retired_at IS NULL),
    CONSTRAINT ck_categories_expiry CHECK (default_expiry_seconds > 0),
    CONSTRAINT ck_categories_priority CHECK (default_priority IN ('critical', 'high', 'normal', 'low')),
    CONSTRAINT ck_categories_retention_class CHECK (retention_class IN ('regulated', 'standard', 'marketing')),
    CONSTRAINT ck_categories_use_case CHECK (default_use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    -- Whoever advertises asks first, and can be told no.
    CONSTRAINT ck_categories_marketing CHECK (default_use_case <> 'marketing' OR (needs_consent AND can_unsubscribe))
);
COMMENT ON TABLE notification.categories IS
    'A tenant''s own categories, and what it calls the platform''s, in which order, and which of them it hides.';
COMMENT ON COLUMN notification.categories.own IS 'False: it says only how one of the platform''s appears.';
CALL kernel.protect_tenant_table('notification.categories', 'SELECT, INSERT, UPDATE');

-- A template's category may be a tenant's own from here on: the two tables can't be referred to by one foreign key.
CREATE OR REPLACE FUNCTION notification.refuse_unknown_category() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM notification_platform.categories p WHERE p.category = NEW.category)
       AND NOT EXISTS (SELECT 1 FROM notification.categories c
                       WHERE c.tenant_id = NEW.tenant_id AND c.category = NEW.category AND c.own) THEN
        RAISE EXCEPTION 'there is no category %', NEW.category
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'fk_templates_category';
    END IF;
    RETURN NEW;
END;
$$;
COMMENT ON FUNCTION notification.refuse_unknown_category IS 'Trigger that raises: neither the platform nor the tenant has this category.';
REVOKE ALL ON FUNCTION notification.refuse_unknown_category() FROM PUBLIC;
CREATE OR REPLACE TRIGGER known_category BEFORE INSERT OR UPDATE OF category ON notification.templates
    FOR EACH ROW EXECUTE FUNCTION notification.refuse_unknown_category();
-- The trigger above refuses the same, with the same error: no release is promised less.
-- squawk-ignore ban-drop-constraint
ALTER TABLE notification.templates DROP CONSTRAINT IF EXISTS fk_templates_category;

CALL kernel.assert_protected();
