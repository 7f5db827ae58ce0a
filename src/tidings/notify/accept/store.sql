-- name: insert_notifications
-- A whole group in one trip: the rows, what they are found by, their places in the queue or in the schedule, their events, and the counts. The tenant's weight
-- comes along, so that a worker need not ask for it. The rows may be of many tenants.
WITH fresh AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :recipient_ids::text[], :statuses::text[], :channels::text[],
        :categories::text[], :use_cases::text[], :priorities::text[], :ranks::integer[], :retention_classes::text[],
        :locales::text[], :template_ids::text[], :template_version_ids::text[], :template_keys::text[],
        :template_semvers::text[], :template_versions::text[], :variables_hashes::text[], :variables::bytea[],
        :attachments::bytea[], :scheduled_fors::timestamptz[], :expires_ats::timestamptz[], :are_tests::boolean[],
        :source_event_ids::text[], :source_event_types::text[], :source_event_produced_ats::timestamptz[], :correlation_ids::text[], :metadatas::text[], :pinneds::text[], :traceparents::text[], :digest_keys::text[], :resent_froms::text[], :batch_ids::text[], :schedule_ids::text[],
        :event_ids::text[], :event_subjects::text[], :event_payloads::text[], :event_envelopes::text[]
    ) AS given (
        tenant_id, id, created_at, recipient_id, status, channel, category, use_case, priority, rank, retention_class, locale,
        template_id, template_version_id, template_key, template_semver, template_versions, variables_hash, variables,
        attachments, scheduled_for, expires_at, is_test, source_event_id, source_event_type,
        source_event_produced_at, correlation_id, metadata, pinned, traceparent, digest_key, resent_from, batch_id, schedule_id,
        event_id, event_subject, event_payload, event_envelope
    )
), stored AS (
    INSERT INTO notification.notifications (
        tenant_id, id, created_at, updated_at, queued_at, recipient_id, status, channel, category, use_case, priority,
        retention_class, locale, template_id, template_version_id, template_key, template_semver, template_versions,
        variables_hash, variables_ciphertext, attachments_ciphertext, scheduled_for, expires_at, is_test,
        source_event_id, source_event_type, source_event_produced_at, correlation_id, metadata, pinned, traceparent, digest_key,
        resent_from, batch_id
    )
    SELECT tenant_id, id, created_at, created_at, created_at, recipient_id, status, channel, category, use_case,
           priority, retention_class, locale, template_id, template_version_id, template_key, template_semver,
           template_versions, variables_hash, variables, attachments, scheduled_for, expires_at, is_test,
           source_event_id, source_event_type, source_event_produced_at, correlation_id, metadata, pinned, traceparent, digest_key,
           resent_from, batch_id
    FROM fresh
), findable AS (
    INSERT INTO notification.searchable_metadata (tenant_id, notification_id, created_at, key, value_hash)
    SELECT given.tenant_id, given.id, given.created_at, given.key, given.value_hash
    FROM unnest(:found_tenant_ids::text[], :found_ids::text[], :found_created_ats::timestamptz[], :found_keys::text[],
                :found_hashes::text[]) AS given (tenant_id, id, created_at, key, value_hash)
), queued AS (
    INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight, queued_at)
    SELECT fresh.tenant_id, fresh.id, fresh.rank, tenant.weight, fresh.created_at
    FROM fresh JOIN notification.tenants_local AS tenant ON tenant.tenant_id = fresh.tenant_id
    WHERE fresh.schedule_id IS NULL
), scheduled AS (
    INSERT INTO notification.notification_scheduled
        (tenant_id, id, kind, priority, source_event_id, notification_id, recipient_id, run_after)
    SELECT tenant_id, schedule_id, 'scheduled_send', priority, source_event_id, id, recipient_id, scheduled_for
    FROM fresh WHERE schedule_id IS NOT NULL
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, tenant_id, event_subject, id, event_payload, event_envelope FROM fresh
)
INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
SELECT fresh.tenant_id, :day, :stripe, counted.name, fresh.channel, counted.category, count(*)
FROM fresh
CROSS JOIN LATERAL (VALUES ('accepted', fresh.category), ('template', fresh.template_key)) AS counted (name, category)
GROUP BY fresh.tenant_id, counted.name, fresh.channel, counted.category
ORDER BY fresh.tenant_id, counted.name, fresh.channel, counted.category
ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n;

-- name: enter_ledger
-- One notification for each event, template, recipient, channel and time slot: those that get no row back were there before.
-- Of those that are alike in one set it is the first.
INSERT INTO notification.dedup_ledger
    (tenant_id, source_event_id, template_key, recipient_id, channel, notification_id, created_at, expires_at)
SELECT tenant_id, source_event_id, template_key, recipient_id, channel, notification_id, :now, :expires_at
FROM unnest(
    :tenant_ids::text[], :source_event_ids::text[], :template_keys::text[], :recipient_ids::text[], :channels::text[],
    :notification_ids::text[]
) WITH ORDINALITY AS fresh (tenant_id, source_event_id, template_key, recipient_id, channel, notification_id, place)
ORDER BY tenant_id, source_event_id, template_key, recipient_id, channel, place
ON CONFLICT ON CONSTRAINT pk_dedup_ledger DO NOTHING
RETURNING notification_id;

-- name: find_in_ledger
-- A statement of its own, after the attempt to enter: it sees what was committed while we waited.
SELECT wanted.place, entry.notification_id
FROM unnest(
    :places::integer[], :tenant_ids::text[], :source_event_ids::text[], :template_keys::text[], :recipient_ids::text[], :channels::text[]
) AS wanted (place, tenant_id, source_event_id, template_key, recipient_id, channel)
CROSS JOIN LATERAL (
    SELECT known.notification_id FROM notification.dedup_ledger AS known
    WHERE known.tenant_id = wanted.tenant_id AND known.source_event_id = wanted.source_event_id
      AND known.template_key = wanted.template_key AND known.recipient_id = wanted.recipient_id
      AND known.channel = wanted.channel
    OFFSET 0
) AS entry;

-- name: sweep_ledger
-- The oldest first, about so many at a time, across tenants.
DELETE FROM notification.dedup_ledger
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM notification.dedup_ledger WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);
