-- Emergency only: undoes 0075_pre_calls_logged_once. A bounce of what was settled since then changes nothing.
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS delivering_attempt_id;
UPDATE kernel.partitioned_tables SET fillfactor = 60 WHERE parent LIKE 'notification.notifications\_%' AND fillfactor = 50;
