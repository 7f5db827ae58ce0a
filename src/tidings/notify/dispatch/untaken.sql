-- name: find_untaken
-- Across tenants: requests that the router is asked about, the oldest first.
SELECT tenant_id, notification_id, announcements, request, traceparent
FROM notification.dispatch_requests
WHERE look_at <= :now
ORDER BY look_at LIMIT :limit;

-- name: forget_taken
-- The router has them: nothing is to be kept here.
DELETE FROM notification.dispatch_requests AS kept
USING unnest(:tenant_ids::text[], :ids::text[]) AS taken (tenant_id, id)
WHERE kept.tenant_id = taken.tenant_id AND kept.notification_id = taken.id;

-- name: put_off
-- Handed over once more; the next question is later.
UPDATE notification.dispatch_requests AS kept
SET look_at = given.look_at, announcements = kept.announcements + 1
FROM unnest(:tenant_ids::text[], :ids::text[], :look_ats::timestamptz[]) AS given (tenant_id, id, look_at)
WHERE kept.tenant_id = given.tenant_id AND kept.notification_id = given.id;
