-- name: read_events
-- Events that the group does not want come without their content: they only move the cursor. The limit is
-- on what is looked at, so that a group with rare subjects does not scan a day at once.
SELECT position, published_at, wanted,
    CASE WHEN wanted THEN envelope END AS envelope,
    CASE WHEN wanted THEN payload END AS payload,
    wanted AND EXISTS (
        SELECT FROM kernel.bus_parked AS parked
        WHERE parked.group_name = :group
          AND parked.lane = coalesce(event.tenant_id, '') || '/' || event.ordering_key
    ) AS behind_parked
FROM (
    SELECT position, published_at, tenant_id, ordering_key, envelope, payload, subject ~ :subjects AS wanted
    FROM kernel.bus_events
    WHERE position > :position AND published_at >= :published_at::timestamptz - INTERVAL '1 day'
    ORDER BY position LIMIT :limit
) AS event
ORDER BY position;
