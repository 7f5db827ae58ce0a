-- name: list_windows
-- The newest first, with how many of their items still count; each window's items by its index, in the months that they lie in.
SELECT w.id, w.recipient_id, w.category, w.channel, w.digest_key, w.is_test, w.state, w.result, w.window_start, w.flush_at,
       w.flushed_at, w.digest_notification_id, counted.n AS item_count
FROM (
    SELECT mine.* FROM notification.digest_windows AS mine
    WHERE mine.tenant_id = :tenant_id AND (CAST(:after_id AS text) IS NULL OR mine.id < :after_id)
      AND mine.state = ANY (:states::text[])
      AND (CAST(:recipient_id AS text) IS NULL OR mine.recipient_id = :recipient_id)
      AND (CAST(:category AS text) IS NULL OR mine.category = :category)
      AND (CAST(:channel AS text) IS NULL OR mine.channel = :channel)
      AND (NOT CAST(:tests_only AS boolean) OR mine.is_test)
    ORDER BY mine.id DESC
    LIMIT :limit
) AS w
CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.digest_group_id = w.id AND n.status NOT IN ('cancelled', 'expired', 'suppressed')
      AND n.created_at BETWEEN w.oldest_item_at AND w.newest_item_at
) AS counted
ORDER BY w.id DESC;

-- name: find_window
-- By its key; the same columns.
SELECT w.id, w.recipient_id, w.category, w.channel, w.digest_key, w.is_test, w.state, w.result, w.window_start, w.flush_at,
       w.flushed_at, w.digest_notification_id, counted.n AS item_count
FROM notification.digest_windows AS w
CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.digest_group_id = w.id AND n.status NOT IN ('cancelled', 'expired', 'suppressed')
      AND n.created_at BETWEEN w.oldest_item_at AND w.newest_item_at
) AS counted
WHERE w.tenant_id = :tenant_id AND w.id = :id;

-- name: list_items
-- The oldest first.
SELECT n.id, n.status
FROM notification.digest_windows AS w
JOIN notification.notifications AS n ON n.tenant_id = w.tenant_id AND n.digest_group_id = w.id
  AND n.created_at BETWEEN w.oldest_item_at AND w.newest_item_at
WHERE w.tenant_id = :tenant_id AND w.id = :id
ORDER BY n.created_at, n.id
LIMIT :limit;

-- name: flush_now
-- It is due now; one that is being flushed or was is not among those returned.
UPDATE notification.digest_windows AS w SET flush_at = least(w.flush_at, :now), updated_at = :now
WHERE w.tenant_id = :tenant_id AND w.id = :id AND w.state = 'open'
RETURNING w.id;
