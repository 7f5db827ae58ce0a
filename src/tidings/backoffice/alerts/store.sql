-- part: columns
alert.id, alert.tenant_id, alert.dedup_key, alert.category, alert.severity, alert.property_id, alert.source, alert.facts, alert.status,
    alert.raised_at, alert.last_seen_at, alert.times_seen, alert.acknowledged_at, alert.resolved_at, alert.resolved_by

-- name: raise_alerts
-- One that is open is counted and not raised again; of two processes that see the same at once, the second waits and counts.
-- Severity only rises while it is open.
INSERT INTO bff_backoffice.alerts AS alert (
    id, tenant_id, dedup_key, category, severity, property_id, source, facts, raised_at, last_seen_at
)
SELECT given.id, :tenant_id, given.dedup_key, given.category, given.severity, given.property_id, given.source, given.facts, :now, :now
FROM unnest(
    :ids::text[], :dedup_keys::text[], :categories::text[], :severities::text[], :property_ids::text[], :sources::text[], :facts::text[]
) AS given (id, dedup_key, category, severity, property_id, source, facts)
ORDER BY given.dedup_key
ON CONFLICT (tenant_id, dedup_key) WHERE resolved_at IS NULL DO UPDATE
SET last_seen_at = greatest(alert.last_seen_at, excluded.last_seen_at), times_seen = alert.times_seen + 1, facts = excluded.facts,
    severity = CASE
        WHEN 'critical' IN (alert.severity, excluded.severity) THEN 'critical'
        WHEN 'warning' IN (alert.severity, excluded.severity) THEN 'warning'
        ELSE 'info'
    END
RETURNING {columns};

-- name: resolve_alerts
-- Those of these keys that are open; locked in the order of the keys, as those who raise them do.
WITH ended AS MATERIALIZED (
    SELECT id FROM bff_backoffice.alerts
    WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND resolved_at IS NULL AND dedup_key = ANY (:dedup_keys::text[])
    ORDER BY dedup_key
    FOR UPDATE
)
UPDATE bff_backoffice.alerts AS alert
SET status = 'resolved', resolved_at = :now, resolved_by = :resolved_by
FROM ended WHERE alert.id = ended.id
RETURNING {columns};

-- name: sweep_alerts
-- Long after their end, across tenants; the worker sees ids and times.
DELETE FROM bff_backoffice.alerts
WHERE id IN (
    SELECT id FROM bff_backoffice.alerts WHERE resolved_at <= :before ORDER BY resolved_at LIMIT :limit
);

-- name: find_open_alerts
-- Those of these keys that are open.
SELECT {columns} FROM bff_backoffice.alerts AS alert
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND resolved_at IS NULL AND dedup_key = ANY (:dedup_keys::text[]);

-- name: open_alerts_of_category
-- The newest of what is open of one kind, for the page of what they are about.
SELECT {columns} FROM bff_backoffice.alerts AS alert
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND resolved_at IS NULL AND category = :category
ORDER BY raised_at DESC
LIMIT :limit;

-- name: find_alert
-- Of a property that the reader may not see there is none.
SELECT {columns}
FROM bff_backoffice.alerts AS alert
WHERE alert.id = :id AND alert.tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (alert.property_id IS NULL OR :is_every OR alert.property_id = ANY (:properties::text[]));

-- name: lock_alert
-- Two acknowledgements, or one and the end: the second waits here and sees the first.
SELECT {columns}
FROM bff_backoffice.alerts AS alert
WHERE alert.id = :id AND alert.tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (alert.property_id IS NULL OR :is_every OR alert.property_id = ANY (:properties::text[]))
FOR UPDATE;

-- name: list_alerts
-- The newest first; ids begin with their time. Open ones have an index of their own.
SELECT {columns}
FROM bff_backoffice.alerts AS alert
WHERE alert.tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (:with_resolved OR alert.resolved_at IS NULL)
  AND (:with_open OR alert.resolved_at IS NOT NULL)
  AND (alert.property_id IS NULL OR :is_every OR alert.property_id = ANY (:properties::text[]))
  AND (CAST(:severity AS text) IS NULL OR alert.severity = :severity)
  AND (CAST(:category AS text) IS NULL OR alert.category = :category)
  AND (CAST(:property_id AS text) IS NULL OR alert.property_id = :property_id)
  AND (CAST(:after_id AS text) IS NULL OR alert.id < :after_id)
ORDER BY alert.id DESC
LIMIT :limit;

-- name: count_open
-- Over the index of open ones alone, which are few; what is counted is remembered until one changes.
SELECT alert.property_id, alert.category, alert.severity, alert.status, count(*) AS alerts
FROM bff_backoffice.alerts AS alert
WHERE alert.tenant_id IS NOT DISTINCT FROM :tenant_id AND alert.resolved_at IS NULL
GROUP BY alert.property_id, alert.category, alert.severity, alert.status;

-- name: set_status
-- Under its lock: acknowledged, raised again because nobody stands by it any more, or resolved by hand.
UPDATE bff_backoffice.alerts AS alert
SET status = :status, acknowledged_at = :acknowledged_at, resolved_at = :resolved_at, resolved_by = :resolved_by
WHERE alert.id = :id AND alert.tenant_id IS NOT DISTINCT FROM :tenant_id
RETURNING {columns};

-- name: acknowledge
-- Once for each operator; who took it back may do it again. Nothing where their acknowledgement stands.
INSERT INTO bff_backoffice.alert_ack_log AS log (
    tenant_id, alert_id, acknowledged_by, property_id, category, severity, raised_at, acknowledged_at, device_id, note_id
)
VALUES (
    :tenant_id, :alert_id, :operator_id, :property_id, :category, :severity, :raised_at, :now, :device_id, :note_id
)
ON CONFLICT (alert_id, acknowledged_by) DO UPDATE
SET acknowledged_at = excluded.acknowledged_at, device_id = excluded.device_id, note_id = excluded.note_id, withdrawn_at = NULL
WHERE log.withdrawn_at IS NOT NULL;

-- name: withdraw
-- Taken back; the row stays.
UPDATE bff_backoffice.alert_ack_log SET withdrawn_at = :now
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND alert_id = :alert_id AND acknowledged_by = :operator_id AND withdrawn_at IS NULL;

-- name: find_acknowledgements
-- Of a page of alerts at once, those that stand.
SELECT alert_id, acknowledged_by AS operator_id, acknowledged_at, device_id, note_id
FROM bff_backoffice.alert_ack_log
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND alert_id = ANY (:alert_ids::text[]) AND withdrawn_at IS NULL
ORDER BY acknowledged_at, operator_id;

-- name: mute
-- The last word counts.
INSERT INTO bff_backoffice.alert_mutes AS mute (tenant_id, category, muted_until, muted_by, muted_at)
VALUES (:tenant_id, :category, :muted_until, :operator_id, :now)
ON CONFLICT (tenant_id, category) DO UPDATE
SET muted_until = excluded.muted_until, muted_by = excluded.muted_by, muted_at = excluded.muted_at;

-- name: unmute
-- Before its time.
DELETE FROM bff_backoffice.alert_mutes WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND category = :category;

-- name: list_mutes
-- Those that hold.
SELECT category, muted_until, muted_by, muted_at
FROM bff_backoffice.alert_mutes
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND muted_until > :now
ORDER BY category;

-- name: sweep_mutes
-- Over since a while.
DELETE FROM bff_backoffice.alert_mutes WHERE muted_until <= :before;
