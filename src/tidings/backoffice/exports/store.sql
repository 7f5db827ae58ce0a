-- part: columns
id, tenant_id, ledger, part, month, from_at, until_at, object_key, rows, bytes, checksum, begun_at, verified_at

-- name: insert_export
-- Its part is counted on from the last one; of two processes that begin the same, the second is refused by the unique key.
INSERT INTO bff_backoffice.exports (tenant_id, id, ledger, part, month, from_at, until_at, begun_at)
SELECT :tenant_id, :id, :ledger, coalesce(max(part), 0) + 1, :month, :from_at, :until_at, :now
FROM bff_backoffice.exports
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ledger = :ledger
RETURNING {columns};

-- name: finish_export
-- Once the file was read back.
UPDATE bff_backoffice.exports
SET object_key = :object_key, rows = :rows, bytes = :bytes, checksum = :checksum, verified_at = :now
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND id = :id;

-- name: reopen_export
-- Rows came late: its file is written anew, and until then counts for nothing.
UPDATE bff_backoffice.exports
SET rows = NULL, verified_at = NULL
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND id = :id;

-- name: unfinished_exports
-- Whose process was killed.
SELECT {columns} FROM bff_backoffice.exports
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ledger = :ledger AND verified_at IS NULL
ORDER BY part;

-- name: exported_until
-- Where the last part ended; parts that fill a gap of before do not move it.
SELECT max(until_at) FROM bff_backoffice.exports WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ledger = :ledger;

-- name: exports_of_month
-- In the order of their time.
SELECT {columns} FROM bff_backoffice.exports
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND ledger = :ledger AND month = :month
ORDER BY from_at;

-- name: list_exports
-- The newest first, from a cursor on.
SELECT {columns} FROM bff_backoffice.exports
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (CAST(:ledger AS text) IS NULL OR ledger = :ledger)
  AND (CAST(:month AS date) IS NULL OR month = :month)
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: owners_of_exports
-- Whose files there are.
SELECT DISTINCT tenant_id FROM bff_backoffice.exports ORDER BY tenant_id NULLS FIRST;

-- name: note_exported_month
-- What the owner may drop.
INSERT INTO kernel.exported_months (parent, month, rows, verified_at)
VALUES (:parent, :month, :rows, :now)
ON CONFLICT (parent, month) DO NOTHING;

-- name: exported_months
-- Which are known already.
SELECT month FROM kernel.exported_months WHERE parent = :parent;

-- name: changed_alert_acks
-- An acknowledgement that was made again stands in another file by now, and one that was taken back says so.
SELECT {columns} FROM bff_backoffice.exports AS e
WHERE e.ledger = 'alert_ack_log' AND e.verified_at IS NOT NULL AND e.from_at >= :since AND (
    e.rows <> (
        SELECT count(*) FROM bff_backoffice.alert_ack_log AS a
        WHERE a.tenant_id IS NOT DISTINCT FROM e.tenant_id AND a.acknowledged_at >= e.from_at AND a.acknowledged_at < e.until_at
    ) OR EXISTS (
        SELECT FROM bff_backoffice.alert_ack_log AS a
        WHERE a.tenant_id IS NOT DISTINCT FROM e.tenant_id AND a.acknowledged_at >= e.from_at AND a.acknowledged_at < e.until_at
          AND a.withdrawn_at >= e.verified_at
    )
)
ORDER BY e.id;

-- name: prune_alert_ack_log
-- A year after the acknowledgement: what stands in a file that was read back, all of the file at once.
DELETE FROM bff_backoffice.alert_ack_log AS old
WHERE (old.alert_id, old.acknowledged_by) IN (
    SELECT alert_id, acknowledged_by FROM bff_backoffice.alert_ack_log AS one
    WHERE one.acknowledged_at < :before AND EXISTS (
        SELECT FROM bff_backoffice.exports AS e
        WHERE e.tenant_id IS NOT DISTINCT FROM one.tenant_id AND e.ledger = 'alert_ack_log' AND e.verified_at IS NOT NULL
          AND one.acknowledged_at >= e.from_at AND one.acknowledged_at < e.until_at AND e.until_at <= :before
    )
    LIMIT :limit
);

-- name: oldest_operator_activity
-- Where the next file may begin.
SELECT min(occurred_at) FROM bff_backoffice.operator_activity WHERE tenant_id = :tenant_id AND occurred_at >= :from_at;

-- name: measure_operator_activity
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(occurred_at) AS last_at
FROM (
    SELECT occurred_at FROM bff_backoffice.operator_activity
    WHERE tenant_id = :tenant_id AND occurred_at >= :from_at AND occurred_at < :until_at
    ORDER BY occurred_at
    LIMIT :most
) AS counted;

-- name: read_operator_activity
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, id, occurred_at, property_id, operator_id, device_id, session_id, category, action, resource_kind, resource_id, outcome, status, error_code, latency_ms, context_hash, id AS row_key
FROM bff_backoffice.operator_activity
WHERE tenant_id = :tenant_id AND occurred_at >= :from_at AND occurred_at < :until_at AND (occurred_at, id) > (:after_at, CAST(:after_key AS text))
ORDER BY occurred_at, id
LIMIT :limit;

-- name: oldest_operator_activity_of_platform
-- Where the next file may begin.
SELECT min(occurred_at) FROM bff_backoffice.operator_activity WHERE tenant_id IS NULL AND occurred_at >= :from_at;

-- name: measure_operator_activity_of_platform
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(occurred_at) AS last_at
FROM (
    SELECT occurred_at FROM bff_backoffice.operator_activity
    WHERE tenant_id IS NULL AND occurred_at >= :from_at AND occurred_at < :until_at
    ORDER BY occurred_at
    LIMIT :most
) AS counted;

-- name: read_operator_activity_of_platform
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, id, occurred_at, property_id, operator_id, device_id, session_id, category, action, resource_kind, resource_id, outcome, status, error_code, latency_ms, context_hash, id AS row_key
FROM bff_backoffice.operator_activity
WHERE tenant_id IS NULL AND occurred_at >= :from_at AND occurred_at < :until_at AND (occurred_at, id) > (:after_at, CAST(:after_key AS text))
ORDER BY occurred_at, id
LIMIT :limit;

-- name: tenants_with_operator_activity
-- From one tenant to the next, however many rows each has.
WITH RECURSIVE found AS (
    (SELECT tenant_id FROM bff_backoffice.operator_activity WHERE tenant_id IS NOT NULL ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.tenant_id FROM bff_backoffice.operator_activity AS one WHERE one.tenant_id > found.tenant_id ORDER BY one.tenant_id LIMIT 1)
    FROM found WHERE found.tenant_id IS NOT NULL
)
SELECT tenant_id FROM found WHERE tenant_id IS NOT NULL;

-- name: oldest_alert_ack_log
-- Where the next file may begin.
SELECT min(acknowledged_at) FROM bff_backoffice.alert_ack_log WHERE tenant_id = :tenant_id AND acknowledged_at >= :from_at;

-- name: measure_alert_ack_log
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(acknowledged_at) AS last_at
FROM (
    SELECT acknowledged_at FROM bff_backoffice.alert_ack_log
    WHERE tenant_id = :tenant_id AND acknowledged_at >= :from_at AND acknowledged_at < :until_at
    ORDER BY acknowledged_at
    LIMIT :most
) AS counted;

-- name: read_alert_ack_log
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, alert_id, acknowledged_by, property_id, category, severity, raised_at, acknowledged_at, withdrawn_at, device_id, note_id, alert_id || ' ' || acknowledged_by AS row_key
FROM bff_backoffice.alert_ack_log
WHERE tenant_id = :tenant_id AND acknowledged_at >= :from_at AND acknowledged_at < :until_at AND (acknowledged_at, alert_id || ' ' || acknowledged_by) > (:after_at, CAST(:after_key AS text))
ORDER BY acknowledged_at, alert_id || ' ' || acknowledged_by
LIMIT :limit;

-- name: oldest_alert_ack_log_of_platform
-- Where the next file may begin.
SELECT min(acknowledged_at) FROM bff_backoffice.alert_ack_log WHERE tenant_id IS NULL AND acknowledged_at >= :from_at;

-- name: measure_alert_ack_log_of_platform
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(acknowledged_at) AS last_at
FROM (
    SELECT acknowledged_at FROM bff_backoffice.alert_ack_log
    WHERE tenant_id IS NULL AND acknowledged_at >= :from_at AND acknowledged_at < :until_at
    ORDER BY acknowledged_at
    LIMIT :most
) AS counted;

-- name: read_alert_ack_log_of_platform
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, alert_id, acknowledged_by, property_id, category, severity, raised_at, acknowledged_at, withdrawn_at, device_id, note_id, alert_id || ' ' || acknowledged_by AS row_key
FROM bff_backoffice.alert_ack_log
WHERE tenant_id IS NULL AND acknowledged_at >= :from_at AND acknowledged_at < :until_at AND (acknowledged_at, alert_id || ' ' || acknowledged_by) > (:after_at, CAST(:after_key AS text))
ORDER BY acknowledged_at, alert_id || ' ' || acknowledged_by
LIMIT :limit;

-- name: tenants_with_alert_ack_log
-- From one tenant to the next, however many rows each has.
WITH RECURSIVE found AS (
    (SELECT tenant_id FROM bff_backoffice.alert_ack_log WHERE tenant_id IS NOT NULL ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.tenant_id FROM bff_backoffice.alert_ack_log AS one WHERE one.tenant_id > found.tenant_id ORDER BY one.tenant_id LIMIT 1)
    FROM found WHERE found.tenant_id IS NOT NULL
)
SELECT tenant_id FROM found WHERE tenant_id IS NOT NULL;

-- name: oldest_ai_decision_log
-- Where the next file may begin.
SELECT min(decided_at) FROM bff_backoffice.ai_decision_log WHERE tenant_id = :tenant_id AND decided_at >= :from_at;

-- name: measure_ai_decision_log
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(decided_at) AS last_at
FROM (
    SELECT decided_at FROM bff_backoffice.ai_decision_log
    WHERE tenant_id = :tenant_id AND decided_at >= :from_at AND decided_at < :until_at
    ORDER BY decided_at
    LIMIT :most
) AS counted;

-- name: read_ai_decision_log
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, id, decided_at, property_id, suggestion_id, inbox_entry_id, category, severity, outcome, decided_by, device_id, note_id, id AS row_key
FROM bff_backoffice.ai_decision_log
WHERE tenant_id = :tenant_id AND decided_at >= :from_at AND decided_at < :until_at AND (decided_at, id) > (:after_at, CAST(:after_key AS text))
ORDER BY decided_at, id
LIMIT :limit;

-- name: tenants_with_ai_decision_log
-- From one tenant to the next, however many rows each has.
WITH RECURSIVE found AS (
    (SELECT tenant_id FROM bff_backoffice.ai_decision_log WHERE tenant_id IS NOT NULL ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.tenant_id FROM bff_backoffice.ai_decision_log AS one WHERE one.tenant_id > found.tenant_id ORDER BY one.tenant_id LIMIT 1)
    FROM found WHERE found.tenant_id IS NOT NULL
)
SELECT tenant_id FROM found WHERE tenant_id IS NOT NULL;

-- name: oldest_lock_action_proxy_audit
-- Where the next file may begin.
SELECT min(occurred_at) FROM bff_backoffice.lock_action_proxy_audit WHERE tenant_id = :tenant_id AND occurred_at >= :from_at;

-- name: measure_lock_action_proxy_audit
-- How many rows a stretch of time has, and the time of the one with the number that is asked for.
SELECT count(*) AS rows, max(occurred_at) AS last_at
FROM (
    SELECT occurred_at FROM bff_backoffice.lock_action_proxy_audit
    WHERE tenant_id = :tenant_id AND occurred_at >= :from_at AND occurred_at < :until_at
    ORDER BY occurred_at
    LIMIT :most
) AS counted;

-- name: read_lock_action_proxy_audit
-- A set, from the row before on. Ids, words of ours, numbers and times alone.
SELECT tenant_id, id, occurred_at, property_id, operator_id, device_id, reservation_id, action, vendor, outcome, error_code, mfa_attestation_id, upstream_request_id, settles_id, upstream_latency_ms, id AS row_key
FROM bff_backoffice.lock_action_proxy_audit
WHERE tenant_id = :tenant_id AND occurred_at >= :from_at AND occurred_at < :until_at AND (occurred_at, id) > (:after_at, CAST(:after_key AS text))
ORDER BY occurred_at, id
LIMIT :limit;

-- name: tenants_with_lock_action_proxy_audit
-- From one tenant to the next, however many rows each has.
WITH RECURSIVE found AS (
    (SELECT tenant_id FROM bff_backoffice.lock_action_proxy_audit WHERE tenant_id IS NOT NULL ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.tenant_id FROM bff_backoffice.lock_action_proxy_audit AS one WHERE one.tenant_id > found.tenant_id ORDER BY one.tenant_id LIMIT 1)
    FROM found WHERE found.tenant_id IS NOT NULL
)
SELECT tenant_id FROM found WHERE tenant_id IS NOT NULL;
