-- name: find_edge
-- How far the stream goes; positions become visible in their order, so whatever is up to there can be read by everybody from now on.
-- What the sequence has issued tells a place of this stream, whose days may be gone, from one that never was on it.
SELECT coalesce(max(position), 0) AS position, clock_timestamp() AS at,
    coalesce(pg_sequence_last_value('kernel.bus_positions'), 0) AS issued
FROM kernel.bus_events;

-- name: find_beginning
-- The place before the oldest event that is kept.
SELECT position - 1 AS position, published_at FROM kernel.bus_events ORDER BY position LIMIT 1;

-- name: read_feed
-- A tenant's events of one stretch of the stream, which is bounded by its positions: in the tenant's own transaction the rows of
-- others are not seen, and a limit would not count them.
SELECT position, published_at, id, tenant_id, subject, ordering_key, payload, envelope
FROM kernel.bus_events
WHERE position > :position AND position <= :until AND published_at >= :published_at::timestamptz - INTERVAL '1 day'
  AND tenant_id = :tenant_id AND subject ~ :expression
ORDER BY position LIMIT :limit;

-- name: find_news
-- Which of those tenants that somebody waits for have new events, of which subjects: ids and no content, for all who wait at once.
SELECT tenant_id, subject
FROM kernel.bus_events
WHERE position > :position AND position <= :until AND published_at >= :published_at::timestamptz - INTERVAL '1 day'
  AND tenant_id = ANY(:tenant_ids::text[])
GROUP BY tenant_id, subject;
