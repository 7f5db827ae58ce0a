-- name: load_categories
-- A short registry that is read whole and remembered.
SELECT category, default_use_case, retention_class, default_priority, default_expiry_seconds, needs_consent,
       can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed, version, title, names, position, retired_at
FROM notification_platform.categories;

-- name: load_tenants
-- What tenants have said: a handful of rows of each.
SELECT said.tenant_id, said.category, said.own, said.names, said.position, said.hidden, said.default_use_case,
       said.retention_class, said.default_priority, said.default_expiry_seconds, said.needs_consent,
       said.can_unsubscribe, said.breaks_quiet_hours, said.may_digest, said.tracking_allowed,
       said.retired_at IS NOT NULL AS retired, said.version
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
JOIN notification.categories AS said ON said.tenant_id = wanted.tenant_id;

-- name: lock_registry
-- One row is held while it is changed, so that the version which was read is the one that is changed.
SELECT version FROM notification_platform.categories WHERE category = :category FOR UPDATE;

-- name: lock_tenants
-- The same for a tenant's row.
SELECT version FROM notification.categories WHERE tenant_id = :tenant_id AND category = :category FOR UPDATE;

-- name: put_platform_category
-- A new one, or what an old one is from now on.
INSERT INTO notification_platform.categories AS known
    (category, title, default_use_case, retention_class, default_priority, default_expiry_seconds, needs_consent,
     can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed, names, position, retired_at, created_at, updated_at)
VALUES (:category, :title, :default_use_case, :retention_class, :default_priority, :default_expiry_seconds,
        :needs_consent, :can_unsubscribe, :breaks_quiet_hours, :may_digest, :tracking_allowed,
        CAST(CAST(:names AS text) AS jsonb), :position, CASE WHEN :retired::boolean THEN :now::timestamptz END, :now, :now)
ON CONFLICT (category) DO UPDATE SET
    title = excluded.title, default_use_case = excluded.default_use_case,
    retention_class = excluded.retention_class, default_priority = excluded.default_priority,
    default_expiry_seconds = excluded.default_expiry_seconds, needs_consent = excluded.needs_consent,
    can_unsubscribe = excluded.can_unsubscribe, breaks_quiet_hours = excluded.breaks_quiet_hours,
    may_digest = excluded.may_digest, tracking_allowed = excluded.tracking_allowed, names = excluded.names,
    position = excluded.position,
    retired_at = CASE WHEN excluded.retired_at IS NULL THEN NULL ELSE coalesce(known.retired_at, excluded.retired_at) END,
    updated_at = excluded.updated_at, version = known.version + 1
RETURNING version;

-- name: put_tenant_category
-- A tenant's own, or how one of the platform's appears to its people.
INSERT INTO notification.categories AS known
    (tenant_id, category, own, names, position, hidden, default_use_case, retention_class, default_priority,
     default_expiry_seconds, needs_consent, can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed,
     retired_at, created_at, updated_at)
VALUES (:tenant_id, :category, :own, CAST(CAST(:names AS text) AS jsonb), :position, :hidden, :default_use_case,
        :retention_class, :default_priority, :default_expiry_seconds, :needs_consent, :can_unsubscribe,
        :breaks_quiet_hours, :may_digest, :tracking_allowed, CASE WHEN :retired::boolean THEN :now::timestamptz END, :now, :now)
ON CONFLICT (tenant_id, category) DO UPDATE SET
    names = excluded.names, position = excluded.position, hidden = excluded.hidden,
    default_use_case = excluded.default_use_case, retention_class = excluded.retention_class,
    default_priority = excluded.default_priority, default_expiry_seconds = excluded.default_expiry_seconds,
    needs_consent = excluded.needs_consent, can_unsubscribe = excluded.can_unsubscribe,
    breaks_quiet_hours = excluded.breaks_quiet_hours, may_digest = excluded.may_digest,
    tracking_allowed = excluded.tracking_allowed,
    retired_at = CASE WHEN excluded.retired_at IS NULL THEN NULL ELSE coalesce(known.retired_at, excluded.retired_at) END,
    updated_at = excluded.updated_at, version = known.version + 1
RETURNING version;

-- name: used_categories
-- What a tenant sends, or has sent lately: categories of templates in force, and of notifications of the last days.
SELECT t.category FROM notification.templates t
WHERE t.tenant_id = :tenant_id AND t.status = 'active' AND t.active_version_id IS NOT NULL
UNION
SELECT p.category FROM notification_platform.templates p
WHERE p.status = 'active' AND p.active_version_id IS NOT NULL
UNION
SELECT c.category FROM notification.counters c
WHERE c.tenant_id = :tenant_id AND c.day >= :since AND c.name = 'accepted';

-- name: templates_showing_links
-- Templates in force of a category that show a link which only categories have that can be unsubscribed from.
SELECT t.key || '/' || t.channel AS name FROM notification.templates t
JOIN notification.template_versions v ON v.tenant_id = t.tenant_id AND v.id = t.active_version_id
WHERE t.tenant_id = :tenant_id AND t.category = :category AND t.status = 'active'
  AND v.locales::text LIKE '%{{@links.%'
ORDER BY 1;

-- name: platform_templates_showing_links
-- The same for the platform's.
SELECT t.key || '/' || t.channel AS name FROM notification_platform.templates t
JOIN notification_platform.template_versions v ON v.id = t.active_version_id
WHERE t.category = :category AND t.status = 'active' AND v.locales::text LIKE '%{{@links.%'
ORDER BY 1;
