-- name: tenants_with_expired
-- Whose suppressions ran out; across tenants, by times and ids alone.
SELECT DISTINCT due.tenant_id
FROM (
    SELECT tenant_id FROM notification.suppressions
    WHERE released_at IS NULL AND expires_at IS NOT NULL AND expires_at <= :now
    ORDER BY expires_at
    LIMIT :limit
) AS due;

-- name: release_expired
-- They hold nothing back since they ran out; now the row says so too, and makes room for a new one.
UPDATE notification.suppressions AS mine
SET released_at = mine.expires_at, released_by = 'system:expired'
FROM (
    SELECT due.id FROM notification.suppressions AS due
    WHERE due.tenant_id = :tenant_id AND due.released_at IS NULL AND due.expires_at IS NOT NULL
      AND due.expires_at <= :now
    ORDER BY due.expires_at
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
) AS taken
WHERE mine.tenant_id = :tenant_id AND mine.id = taken.id
RETURNING mine.id, mine.channel, mine.address_hash, mine.address_ciphertext, mine.reason,
          mine.source_notification_id, mine.notes, mine.expires_at, mine.released_at, mine.released_by,
          mine.occurred_at;
