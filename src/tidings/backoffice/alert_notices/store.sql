-- name: find_subscription
-- One's own.
SELECT operator_id, tenant_id, severity, language, phone_ciphertext
FROM bff_backoffice.alert_subscriptions
WHERE operator_id = :operator_id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: put_subscription
-- The last word counts.
INSERT INTO bff_backoffice.alert_subscriptions (tenant_id, operator_id, severity, language, phone_ciphertext, updated_at)
VALUES (:tenant_id, :operator_id, :severity, :language, :phone_ciphertext, :now)
ON CONFLICT (operator_id) DO UPDATE
SET severity = excluded.severity, language = excluded.language, phone_ciphertext = excluded.phone_ciphertext,
    updated_at = excluded.updated_at;

-- name: remove_subscription
-- From then on they are told of nothing.
DELETE FROM bff_backoffice.alert_subscriptions
WHERE operator_id = :operator_id AND tenant_id IS NOT DISTINCT FROM :tenant_id;

-- name: list_subscriptions
-- Of a tenant, or of the platform.
SELECT operator_id, tenant_id, severity, language, phone_ciphertext
FROM bff_backoffice.alert_subscriptions
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id
ORDER BY operator_id
LIMIT 500;

-- name: tenants_to_tell
-- Where somebody wants to be told and something is open that nobody looks after; null for the platform.
SELECT DISTINCT subscription.tenant_id
FROM bff_backoffice.alert_subscriptions AS subscription
WHERE EXISTS (
    SELECT FROM bff_backoffice.alerts AS alert
    WHERE alert.resolved_at IS NULL AND alert.status = 'raised' AND alert.tenant_id IS NOT DISTINCT FROM subscription.tenant_id
      AND alert.raised_at <= :settled
)
LIMIT 1000;

-- name: open_alerts
-- What nobody looks after, and is not muted.
SELECT alert.id, alert.tenant_id, alert.dedup_key, alert.category, alert.severity, alert.property_id, alert.source, alert.facts,
       alert.status, alert.raised_at, alert.last_seen_at, alert.times_seen, alert.acknowledged_at, alert.resolved_at, alert.resolved_by
FROM bff_backoffice.alerts AS alert
WHERE alert.tenant_id IS NOT DISTINCT FROM :tenant_id AND alert.resolved_at IS NULL AND alert.status = 'raised'
  AND NOT EXISTS (
      SELECT FROM bff_backoffice.alert_mutes AS mute
      WHERE mute.tenant_id IS NOT DISTINCT FROM alert.tenant_id AND mute.category = alert.category AND mute.muted_until > :now
  )
ORDER BY alert.id DESC
LIMIT 500;

-- name: told_of
-- Of these operators, under these keys.
SELECT operator_id, dedup_key, alert_id, told_at, times
FROM bff_backoffice.alert_notices
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND operator_id = ANY (:operator_ids::text[]) AND dedup_key = ANY (:dedup_keys::text[]);

-- name: note_told
-- In the transaction that accepts the messages.
INSERT INTO bff_backoffice.alert_notices AS notice (tenant_id, operator_id, dedup_key, alert_id, told_at)
SELECT :tenant_id, told.operator_id, told.dedup_key, told.alert_id, :now
FROM unnest(:operator_ids::text[], :dedup_keys::text[], :alert_ids::text[]) AS told (operator_id, dedup_key, alert_id)
ORDER BY told.operator_id, told.dedup_key
ON CONFLICT (operator_id, dedup_key) DO UPDATE
SET alert_id = excluded.alert_id, told_at = excluded.told_at, times = notice.times + 1;

-- name: sweep_notices
-- Of outages that are long over.
DELETE FROM bff_backoffice.alert_notices
WHERE (operator_id, dedup_key) IN (
    SELECT operator_id, dedup_key FROM bff_backoffice.alert_notices WHERE told_at <= :before ORDER BY told_at LIMIT :limit
);
