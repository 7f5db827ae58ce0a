-- Emergency only: undoes 0095_pre_inbox_versions. Streams that come back are not told what they have missed.
DROP INDEX IF EXISTS notification.ix_inbox_items_version;
ALTER TABLE notification.inbox_items DROP COLUMN IF EXISTS version;
