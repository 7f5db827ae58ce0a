-- name: move_events
-- Moves, and does not mark: the outbox stays small. Order by seq, because a transaction that could see
-- another one's event took its own number after it. Whatever is below :settled was moved long ago, and its
-- remains need not be waded through. Readers are told which subjects came, so that the others sleep on; where that would
-- be more than a notification holds, all are woken. An event that a group has applied already names it, and does not wake it.
-- Nothing is moved after the stream has gone to another engine; this statement sees it, because that takes the relays' lock.
-- Deleted by a range and not by a list: as a join of the two, planned with the statistics of an empty table, 2,000 rows took seconds.
WITH moved AS (
    DELETE FROM {schema}.outbox
    WHERE (SELECT engine FROM kernel.bus_stream) = 'postgres' AND seq > :settled AND seq <= (
        SELECT max(first.seq)
        FROM (SELECT seq FROM {schema}.outbox WHERE seq > :settled ORDER BY seq LIMIT :limit) AS first
    )
    RETURNING seq, id, tenant_id, subject, ordering_key, payload, envelope, enqueued_at, applied_by
),
placed AS (
    INSERT INTO kernel.bus_events
        (position, published_at, id, tenant_id, subject, ordering_key, payload, envelope, applied_by)
    SELECT nextval('kernel.bus_positions'), (SELECT clock_timestamp()),
        id, tenant_id, subject, ordering_key, payload, envelope, applied_by
    FROM (SELECT * FROM moved ORDER BY seq) AS in_order
)
SELECT count(*) AS count, coalesce(max(seq), 0) AS last_seq,
    coalesce(extract(epoch FROM clock_timestamp() - min(enqueued_at)), 0)::float8 AS lag_seconds,
    CASE WHEN count(*) > 0 THEN
        pg_notify('tidings_bus', CASE
            WHEN count(DISTINCT (subject, applied_by)) <= 50
            THEN string_agg(DISTINCT subject || coalesce('!' || applied_by, ''), ' ')
            ELSE ''
        END) IS NOT NULL
    END AS announced,
    (SELECT engine FROM kernel.bus_stream) AS engine
FROM moved;
