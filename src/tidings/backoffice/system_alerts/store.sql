-- name: open_of_source
-- Across tenants; over the index of what is open, without facts.
SELECT tenant_id, dedup_key, severity, last_seen_at
FROM bff_backoffice.alerts
WHERE resolved_at IS NULL AND source = :source
LIMIT 20000;

-- name: quiet_of_source
-- What is told by events is over when none has come for a day.
SELECT tenant_id, dedup_key
FROM bff_backoffice.alerts
WHERE resolved_at IS NULL AND source = :source AND last_seen_at < :before
LIMIT 1000;
