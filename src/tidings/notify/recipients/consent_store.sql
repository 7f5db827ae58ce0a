-- name: append_events
-- All lines of a change at once.
INSERT INTO notification.consent_events (
    tenant_id, recipient_id, id, kind, channel, category, occurred_at, recorded_at, source, evidence, actor,
    preferences_version
)
SELECT :tenant_id, fresh.recipient_id, fresh.id, fresh.kind, fresh.channel, fresh.category, fresh.occurred_at,
       fresh.recorded_at, fresh.source, fresh.evidence, fresh.actor, fresh.preferences_version
FROM unnest(
    :recipient_ids::text[], :ids::text[], :kinds::text[], :channels::text[], :categories::text[],
    :occurred_ats::timestamptz[], :recorded_ats::timestamptz[], :sources::text[], :evidences::text[],
    :actors::text[], :versions::integer[]
) AS fresh (
    recipient_id, id, kind, channel, category, occurred_at, recorded_at, source, evidence, actor, preferences_version
);

-- name: list_events
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, recipient_id, kind, channel, category, occurred_at, recorded_at, source, evidence, actor, preferences_version
FROM notification.consent_events
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: last_nos
-- The last no of each kind that was written down until then, the newest first; there is a handful of kinds.
SELECT last.id, last.recipient_id, last.kind, last.channel, last.category, last.occurred_at, last.recorded_at, last.source,
       last.evidence, last.actor, last.preferences_version
FROM (
    SELECT DISTINCT ON (e.kind, e.channel, e.category) e.id, e.recipient_id, e.kind, e.channel, e.category, e.occurred_at,
           e.recorded_at, e.source, e.evidence, e.actor, e.preferences_version
    FROM notification.consent_events AS e
    WHERE e.tenant_id = :tenant_id AND e.recipient_id = :recipient_id
      AND e.kind IN ('opted_out', 'consent_withdrawn') AND e.recorded_at <= :until
    ORDER BY e.kind, e.channel, e.category, e.id DESC
) AS last
ORDER BY last.id DESC;

-- name: forget_evidence
-- For erasure: that a recipient said yes or no stays, the reference to where it can be looked up goes.
UPDATE notification.consent_events SET evidence = NULL
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND evidence IS NOT NULL;
