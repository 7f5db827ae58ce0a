-- name: find_channels
-- A tenant has a handful: all of them, or those asked for.
SELECT id, channel, vendor, fallback_vendor, sender, branding_overrides, rate_limit, status, health, version, updated_at
FROM notification.channels
WHERE tenant_id = :tenant_id AND (CAST(:channels AS text[]) IS NULL OR channel = ANY(:channels::text[]))
ORDER BY channel;

-- name: lock_channel
-- Every change of a channel takes this lock, one at a time.
SELECT id, channel, vendor, fallback_vendor, sender, branding_overrides, rate_limit, status, health, version, updated_at
FROM notification.channels
WHERE tenant_id = :tenant_id AND channel = :channel
FOR UPDATE;

-- name: insert_channel
-- Two who make the same channel at once: one row stays, and the other is told that it was changed meanwhile.
INSERT INTO notification.channels (
    tenant_id, id, channel, vendor, fallback_vendor, sender, branding_overrides, rate_limit, status, health, created_at, updated_at
)
VALUES (:tenant_id, :id, :channel, :vendor, :fallback_vendor, :sender, :branding, :rate_limit, :status, :health, :now, :now)
ON CONFLICT ON CONSTRAINT uq_channels_channel DO NOTHING;

-- name: update_channel
-- Under its lock: the values are whole, not changes.
UPDATE notification.channels
SET vendor = :vendor, fallback_vendor = :fallback_vendor, sender = :sender, branding_overrides = :branding,
    rate_limit = :rate_limit, status = :status, health = :health, updated_at = :now, version = :version
WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_credentials
-- What the channels use now and used before, the newest first.
SELECT id, channel_id, vendor, secret_ref, status, rotated_at, revoked_at
FROM notification.channel_credentials
WHERE tenant_id = :tenant_id AND channel_id = ANY(:channel_ids::text[])
ORDER BY id DESC;

-- name: end_credentials
-- Superseded by a new reference, or revoked with the vendor. First of two steps: there is one active for each vendor.
UPDATE notification.channel_credentials AS mine
SET status = ended.status, rotated_at = :now, updated_at = :now,
    revoked_at = CASE WHEN ended.status = 'revoked' THEN :now ELSE mine.revoked_at END
FROM unnest(:ids::text[], :statuses::text[]) AS ended (id, status)
WHERE mine.tenant_id = :tenant_id AND mine.id = ended.id;

-- name: insert_credentials
-- Active from the commit on.
INSERT INTO notification.channel_credentials (tenant_id, id, channel_id, vendor, secret_ref, created_at, updated_at)
SELECT :tenant_id, fresh.id, fresh.channel_id, fresh.vendor, fresh.secret_ref, :now, :now
FROM unnest(:ids::text[], :channel_ids::text[], :vendors::text[], :secret_refs::text[])
    AS fresh (id, channel_id, vendor, secret_ref);

-- name: lock_channels_of_vendor
-- They share one account, so its credentials change for all of them at once; always in the same order.
SELECT id, channel, vendor, fallback_vendor, sender, branding_overrides, rate_limit, status, health, version, updated_at
FROM notification.channels
WHERE tenant_id = :tenant_id AND (vendor = :vendor OR fallback_vendor = :vendor)
ORDER BY id
FOR UPDATE;

-- name: touch_channels
-- Their credentials are shown with them, so that a change of those is a new version.
UPDATE notification.channels
SET version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = ANY(:ids::text[]);

-- name: revoke_superseded
-- Across tenants, a chunk at a time: nothing can be under way with these any more.
UPDATE notification.channel_credentials AS mine
SET status = 'revoked', revoked_at = :now, updated_at = :now
FROM (
    SELECT tenant_id, id FROM notification.channel_credentials
    WHERE status = 'superseded' AND rotated_at < :before
    ORDER BY rotated_at
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
) AS due
WHERE mine.tenant_id = due.tenant_id AND mine.id = due.id;
