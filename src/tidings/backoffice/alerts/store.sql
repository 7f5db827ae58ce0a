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
