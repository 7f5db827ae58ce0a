-- name: read_events
-- What the group wants of the next stretch, and the stretch's last event, wanted or not: the others only move the cursor,
-- and most groups want few. What the group has applied with the change itself is not wanted again. The limit is on what is looked at, so that a group with rare subjects does not scan a day at once.
WITH seen AS MATERIALIZED (
    SELECT position, published_at,
        (subject = ANY(:plain::text[]) OR coalesce(subject ~ :wild, false))
            AND applied_by IS DISTINCT FROM :group AS wanted
    FROM kernel.bus_events
    WHERE position > :position AND published_at >= :published_at::timestamptz - INTERVAL '1 day'
    ORDER BY position LIMIT :limit
)
SELECT seen.position, seen.published_at, seen.wanted, (SELECT count(*) FROM seen) AS looked_at,
    event.id, event.tenant_id, event.subject, event.ordering_key, event.envelope, event.payload,
    seen.wanted AND EXISTS (
        SELECT FROM kernel.bus_parked AS parked
        WHERE parked.group_name = :group
          AND parked.lane = coalesce(event.tenant_id, '') || '/' || event.ordering_key
    ) AS behind_parked
FROM seen LEFT JOIN kernel.bus_events AS event
    ON seen.wanted AND event.position = seen.position AND event.published_at = seen.published_at
WHERE seen.wanted OR seen.position = (SELECT max(position) FROM seen)
ORDER BY seen.position;

-- name: oldest_unread
-- The next event that the group has to look at, whether it will want it or not.
SELECT extract(epoch FROM clock_timestamp() - event.published_at)::float8 AS seconds
FROM kernel.bus_consumers AS consumer CROSS JOIN LATERAL (
    SELECT published_at FROM kernel.bus_events
    WHERE position > consumer.position AND published_at >= consumer.published_at - INTERVAL '1 day'
    ORDER BY position LIMIT 1
) AS event
WHERE consumer.group_name = :group;
