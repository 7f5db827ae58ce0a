-- name: lock_addresses
-- Two sets that count for the same address wait for each other here, in one order.
SELECT pg_advisory_xact_lock(sorted.key)
FROM (SELECT DISTINCT hashtextextended(:tenant_id || ' ' || channel || ' ' || address_hash, 7411042) AS key
      FROM unnest(:channels::text[], :hashes::text[]) AS wanted (channel, address_hash) ORDER BY 1) AS sorted;

-- name: add_bounces
-- A message counts once, and by the earliest that is said of it.
INSERT INTO notification.soft_bounces AS known (tenant_id, channel, address_hash, notification_id, target_id, bounced_at)
SELECT :tenant_id, b.channel, b.address_hash, b.notification_id, b.target_id, b.bounced_at
FROM unnest(
    :channels::text[], :hashes::text[], :notification_ids::text[], :target_ids::text[], :bounced_ats::timestamptz[]
) AS b (channel, address_hash, notification_id, target_id, bounced_at)
ON CONFLICT ON CONSTRAINT pk_soft_bounces DO UPDATE SET bounced_at = excluded.bounced_at
WHERE excluded.bounced_at < known.bounced_at;

-- name: find_full
-- The latest bounce that has enough others so shortly before it, of those addresses that have one; with its message. It does not
-- matter in which order they were heard.
SELECT wanted.place::integer AS place, latest.bounced_at, latest.notification_id
FROM unnest(:channels::text[], :hashes::text[]) WITH ORDINALITY AS wanted (channel, address_hash, place)
CROSS JOIN LATERAL (
    SELECT counted.bounced_at, counted.notification_id
    FROM (
        SELECT b.bounced_at, b.notification_id, lag(b.bounced_at, :others) OVER (ORDER BY b.bounced_at, b.notification_id) AS first
        FROM notification.soft_bounces AS b
        WHERE b.tenant_id = :tenant_id AND b.channel = wanted.channel AND b.address_hash = wanted.address_hash
    ) AS counted
    WHERE counted.first > counted.bounced_at - CAST(:within AS interval)
    ORDER BY counted.bounced_at DESC, counted.notification_id DESC
    LIMIT 1
) AS latest;

-- name: sweep_bounces
-- They are too old to count.
DELETE FROM notification.soft_bounces
WHERE (tenant_id, target_id, notification_id) IN (
    SELECT tenant_id, target_id, notification_id FROM notification.soft_bounces
    WHERE bounced_at < :before ORDER BY bounced_at LIMIT :limit
);
