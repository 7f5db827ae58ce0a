-- tidings: oldest-release=0.1.0
-- Every change of an item has a number in its inbox, so that a live stream that was away is told what it has missed, each change once.
-- squawk-ignore-file require-concurrent-index-creation

ALTER TABLE notification.inbox_items ADD COLUMN IF NOT EXISTS version BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS ix_inbox_items_version ON notification.inbox_items (tenant_id, recipient_id, is_test, version);
COMMENT ON COLUMN notification.inbox_items.version IS
    'The number of its last change in its inbox, never above `latest` there: what is above the one that a stream was told last is news to it.';

CALL kernel.assert_protected();
