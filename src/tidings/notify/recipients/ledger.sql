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

-- name: forget_evidence
-- For erasure: that somebody said yes or no stays, the reference to where it can be looked up goes.
UPDATE notification.consent_events SET evidence = NULL
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND evidence IS NOT NULL;
