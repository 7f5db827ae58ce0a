-- tidings: oldest-release=0.1.0
-- Digests act: notifications join a window in sets of several tenants, and a window that is being flushed takes no more.

ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS digest_key TEXT COLLATE "C";
COMMENT ON COLUMN notification.notifications.digest_key IS
    'Not personal: the caller''s own word that tells several digests of one category apart; null for the usual one.';

ALTER TABLE notification.digest_windows
    ADD COLUMN IF NOT EXISTS is_test BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS slides BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS flush_by TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS last_item_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS oldest_item_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS newest_item_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS retry_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS attempts INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS last_error TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS flushed_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS result TEXT COLLATE "C";
COMMENT ON COLUMN notification.digest_windows.claimed_until IS 'Not used: a claim has no time limit, and ends with its worker.';
COMMENT ON COLUMN notification.digest_windows.is_test IS 'Of notifications that were ordered with a test key; their digest is a test too.';
COMMENT ON COLUMN notification.digest_windows.slides IS 'Each item puts the flush off, until window_end at most.';
COMMENT ON COLUMN notification.digest_windows.window_end IS 'It is flushed by then at the latest, by the schedule that it was opened under.';
COMMENT ON COLUMN notification.digest_windows.flush_by IS 'The first of its items expires soon after; null where none does before the flush.';
COMMENT ON COLUMN notification.digest_windows.last_item_at IS 'When the last item joined.';
COMMENT ON COLUMN notification.digest_windows.oldest_item_at IS 'When the oldest of its items was created: with newest_item_at, the months that they lie in.';
COMMENT ON COLUMN notification.digest_windows.item_count IS
    'How many notifications have joined: those with this digest_group_id. Some may have been cancelled since.';
COMMENT ON COLUMN notification.digest_windows.attempts IS 'Flushes of it that ended in an error.';
COMMENT ON COLUMN notification.digest_windows.retry_at IS 'After such an error it is left alone until then.';
COMMENT ON COLUMN notification.digest_windows.last_error IS 'A code; never a value.';
COMMENT ON COLUMN notification.digest_windows.result IS
    'digest: one message for all; single: its only item went by itself; empty: no item was left; apart: no digest could be made, and each went by itself.';

-- Two windows of one key may open at the same moment, one after the other: what must not be is two that are open.
-- squawk-ignore ban-drop-constraint
ALTER TABLE notification.digest_windows DROP CONSTRAINT IF EXISTS uq_digest_windows_window;
-- The table has had no writer before this file.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX IF NOT EXISTS uq_digest_windows_open
    ON notification.digest_windows (tenant_id, recipient_id, category, channel, digest_key, is_test) WHERE state = 'open';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_digest_windows_recipient ON notification.digest_windows (tenant_id, recipient_id);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_digest_windows_claimed ON notification.digest_windows (claimed_by) WHERE claimed_by IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_digest_windows_flushed ON notification.digest_windows (flushed_at) WHERE flushed_at IS NOT NULL;
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX IF EXISTS notification.ix_digest_windows_flush_ready;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_digest_windows_due ON notification.digest_windows (flush_at)
    WHERE state <> 'flushed' AND claimed_by IS NULL;

CALL kernel.open_to_sets('notification.digest_windows');
GRANT DELETE ON notification.digest_windows TO tidings_worker;
CALL kernel.set_policy('notification.digest_windows', 'worker_sweeps_what_is_done',
    'AS RESTRICTIVE FOR DELETE TO tidings_worker USING (state = ''flushed'')');

CALL kernel.assert_protected();
