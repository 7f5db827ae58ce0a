-- part: item
item.id, item.place, item.category, item.priority, item.tags, item.arrived_at, item.expires_at, item.seen_at, item.read_at,
       item.archived_at, item.snoozed_until, item.acted, item.acted_at, item.removed_at, item.content

-- part: of_person
item.tenant_id = :tenant_id AND item.recipient_id = :recipient_id AND item.is_test = :is_test AND item.removed_at IS NULL

-- name: find_subjects
-- Which notifications items are of, and whether their readers are still known. Their rows are locked against an erasure that comes
-- between: it waits, and then finds the item.
SELECT n.tenant_id, n.id AS notification_id, wanted.reader_id, n.category, n.priority, n.is_test, n.retention_class
FROM unnest(:tenant_ids::text[], :notification_ids::text[], :created_ats::timestamptz[], :reader_ids::text[])
    AS wanted (tenant_id, id, created_at, reader_id)
CROSS JOIN LATERAL (
    SELECT found.tenant_id, found.id, found.category, found.priority, found.is_test, found.retention_class
    FROM notification.notifications AS found
    WHERE found.tenant_id = wanted.tenant_id AND found.created_at = wanted.created_at AND found.id = wanted.id
      AND found.created_at BETWEEN :oldest AND :newest
    LIMIT 1
) AS n;

-- name: hold_readers
-- Those who were not erased, in one order, until the end of the transaction.
SELECT reader.tenant_id, reader.id
FROM unnest(:tenant_ids::text[], :reader_ids::text[]) AS wanted (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT mine.tenant_id, mine.id FROM notification.recipients AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.id = wanted.id AND mine.erased_at IS NULL
    FOR SHARE
) AS reader;

-- name: open_inboxes
-- Everybody has one from their first item, or their first token, on.
INSERT INTO notification.inboxes (tenant_id, recipient_id, is_test)
SELECT given.tenant_id, given.recipient_id, given.is_test
FROM unnest(:tenant_ids::text[], :recipient_ids::text[], :is_tests::boolean[]) AS given (tenant_id, recipient_id, is_test)
ORDER BY given.tenant_id, given.recipient_id, given.is_test
ON CONFLICT ON CONSTRAINT pk_inboxes DO NOTHING;

-- name: lock_inboxes
-- In one order everywhere, so that two sets never wait for each other crosswise. What is read afterwards is as it is now.
SELECT mine.tenant_id, mine.recipient_id, mine.is_test, mine.unread, mine.unseen, mine.latest, mine.tokens_from
FROM unnest(:tenant_ids::text[], :recipient_ids::text[], :is_tests::boolean[]) AS wanted (tenant_id, recipient_id, is_test)
CROSS JOIN LATERAL (
    SELECT i.* FROM notification.inboxes AS i
    WHERE i.tenant_id = wanted.tenant_id AND i.recipient_id = wanted.recipient_id AND i.is_test = wanted.is_test
    FOR UPDATE
) AS mine;

-- name: find_inbox
-- The counts, as they are kept.
SELECT unread, unseen, latest, tokens_from FROM notification.inboxes
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND is_test = :is_test;

-- name: store_items
-- Those that are not there yet, counted in the same statement. The inboxes are locked.
WITH given AS (
    SELECT * FROM unnest(
        :tenant_ids::text[], :ids::text[], :created_ats::timestamptz[], :recipient_ids::text[], :is_tests::boolean[],
        :places::bigint[], :categories::text[], :priorities::text[], :tag_lists::text[], :expires_ats::timestamptz[], :contents::bytea[]
    ) AS g (tenant_id, id, created_at, recipient_id, is_test, place, category, priority, tag_list, expires_at, content)
), stored AS (
    INSERT INTO notification.inbox_items
        (tenant_id, id, created_at, recipient_id, is_test, place, version, category, priority, tags, arrived_at, expires_at, due_at, content)
    SELECT given.tenant_id, given.id, given.created_at, given.recipient_id, given.is_test, given.place, given.place, given.category,
           given.priority, CASE WHEN given.tag_list = '' THEN '{}'::text[] ELSE string_to_array(given.tag_list, ' ') END, :now,
           given.expires_at, given.expires_at, given.content
    FROM given
    ON CONFLICT (tenant_id, created_at, id) DO NOTHING
    RETURNING tenant_id, id, recipient_id, is_test, place
), counted AS (
    UPDATE notification.inboxes AS i
    SET unread = i.unread + fresh.n, unseen = i.unseen + fresh.n, latest = greatest(i.latest, fresh.top)
    FROM (
        SELECT tenant_id, recipient_id, is_test, count(*)::integer AS n, max(place) AS top
        FROM stored GROUP BY tenant_id, recipient_id, is_test
    ) AS fresh
    WHERE i.tenant_id = fresh.tenant_id AND i.recipient_id = fresh.recipient_id AND i.is_test = fresh.is_test
)
SELECT tenant_id, id, recipient_id, is_test FROM stored;

-- name: load_items
-- Some items of one inbox, by their keys; those that were removed too.
SELECT {item}
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT i.* FROM notification.inbox_items AS i
    WHERE i.tenant_id = :tenant_id AND i.created_at = wanted.created_at AND i.id = wanted.id
      AND i.recipient_id = :recipient_id AND i.is_test = :is_test AND i.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS item;

-- name: write_items
-- As they are after a change, with the counts that follow from it. The inbox is locked.
WITH changed AS (
    SELECT * FROM unnest(
        :ids::text[], :created_ats::timestamptz[], :places::bigint[], :seen_ats::timestamptz[], :read_ats::timestamptz[],
        :archived_ats::timestamptz[], :snoozed_untils::timestamptz[], :actions::text[], :acted_ats::timestamptz[],
        :removed_ats::timestamptz[], :due_ats::timestamptz[]
    ) WITH ORDINALITY
        AS c (id, created_at, place, seen_at, read_at, archived_at, snoozed_until, acted, acted_at, removed_at, due_at, number)
), counted AS (
    UPDATE notification.inboxes
    SET unread = unread + :unread, unseen = unseen + :unseen, latest = :latest
    WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND is_test = :is_test
)
UPDATE notification.inbox_items AS item
SET place = changed.place, version = :latest - cardinality(:ids::text[]) + changed.number, seen_at = changed.seen_at, read_at = changed.read_at, archived_at = changed.archived_at,
    snoozed_until = changed.snoozed_until, acted = changed.acted, acted_at = changed.acted_at,
    removed_at = changed.removed_at, due_at = changed.due_at,
    content = CASE WHEN changed.removed_at IS NULL THEN item.content END
FROM changed
WHERE item.tenant_id = :tenant_id AND item.created_at = changed.created_at AND item.id = changed.id
  AND item.recipient_id = :recipient_id AND item.created_at BETWEEN :oldest AND :newest;

-- name: read_feed
-- The next items below a place, by the index of the feed; what is asked for among them is chosen afterwards, so that no filter
-- that matches little makes a request read a whole inbox.
SELECT {item} FROM notification.inbox_items AS item
WHERE {of_person} AND item.place < :below
ORDER BY item.place DESC LIMIT :most;

-- name: read_category
-- The same within one category, as a tab shows it.
SELECT {item} FROM notification.inbox_items AS item
WHERE {of_person} AND item.category = :category AND item.place < :below
ORDER BY item.place DESC LIMIT :most;

-- name: read_unread
-- The same among those that were not read.
SELECT {item} FROM notification.inbox_items AS item
WHERE {of_person} AND item.read_at IS NULL AND item.place < :below
ORDER BY item.place DESC LIMIT :most;

-- name: find_unread
-- The next of all that are to be marked as read.
SELECT item.id, item.place FROM notification.inbox_items AS item
WHERE {of_person} AND item.read_at IS NULL AND item.place < :below
  AND item.archived_at IS NULL AND item.snoozed_until IS NULL
  AND (CAST(:category AS text) IS NULL OR item.category = :category)
ORDER BY item.place DESC LIMIT :most;

-- name: find_unseen
-- The next of all that are to be marked as seen.
SELECT item.id, item.place FROM notification.inbox_items AS item
WHERE {of_person} AND item.seen_at IS NULL AND item.place < :below
  AND item.archived_at IS NULL AND item.snoozed_until IS NULL
ORDER BY item.place DESC LIMIT :most;

-- name: announce
-- Tells the processes whose clients wait for news which inboxes have some.
SELECT pg_notify('tidings_inbox', news) FROM unnest(:news::text[]) AS told (news);

-- name: void_tokens
-- Tokens that were made before are void; those of a person who is erased stay so for ever.
UPDATE notification.inboxes SET tokens_from = greatest(tokens_from, :now)
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND (is_test OR NOT :tests_only);

-- name: find_due
-- Whose snooze has ended, or whose time is over; the inboxes that they are in are locked before anything is done with them.
SELECT tenant_id, id, recipient_id, is_test FROM notification.inbox_items
WHERE due_at <= :now ORDER BY due_at LIMIT :limit;

-- name: next_due
-- Until then the job sleeps.
SELECT min(due_at) AS due_at FROM notification.inbox_items WHERE due_at IS NOT NULL;

-- name: forget_items
-- Of a person who is erased nothing stays.
DELETE FROM notification.inbox_items WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id;

-- name: forget_inboxes
-- Nothing is counted any more, and no token opens them: not one either that is being made at this moment, by somebody who
-- has read before that the person is there.
UPDATE notification.inboxes SET unread = 0, unseen = 0, tokens_from = '9999-12-31T00:00:00Z'
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id;

-- name: find_of_notifications
-- What became of the items of some notifications, whoever they are of.
SELECT {item}
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT i.* FROM notification.inbox_items AS i
    WHERE i.tenant_id = :tenant_id AND i.created_at = wanted.created_at AND i.id = wanted.id
      AND i.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS item;

-- name: walk_items
-- All of a person's items that are there, live and test, a page at a time.
SELECT {item}, item.is_test FROM notification.inbox_items AS item
WHERE item.tenant_id = :tenant_id AND item.recipient_id = :recipient_id AND item.removed_at IS NULL
  AND (item.is_test, item.place) > (:is_test, :above)
ORDER BY item.is_test, item.place LIMIT :most;
