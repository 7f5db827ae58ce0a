-- name: oldest_in_outbox
-- The lowest number is the oldest, near enough; no index is needed for the time.
SELECT extract(epoch FROM clock_timestamp() - enqueued_at)::float8 AS seconds
FROM {schema}.outbox ORDER BY seq LIMIT 1;
