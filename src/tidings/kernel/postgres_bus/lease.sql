-- name: register_group
-- A group that is known keeps its place, whatever is asked for now.
INSERT INTO kernel.bus_consumers (group_name, position, published_at)
SELECT :group,
    coalesce(:newest::bigint, (SELECT max(position) FROM kernel.bus_events WHERE :from_now), 0),
    CASE WHEN :from_now THEN now() ELSE 'epoch' END
ON CONFLICT (group_name) DO NOTHING;

-- name: claim_lease
-- Writes nothing unless there is something to do, so that idle processes cost a look and no more. An event
-- is looked for a day before the cursor's time: that much may the server's clock be set back. A process that
-- is stopped while it holds the row must not keep the others waiting: its session is ended.
WITH due AS (
    SELECT next_attempt_at FROM kernel.bus_parked AS head
    WHERE group_name = :group AND next_attempt_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM kernel.bus_parked AS earlier
        WHERE earlier.group_name = :group AND earlier.lane = head.lane AND earlier.position < head.position
    )
    ORDER BY next_attempt_at LIMIT 1
),
found AS (
    SELECT owner, lease_until,
        :stays::boolean OR EXISTS (
            SELECT FROM kernel.bus_events AS event
            WHERE event.position > consumer.position
              AND event.published_at >= consumer.published_at - INTERVAL '1 day'
        ) OR EXISTS (SELECT FROM due WHERE next_attempt_at <= :now) AS has_work
    FROM kernel.bus_consumers AS consumer WHERE group_name = :group
),
claimed AS (
    UPDATE kernel.bus_consumers
    SET owner = :owner, epoch = epoch + 1, lease_until = clock_timestamp() + :lease::interval
    WHERE group_name = :group AND (owner IS NULL OR owner = :owner OR lease_until < clock_timestamp())
      AND (SELECT has_work FROM found)
    RETURNING epoch, position, published_at
)
SELECT claimed.epoch, claimed.position, claimed.published_at,
    found.owner IS NOT NULL AND found.owner <> :owner AS from_another,
    CASE WHEN found.has_work
        THEN extract(epoch FROM found.lease_until - clock_timestamp())::float8 END AS held_seconds,
    (SELECT next_attempt_at FROM due) AS next_attempt_at,
    set_config('idle_in_transaction_session_timeout', '10s', true) AS patience
FROM found LEFT JOIN claimed ON true;

-- name: advance_cursor
-- Fenced: a process whose lease was taken changes nothing. Not waiting for the disk is safe: a cursor lost in
-- a crash is an older cursor, and what is delivered again is known to the ledger. Whoever rests lets the lease go.
UPDATE kernel.bus_consumers
SET position = :position, published_at = :published_at,
    owner = CASE WHEN :rest THEN NULL ELSE owner END,
    lease_until = CASE WHEN :rest THEN 'epoch' ELSE clock_timestamp() + :lease::interval END
WHERE group_name = :group AND owner = :owner AND epoch = :epoch
RETURNING set_config('idle_in_transaction_session_timeout', '10s', true) AS patience;

-- name: renew_lease
-- While one set takes long.
UPDATE kernel.bus_consumers SET lease_until = clock_timestamp() + :lease::interval
WHERE group_name = :group AND owner = :owner AND epoch = :epoch;

-- name: release_lease
-- Whoever wakes first may go on; on an engine whose readers stay, the others are told that this one goes.
UPDATE kernel.bus_consumers SET owner = NULL, lease_until = 'epoch'
WHERE group_name = :group AND owner = :owner AND epoch = :epoch
RETURNING CASE WHEN :announce::boolean THEN pg_notify('tidings_bus', '') IS NOT NULL END AS announced;
