-- name: hold
-- Held by the session, for as long as it is connected.
SELECT pg_advisory_lock(:lock_key);

-- name: announce
-- Known from now on.
INSERT INTO kernel.workers (id, lock_key) VALUES (:id, :lock_key);

-- name: come_back
-- The same worker over a new connection, with a new lock; no row where it was buried meanwhile.
UPDATE kernel.workers SET lock_key = :lock_key, seen_at = now() WHERE id = :id;

-- name: beat
-- A sign of life; how many workers there are.
UPDATE kernel.workers SET seen_at = now() WHERE id = :id RETURNING (SELECT count(*) FROM kernel.workers) AS workers;

-- name: leave
-- It ends in order: nobody has to wait for its silence.
DELETE FROM kernel.workers WHERE id = :id;

-- name: bury_dead
-- Silent, and without its lock; never in the moments after a start of the server, when nobody could say anything.
WITH silent AS MATERIALIZED (
    SELECT id, lock_key FROM kernel.workers
    WHERE seen_at < now() - :silence::interval AND pg_postmaster_start_time() < now() - :silence::interval
), dead AS MATERIALIZED (
    SELECT id FROM silent WHERE pg_try_advisory_xact_lock(lock_key)
)
DELETE FROM kernel.workers AS gone USING dead WHERE gone.id = dead.id
RETURNING gone.id;
