-- name: list_for_all
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, channel, mail_domain, reason, notes, expires_at, released_at, released_by, created_by, created_at
FROM notification_platform.suppressions
WHERE CAST(:after_id AS text) IS NULL OR id < :after_id
ORDER BY id DESC
LIMIT :limit;

-- name: release_for_all
-- Released, never deleted.
UPDATE notification_platform.suppressions SET released_at = :now, released_by = :released_by
WHERE id = :id AND released_at IS NULL
RETURNING id, channel, mail_domain, reason, notes, expires_at, released_at, released_by, created_by, created_at;
