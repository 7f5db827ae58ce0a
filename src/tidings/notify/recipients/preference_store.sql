-- name: load_preferences
-- Of a set of recipients; who never chose has no row.
SELECT mine.recipient_id, mine.id, mine.locale, mine.timezone, mine.channels, mine.quiet_hours,
       mine.digest_schedule, mine.marketing_consent, mine.guardian_routing, mine.global_unsubscribed_at,
       mine.version, mine.updated_at
FROM unnest(:recipient_ids::text[]) AS wanted (recipient_id)
CROSS JOIN LATERAL (
    SELECT p.recipient_id, p.id, p.locale, p.timezone, p.channels, p.quiet_hours, p.digest_schedule,
           p.marketing_consent, p.guardian_routing, p.global_unsubscribed_at, p.version, p.updated_at
    FROM notification.notification_preferences AS p
    WHERE p.tenant_id = :tenant_id AND p.recipient_id = wanted.recipient_id
    OFFSET 0
) AS mine;

-- name: save_preferences
-- Under the lock of their recipients. Whole, not changes; an empty locale or time zone follows the recipient's own.
INSERT INTO notification.notification_preferences AS known (
    tenant_id, id, recipient_id, locale, timezone, channels, quiet_hours, digest_schedule, marketing_consent,
    guardian_routing, global_unsubscribed_at, created_at, updated_at, version
)
SELECT :tenant_id, fresh.id, fresh.recipient_id, fresh.locale, fresh.timezone, fresh.channels::jsonb,
       fresh.quiet_hours::jsonb, fresh.digest_schedule::jsonb, fresh.marketing_consent::jsonb,
       fresh.guardian_routing::jsonb, fresh.global_unsubscribed_at, fresh.created_at, :now, fresh.version
FROM unnest(
    :ids::text[], :recipient_ids::text[], :locales::text[], :timezones::text[], :channels::text[],
    :quiet_hours::text[], :digest_schedules::text[], :consents::text[], :guardians::text[],
    :unsubscribed_ats::timestamptz[], :created_ats::timestamptz[], :versions::integer[]
) AS fresh (
    id, recipient_id, locale, timezone, channels, quiet_hours, digest_schedule, marketing_consent, guardian_routing,
    global_unsubscribed_at, created_at, version
)
ON CONFLICT ON CONSTRAINT uq_notification_preferences_recipient DO UPDATE SET
    locale = excluded.locale,
    timezone = excluded.timezone,
    channels = excluded.channels,
    quiet_hours = excluded.quiet_hours,
    digest_schedule = excluded.digest_schedule,
    marketing_consent = excluded.marketing_consent,
    guardian_routing = excluded.guardian_routing,
    global_unsubscribed_at = excluded.global_unsubscribed_at,
    updated_at = excluded.updated_at,
    version = excluded.version;
