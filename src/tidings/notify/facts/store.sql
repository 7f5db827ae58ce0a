-- name: load_tenants
-- Tenants together with their channels, in one trip; one row without a channel where none is set up.
SELECT mine.*, said.categories
FROM unnest(:tenant_ids::text[]) AS asked (tenant_id)
-- Asked once for each tenant, and not for every channel: nothing in it depends on the channel.
CROSS JOIN LATERAL (
    SELECT json_agg(one_of_them)::text AS categories FROM (
        SELECT c.category, c.own, c.names, c.position, c.hidden, c.default_use_case, c.retention_class,
               c.default_priority, c.default_expiry_seconds, c.needs_consent, c.can_unsubscribe,
               c.breaks_quiet_hours, c.may_digest, c.tracking_allowed, c.retired_at IS NOT NULL AS retired, c.version
        FROM notification.categories AS c WHERE c.tenant_id = asked.tenant_id
    ) AS one_of_them
    OFFSET 0
) AS said
CROSS JOIN LATERAL (
    SELECT tenant.tenant_id, tenant.name AS tenant_name, tenant.status AS tenant_status, tenant.default_locale, tenant.default_timezone,
           tenant.notification_policy, tenant.event_version, tenant.theme_etag, look.branding, look.version AS branding_version,
           way.id, way.channel, way.vendor, way.fallback_vendor, way.sender, way.branding_overrides, way.rate_limit, way.status,
           way.health, way.version, way.updated_at
    FROM notification.tenants_local AS tenant
    LEFT JOIN notification.branding AS look ON look.tenant_id = asked.tenant_id
    LEFT JOIN notification.channels AS way ON way.tenant_id = asked.tenant_id
    WHERE tenant.tenant_id = asked.tenant_id
    OFFSET 0
) AS mine;

-- name: load_people
-- Recipients with their preferences, where they have any, and their addresses on these channels, primaries first and then the
-- oldest; with an address come the versions of the key that opens it. One statement has one snapshot: a key that is rotated
-- meanwhile is seen together with the rows that it opens. LATERAL holds the planner to one index look-up each: a generic plan
-- knows nothing of the length of an array. `load_pending` reads the same of the recipients of notifications.
SELECT who.tenant_id, who.id AS recipient_id, who.primary_locale, who.primary_timezone, who.erased_at, who.display_name_ciphertext,
       chose.id AS preferences_id, chose.locale AS chosen_locale, chose.timezone AS chosen_timezone, chose.channels AS chosen_channels,
       chose.quiet_hours, chose.digest_schedule, chose.marketing_consent, chose.guardian_routing, chose.global_unsubscribed_at,
       chose.version AS preferences_version,
       ARRAY(
           SELECT ROW(a.id, a.channel, a.address_hash, a.address_ciphertext, a.is_primary)
           FROM notification.recipient_addresses AS a
           WHERE a.tenant_id = wanted.tenant_id AND a.recipient_id = wanted.id AND a.channel = ANY(:channels::text[])
           ORDER BY a.is_primary DESC, a.id
       ) AS addresses,
       ARRAY(
           SELECT ROW(k.version, k.wrapped_key, k.tenant_key_version)
           FROM kernel.data_keys AS k
           WHERE k.tenant_id = wanted.tenant_id AND k.subject_id = wanted.id AND cardinality(:channels::text[]) > 0
       ) AS keys
FROM unnest(:tenant_ids::text[], :recipient_ids::text[]) AS wanted (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT r.tenant_id, r.id, r.primary_locale, r.primary_timezone, r.erased_at, r.display_name_ciphertext
    FROM notification.recipients AS r
    WHERE r.tenant_id = wanted.tenant_id AND r.id = wanted.id
    OFFSET 0
) AS who
LEFT JOIN LATERAL (
    SELECT p.id, p.locale, p.timezone, p.channels, p.quiet_hours, p.digest_schedule, p.marketing_consent,
           p.guardian_routing, p.global_unsubscribed_at, p.version
    FROM notification.notification_preferences AS p
    WHERE p.tenant_id = wanted.tenant_id AND p.recipient_id = wanted.id
    OFFSET 0
) AS chose ON true;
