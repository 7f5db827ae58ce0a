-- name: rest
-- Resting is holding the lock of one outbox alone. Writers share it, so it is refused while one of them is
-- between its insert and its commit; it is refused, too, while a relay of another process rests.
SELECT CASE
    WHEN pg_try_advisory_lock(7411001, hashtext(:outbox) & 2147483647) THEN 'resting'
    WHEN EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND mode = 'ExclusiveLock'
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND classid = 7411001 AND objid = (hashtext(:outbox) & 2147483647)::oid
    ) THEN 'another rests'
    ELSE 'writers at work'
END;

-- name: rise
-- From here on writers know that somebody is awake, and don't notify. Whether a reader outside waits for events, in whatever
-- process: each that has some shares a lock.
SELECT pg_advisory_unlock(7411001, hashtext(:outbox) & 2147483647) IS NOT NULL
   AND CASE WHEN pg_try_advisory_lock(7411004, 0) THEN NOT pg_advisory_unlock(7411004, 0) ELSE true END;

-- name: await_events
-- Readers of this process wait: relays don't let events gather for long. It waits for nobody but relays that just look.
SELECT pg_advisory_lock_shared(7411004, 0);

-- name: leave_events
-- None does any more.
SELECT pg_advisory_unlock_shared(7411004, 0);

-- name: ping
-- Sent through the pool: a connection pooler that swallows notifications is found out.
SELECT pg_notify('tidings_wakeups', :token);
