-- name: oldest_in_outbox
-- The lowest number is the oldest, near enough; no index is needed for the time.
SELECT extract(epoch FROM clock_timestamp() - enqueued_at)::float8 AS seconds
FROM {schema}.outbox ORDER BY seq LIMIT 1;

-- name: oldest_unread
-- The next event that the group has to look at, whether it will want it or not.
SELECT extract(epoch FROM clock_timestamp() - event.published_at)::float8 AS seconds
FROM kernel.bus_consumers AS consumer CROSS JOIN LATERAL (
    SELECT published_at FROM kernel.bus_events
    WHERE position > consumer.position AND published_at >= consumer.published_at - INTERVAL '1 day'
    ORDER BY position LIMIT 1
) AS event
WHERE consumer.group_name = :group;
