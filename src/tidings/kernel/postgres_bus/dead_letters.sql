-- name: list_dead_letters
-- Ids grow with time: the oldest first, a page at a time.
SELECT id, group_name, envelope, payload, attempts, error, died_at, expires_at
FROM kernel.dead_letters
WHERE id > :after AND (:group::text IS NULL OR group_name = :group)
ORDER BY id LIMIT :limit;

-- name: find_dead_letter
-- With the event as it was published.
SELECT id, group_name, envelope, payload, attempts, error, died_at, expires_at
FROM kernel.dead_letters WHERE id = :id;

-- name: replay_dead_letter
-- Back into its lane at its old place, due at once, with all its attempts before it. Only if the group is
-- still there; otherwise nobody would ever take it up.
WITH taken AS (
    DELETE FROM kernel.dead_letters AS letter
    WHERE id = :id
      AND EXISTS (SELECT FROM kernel.bus_consumers AS consumer WHERE consumer.group_name = letter.group_name)
    RETURNING group_name, position, tenant_id, lane, envelope, payload
),
again AS (
    INSERT INTO kernel.bus_parked
        (group_name, position, tenant_id, lane, envelope, payload, attempts, next_attempt_at, parked_at)
    SELECT group_name, position, tenant_id, lane, envelope, payload, 0, :now, :now FROM taken
    ON CONFLICT (group_name, position) DO NOTHING
)
SELECT group_name, pg_notify('tidings_bus', '') IS NOT NULL AS announced FROM taken;

-- name: discard_dead_letter
-- A person has decided that it is not needed.
DELETE FROM kernel.dead_letters WHERE id = :id;

-- name: sweep_dead_letters
-- In chunks, so that no sweep holds its locks for long.
DELETE FROM kernel.dead_letters WHERE id IN (
    SELECT id FROM kernel.dead_letters WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
);
