-- name: find_last_digests
-- Of each window, the digests of its key that are still known, the latest first, with the window that each was made of: by
-- ix_digest_windows_recipient.
SELECT given.id AS window_id, last.id AS last_window_id, last.digest_notification_id, last.oldest_item_at, last.newest_item_at
FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
JOIN notification.digest_windows AS w ON w.tenant_id = given.tenant_id AND w.id = given.id
CROSS JOIN LATERAL (
    SELECT p.id, p.digest_notification_id, p.oldest_item_at, p.newest_item_at, p.flushed_at
    FROM notification.digest_windows AS p
    WHERE p.tenant_id = w.tenant_id AND p.recipient_id = w.recipient_id AND p.category = w.category AND p.channel = w.channel
      AND p.digest_key = w.digest_key AND p.is_test = w.is_test AND p.state = 'flushed' AND p.result = 'digest'
    ORDER BY p.flushed_at DESC, p.id DESC
    LIMIT :most
) AS last
ORDER BY given.id, last.flushed_at DESC, last.id DESC;

-- name: find_engagement
-- Whether these digests arrived, and whether they were read as far as anybody can tell.
SELECT given.id, n.status, coalesce(n.read_at, n.opened_at, n.clicked_at) IS NOT NULL AS was_read
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS given (tenant_id, id, created_at)
CROSS JOIN LATERAL (
    SELECT mine.status, mine.read_at, mine.opened_at, mine.clicked_at FROM notification.notifications AS mine
    WHERE mine.tenant_id = given.tenant_id AND mine.created_at = given.created_at AND mine.id = given.id
      AND mine.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS n;

-- name: find_told
-- The newest items that a digest took the place of and whose time is not over. Those of others, for whom its reader heard, are
-- told once: whether the reader still hears for them is not asked again.
SELECT given.tenant_id, given.id AS window_id, item.id
FROM unnest(:tenant_ids::text[], :ids::text[], :oldests::timestamptz[], :newests::timestamptz[], :recipient_ids::text[])
    AS given (tenant_id, id, oldest, newest, recipient_id)
CROSS JOIN LATERAL (
    SELECT n.id FROM notification.notifications AS n
    WHERE n.tenant_id = given.tenant_id AND n.digest_group_id = given.id AND n.status = 'superseded'
      AND n.recipient_id = given.recipient_id AND n.expires_at > :now
      AND n.created_at BETWEEN given.oldest AND given.newest AND n.created_at BETWEEN :oldest AND :newest
    ORDER BY n.created_at DESC, n.id DESC
    LIMIT :most
) AS item;
