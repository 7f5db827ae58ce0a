-- name: join_windows
-- Each notification joins the window that is open for it, or opens one; so many of a kind are one row here. A window that is being flushed is not open
-- any more, and a new one is opened beside it. Whoever joins holds the window's row until the end of the transaction: what a
-- flusher finds in a window that it has claimed is all that will ever be in it. In one order, that of the columns of
-- uq_digest_windows_open, which all that lock windows keep: no two of them wait for each other crosswise.
INSERT INTO notification.digest_windows AS known (
    tenant_id, id, recipient_id, category, channel, digest_key, is_test, window_start, window_end, flush_at, flush_by, slides,
    item_count, last_item_at, oldest_item_at, newest_item_at, created_at, updated_at
)
SELECT given.tenant_id, given.id, given.recipient_id, given.category, given.channel, given.digest_key, given.is_test, :now,
       greatest(given.window_end, CAST(:now AS timestamptz) + interval '1 second'),
       CASE WHEN given.item_count >= :most THEN CAST(:now AS timestamptz) ELSE least(given.flush_at, given.flush_by) END,
       given.flush_by, given.slides, given.item_count, :now, given.oldest_item_at, given.newest_item_at, :now, :now
FROM unnest(
    :tenant_ids::text[], :ids::text[], :recipient_ids::text[], :categories::text[], :channels::text[], :digest_keys::text[],
    :are_tests::boolean[], :window_ends::timestamptz[], :flush_ats::timestamptz[], :flush_bys::timestamptz[], :slides::boolean[],
    :item_counts::integer[], :oldests::timestamptz[], :newests::timestamptz[]
) AS given (
    tenant_id, id, recipient_id, category, channel, digest_key, is_test, window_end, flush_at, flush_by, slides, item_count,
    oldest_item_at, newest_item_at
)
ORDER BY given.tenant_id COLLATE "C", given.recipient_id COLLATE "C", given.category COLLATE "C", given.channel COLLATE "C",
         given.digest_key COLLATE "C", given.is_test
ON CONFLICT (tenant_id, recipient_id, category, channel, digest_key, is_test) WHERE state = 'open' DO UPDATE SET
    item_count = known.item_count + excluded.item_count,
    slides = excluded.slides,
    flush_by = least(known.flush_by, excluded.flush_by),
    flush_at = CASE
        WHEN known.item_count + excluded.item_count >= :most THEN least(known.flush_at, excluded.updated_at)
        WHEN known.flush_at <= excluded.updated_at THEN known.flush_at
        WHEN known.slides AND excluded.slides
            THEN least(known.window_end, known.flush_by, excluded.flush_by, greatest(known.flush_at, excluded.flush_at))
        ELSE least(known.flush_at, known.flush_by, excluded.flush_by, excluded.flush_at)
    END,
    last_item_at = greatest(known.last_item_at, excluded.last_item_at),
    oldest_item_at = least(known.oldest_item_at, excluded.oldest_item_at),
    newest_item_at = greatest(known.newest_item_at, excluded.newest_item_at),
    updated_at = excluded.updated_at
RETURNING tenant_id, recipient_id, category, channel, digest_key, is_test, id, flush_at;

-- name: leave_windows
-- Those that were cancelled before they had joined; the rows are this transaction's already.
UPDATE notification.digest_windows AS mine SET item_count = mine.item_count - gone.n
FROM (
    SELECT tenant_id, id, count(*) AS n
    FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
    GROUP BY tenant_id, id
) AS gone
WHERE mine.tenant_id = gone.tenant_id AND mine.id = gone.id;
