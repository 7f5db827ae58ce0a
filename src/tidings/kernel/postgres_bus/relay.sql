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
END AS turn,
-- Whether a reader outside waits, as `rise` asks.
CASE WHEN pg_try_advisory_lock(7411004, 0) THEN NOT pg_advisory_unlock(7411004, 0) ELSE true END AS awaited;

-- name: writers
-- Transactions that may hold a number of this outbox that nobody sees yet: a number is only taken under
-- this lock. Our own deletes take it as well.
SELECT virtualtransaction AS writer FROM pg_locks
WHERE locktype = 'relation' AND relation = '{schema}.outbox'::regclass AND mode = 'RowExclusiveLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND pid IS DISTINCT FROM pg_backend_pid();
