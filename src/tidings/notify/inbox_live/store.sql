-- name: find_news
-- How far each inbox has come, with its last changes above a number, removed items too: one statement, so that both are of the same
-- moment, and what is not above `latest` is all there. The newest first, so that where there are more it is the oldest that are missing.
SELECT mine.tenant_id, mine.recipient_id, mine.is_test, mine.unread, mine.unseen, mine.latest, mine.tokens_from, item.version,
       item.id, item.place, item.category, item.priority, item.tags, item.arrived_at, item.expires_at, item.seen_at,
       item.read_at, item.archived_at, item.snoozed_until, item.acted, item.acted_at, item.removed_at, item.content
FROM unnest(:tenant_ids::text[], :recipient_ids::text[], :is_tests::boolean[], :aboves::bigint[])
    AS wanted (tenant_id, recipient_id, is_test, above)
CROSS JOIN LATERAL (
    SELECT i.* FROM notification.inboxes AS i
    WHERE i.tenant_id = wanted.tenant_id AND i.recipient_id = wanted.recipient_id AND i.is_test = wanted.is_test
    OFFSET 0
) AS mine
LEFT JOIN LATERAL (
    SELECT i.* FROM notification.inbox_items AS i
    WHERE mine.latest > wanted.above AND i.tenant_id = wanted.tenant_id AND i.recipient_id = wanted.recipient_id
      AND i.is_test = wanted.is_test AND i.version > wanted.above
    ORDER BY i.version DESC LIMIT :most
) AS item ON true;
