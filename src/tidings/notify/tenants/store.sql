-- name: lock_tenants
-- Locks in the order of ids, so that two projections never wait for each other crosswise.
SELECT tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
       notification_policy, theme_etag, weight, event_version, last_event_id, updated_at
FROM notification.tenants_local
WHERE tenant_id = ANY(CAST(:tenant_ids AS text[]))
ORDER BY tenant_id
FOR UPDATE;

-- name: save_tenants
-- The version guards against a writer that was not waited for: a tenant made by two at once has no row to lock.
INSERT INTO notification.tenants_local AS known (
    tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
    notification_policy, theme_etag, weight, event_version, last_event_id, created_at, updated_at
)
SELECT tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
       CAST(notification_policy AS jsonb), theme_etag, weight, event_version, last_event_id, created_at, updated_at
FROM unnest(
    CAST(:tenant_id AS text[]), CAST(:slug AS text[]), CAST(:name AS text[]), CAST(:region AS text[]),
    CAST(:status AS text[]), CAST(:frozen_at AS timestamptz[]), CAST(:default_locale AS text[]),
    CAST(:default_timezone AS text[]), CAST(:notification_policy AS text[]), CAST(:theme_etag AS text[]),
    CAST(:weight AS integer[]), CAST(:event_version AS bigint[]), CAST(:last_event_id AS text[]),
    CAST(:created_at AS timestamptz[]), CAST(:updated_at AS timestamptz[])
) AS fresh (
    tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
    notification_policy, theme_etag, weight, event_version, last_event_id, created_at, updated_at
)
ON CONFLICT (tenant_id) DO UPDATE SET
    slug = excluded.slug,
    name = excluded.name,
    region = excluded.region,
    status = excluded.status,
    frozen_at = excluded.frozen_at,
    default_locale = excluded.default_locale,
    default_timezone = excluded.default_timezone,
    notification_policy = excluded.notification_policy,
    theme_etag = excluded.theme_etag,
    weight = excluded.weight,
    event_version = excluded.event_version,
    last_event_id = excluded.last_event_id,
    updated_at = excluded.updated_at
WHERE known.event_version < excluded.event_version;

-- name: find_tenant
-- One tenant; under row-level security a tenant finds itself only.
SELECT tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
       notification_policy, theme_etag, weight, event_version, last_event_id, updated_at
FROM notification.tenants_local
WHERE tenant_id = :tenant_id;

-- name: find_tenant_by_slug
-- By the name that people give it; `up` asks for its demo tenant this way.
SELECT tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
       notification_policy, theme_etag, weight, event_version, last_event_id, updated_at
FROM notification.tenants_local
WHERE slug = :slug;

-- name: list_tenants
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT tenant_id, slug, name, region, status, frozen_at, default_locale, default_timezone,
       notification_policy, theme_etag, weight, event_version, last_event_id, updated_at
FROM notification.tenants_local
WHERE (CAST(:after_id AS text) IS NULL OR tenant_id < :after_id)
  AND (CAST(:status AS text) IS NULL OR status = :status)
ORDER BY tenant_id DESC
LIMIT :limit;

-- name: find_states
-- Only what the gate and accepting ask, at every request that the gate's memory can't answer.
SELECT tenant_id, status, frozen_at IS NOT NULL AS frozen, notification_policy -> 'searchable_metadata' AS searchable
FROM notification.tenants_local
WHERE tenant_id = ANY(CAST(:tenant_ids AS text[]));

-- name: find_named
-- By id or by slug, as whoever names a tenant has it.
SELECT tenant_id, slug, status, frozen_at IS NOT NULL AS frozen
FROM notification.tenants_local
WHERE tenant_id = ANY(CAST(:names AS text[])) OR slug = ANY(CAST(:names AS text[]));
