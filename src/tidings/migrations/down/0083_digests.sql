-- Emergency only: undoes 0083_pre_digests. Notifications that wait in a digest stay `scheduled`, and nothing sends them. Windows that
-- were flushed are removed.
DROP POLICY IF EXISTS worker_sweeps_what_is_done ON notification.digest_windows;
REVOKE DELETE ON notification.digest_windows FROM tidings_worker;
DROP POLICY IF EXISTS tenant_sets ON notification.digest_windows;
DROP INDEX IF EXISTS notification.ix_digest_windows_due;
DROP INDEX IF EXISTS notification.ix_digest_windows_flushed;
DROP INDEX IF EXISTS notification.ix_digest_windows_claimed;
DROP INDEX IF EXISTS notification.ix_digest_windows_recipient;
DROP INDEX IF EXISTS notification.uq_digest_windows_open;
CREATE INDEX IF NOT EXISTS ix_digest_windows_flush_ready ON notification.digest_windows (flush_at) WHERE state <> 'flushed';
ALTER TABLE notification.digest_windows
    DROP COLUMN IF EXISTS is_test,
    DROP COLUMN IF EXISTS slides,
    DROP COLUMN IF EXISTS flush_by,
    DROP COLUMN IF EXISTS last_item_at,
    DROP COLUMN IF EXISTS oldest_item_at,
    DROP COLUMN IF EXISTS newest_item_at,
    DROP COLUMN IF EXISTS retry_at,
    DROP COLUMN IF EXISTS attempts,
    DROP COLUMN IF EXISTS last_error,
    DROP COLUMN IF EXISTS flushed_at,
    DROP COLUMN IF EXISTS result;
COMMENT ON COLUMN notification.digest_windows.claimed_until IS NULL;
-- Before, no two windows of one key began at the same moment: those that are left are told apart by a microsecond each, backwards, in
-- the order in which they began. Security stays on; the owner gets a policy for it, and loses it in the same transaction.
CALL kernel.set_policy('notification.digest_windows', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM notification.digest_windows WHERE state = 'flushed';
UPDATE notification.digest_windows AS w
SET window_start = w.window_start - (ranked.place - 1) * INTERVAL '1 microsecond',
    -- A test's is not told from the other any more: one of a key is open, so that the way up is.
    state = 'flushing'
FROM (
    SELECT tenant_id, id,
           row_number() OVER (
               PARTITION BY tenant_id, recipient_id, category, channel, digest_key ORDER BY window_start DESC, id DESC
           ) AS place
    FROM notification.digest_windows
) AS ranked
WHERE w.tenant_id = ranked.tenant_id AND w.id = ranked.id AND ranked.place > 1;
DROP POLICY owner_undoes ON notification.digest_windows;
ALTER TABLE notification.digest_windows
    ADD CONSTRAINT uq_digest_windows_window UNIQUE (tenant_id, recipient_id, category, channel, digest_key, window_start);
COMMENT ON COLUMN notification.digest_windows.item_count IS 'Its items are the notifications with this digest_group_id.';
COMMENT ON COLUMN notification.digest_windows.window_end IS NULL;
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS digest_key;
