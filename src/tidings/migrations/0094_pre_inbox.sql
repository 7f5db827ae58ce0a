-- tidings: oldest-release=0.1.0
-- The in-app inbox: what a person finds in the application itself. An item is stored once for its notification, under the
-- person's key; a person's counts are kept with every change of their items.
-- squawk-ignore-file require-concurrent-index-creation

CREATE TABLE IF NOT EXISTS notification.inboxes (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    recipient_id TEXT COLLATE "C" NOT NULL,
    is_test      BOOLEAN NOT NULL,
    unread       INTEGER NOT NULL DEFAULT 0,
    unseen       INTEGER NOT NULL DEFAULT 0,
    latest       BIGINT NOT NULL DEFAULT 0,
    tokens_from  TIMESTAMPTZ,
    CONSTRAINT pk_inboxes PRIMARY KEY (tenant_id, recipient_id, is_test),
    CONSTRAINT ck_inboxes_counts CHECK (unread >= 0 AND unseen >= 0 AND latest >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE notification.inboxes IS
    'A person''s in-app inbox: its counts, and the lock that every change of its items takes. Tests have one of their own.';
COMMENT ON COLUMN notification.inboxes.unread IS 'Items in view that were not read.';
COMMENT ON COLUMN notification.inboxes.unseen IS 'Items in view that were not seen.';
COMMENT ON COLUMN notification.inboxes.latest IS 'Grows with every change: the place of the newest item is never above it.';
COMMENT ON COLUMN notification.inboxes.tokens_from IS 'Inbox tokens that were made before this moment are void.';
CALL kernel.store_as_ledger('notification.inboxes');
CALL kernel.protect_tenant_table('notification.inboxes', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_sets('notification.inboxes');

CREATE TABLE IF NOT EXISTS notification.inbox_items (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    recipient_id  TEXT COLLATE "C" NOT NULL,
    is_test       BOOLEAN NOT NULL,
    place         BIGINT NOT NULL,
    category      TEXT COLLATE "C" NOT NULL,
    priority      TEXT COLLATE "C" NOT NULL,
    tags          TEXT[] COLLATE "C" NOT NULL DEFAULT '{}',
    arrived_at    TIMESTAMPTZ NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    due_at        TIMESTAMPTZ,
    seen_at       TIMESTAMPTZ,
    read_at       TIMESTAMPTZ,
    archived_at   TIMESTAMPTZ,
    snoozed_until TIMESTAMPTZ,
    acted_at      TIMESTAMPTZ,
    acted         TEXT COLLATE "C",
    removed_at    TIMESTAMPTZ,
    content       BYTEA,
    CONSTRAINT pk_inbox_items PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT ck_inbox_items_id CHECK (id LIKE 'inb\_%' AND length(id) = 30),
    CONSTRAINT ck_inbox_items_priority CHECK (priority IN ('critical', 'high', 'normal', 'low')),
    CONSTRAINT ck_inbox_items_acted CHECK ((acted IS NULL) = (acted_at IS NULL)),
    CONSTRAINT ck_inbox_items_removed CHECK (removed_at IS NULL OR content IS NULL)
) PARTITION BY RANGE (created_at);
-- Ciphertext does not compress: spare the attempt. New partitions inherit the setting.
ALTER TABLE notification.inbox_items ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS ix_inbox_items_feed
    ON notification.inbox_items (tenant_id, recipient_id, is_test, place) WHERE removed_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbox_items_category
    ON notification.inbox_items (tenant_id, recipient_id, is_test, category, place) WHERE removed_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbox_items_unread
    ON notification.inbox_items (tenant_id, recipient_id, is_test, place) WHERE removed_at IS NULL AND read_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbox_items_unseen
    ON notification.inbox_items (tenant_id, recipient_id, is_test, place) WHERE removed_at IS NULL AND seen_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbox_items_due ON notification.inbox_items (due_at) WHERE due_at IS NOT NULL;
COMMENT ON TABLE notification.inbox_items IS
    'What people find in the application. Named after its notification, so that one that is delivered twice is stored once.';
COMMENT ON COLUMN notification.inbox_items.created_at IS 'The time inside the id: that of the notification.';
COMMENT ON COLUMN notification.inbox_items.recipient_id IS 'Whose inbox it is in: the reader, who may be a guardian.';
COMMENT ON COLUMN notification.inbox_items.place IS 'Its place in the feed, the newest highest; another one when a snooze ends.';
COMMENT ON COLUMN notification.inbox_items.tags IS 'Words of the template, for filters; what is personal belongs into the content.';
COMMENT ON COLUMN notification.inbox_items.due_at IS 'When its snooze ends or it expires, whichever is first; null once it is removed.';
COMMENT ON COLUMN notification.inbox_items.acted IS 'The name of the action that was chosen.';
COMMENT ON COLUMN notification.inbox_items.removed_at IS
    'Deleted or expired: the content is gone, and the row stays, so that a late repeat does not bring it back.';
COMMENT ON COLUMN notification.inbox_items.content IS 'Title, text, links and data, under the reader''s data key.';
CALL kernel.protect_tenant_table('notification.inbox_items', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_sets('notification.inbox_items');
CALL kernel.open_to_worker('notification.inbox_items', 'SELECT (tenant_id, id, created_at, recipient_id, is_test, due_at)');

-- Everything has expired by then: an item lives a year at most, and its notification waits two years at most to be sent.
INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor, keep) VALUES
    ('notification.inbox_items', 'notify', 'month', 3, 'created_at', 70, 38)
ON CONFLICT (parent) DO NOTHING;

CALL kernel.assert_protected();
