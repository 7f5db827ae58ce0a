-- name: take_turn
-- One relay per outbox works, another one that finds it working stands by. All relays take turns on the
-- stream: the next one gets the lock after the last one's rows are visible (Postgres makes a transaction
-- visible before it lets go of its locks), so that a reader never sees a position and later a lower one.
-- It is safe not to wait for the disk: a consumer's effects come later in the same log as this move.
-- A process that is stopped in the middle must not keep the others waiting: its session is ended.
SELECT CASE
    WHEN pg_try_advisory_xact_lock(7411002, hashtext('{schema}') & 2147483647) THEN
        pg_advisory_xact_lock(7411003, 0) IS NOT NULL
            AND set_config('synchronous_commit', 'off', true) IS NOT NULL
            AND set_config('idle_in_transaction_session_timeout', '10s', true) IS NOT NULL
            AND set_config('plan_cache_mode', 'force_custom_plan', true) IS NOT NULL
    ELSE false
END;

-- name: writers
-- Transactions that may hold a number of this outbox that nobody sees yet: a number is only taken under
-- this lock. Our own deletes take it as well.
SELECT virtualtransaction AS writer FROM pg_locks
WHERE locktype = 'relation' AND relation = '{schema}.outbox'::regclass AND mode = 'RowExclusiveLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND pid IS DISTINCT FROM pg_backend_pid();

-- name: move_events
-- Moves, and does not mark: the outbox stays small. Order by seq, because a transaction that could see
-- another one's event took its own number after it. Whatever is below :settled was moved long ago, and its
-- remains need not be waded through. Readers are told which subjects came, so that the others sleep on; where that would
-- be more than a notification holds, all are woken. An event that a group has applied already names it, and does not wake it.
-- Deleted by a range and not by a list: as a join of the two, planned with the statistics of an empty table, 2,000 rows took seconds.
WITH moved AS (
    DELETE FROM {schema}.outbox
    WHERE seq > :settled AND seq <= (
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
    END AS announced
FROM moved;
