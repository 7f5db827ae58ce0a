-- name: load_open_windows
-- Windows that are open and not due, with what decides when they are flushed; of all recipients where none is named. Found by
-- uq_digest_windows_open, and locked in the order of its columns, which is that of joining.
SELECT w.id, w.recipient_id, w.category, w.channel, w.digest_key, w.is_test, w.window_start, w.last_item_at, w.flush_by, w.flush_at,
       r.primary_timezone, p.timezone AS chosen_timezone, p.digest_schedule, t.notification_policy, t.default_timezone
FROM notification.digest_windows AS w
JOIN notification.tenants_local AS t ON t.tenant_id = w.tenant_id
JOIN notification.recipients AS r ON r.tenant_id = w.tenant_id AND r.id = w.recipient_id
LEFT JOIN notification.notification_preferences AS p ON p.tenant_id = w.tenant_id AND p.recipient_id = w.recipient_id
WHERE w.tenant_id = :tenant_id AND w.state = 'open' AND w.flush_at > :now
  AND (w.recipient_id, w.category, w.channel, w.digest_key, w.is_test) > (
      :after_recipient::text, :after_category::text, :after_channel::text, :after_key::text, :after_test::boolean)
  AND (CAST(:recipient_ids AS text[]) IS NULL OR w.recipient_id = ANY (:recipient_ids::text[]))
ORDER BY w.recipient_id, w.category, w.channel, w.digest_key, w.is_test
LIMIT :limit
FOR UPDATE OF w;

-- name: move_windows
-- To the time that holds by now.
UPDATE notification.digest_windows AS w
SET flush_at = given.flush_at, window_end = greatest(given.window_end, w.window_start + interval '1 second'),
    slides = given.slides, updated_at = :now
FROM unnest(:ids::text[], :flush_ats::timestamptz[], :window_ends::timestamptz[], :slides::boolean[])
    AS given (id, flush_at, window_end, slides)
WHERE w.tenant_id = :tenant_id AND w.id = given.id AND w.state = 'open';
