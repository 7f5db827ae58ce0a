-- name: look
-- Who counts, under which number, and whether somebody alive still goes by another number. Times are the database's:
-- the clocks of the processes may differ. A sign of life is written an hour ahead, out of reach of a sweeper whose clock is fast.
SELECT
    hand.holder,
    hand.fence,
    EXISTS (
        SELECT FROM kernel.hot_presence AS other
        WHERE other.key >= 'hot_state:hand:' AND other.key < 'hot_state:hand;'
          AND other.key <> 'hot_state:hand:' || hand.fence
          AND other.expires_at > now() + interval '1 hour' - CAST(:silence AS interval)
    ) AS awaited
FROM kernel.hot_leases AS hand
WHERE hand.key = 'hot_state:hand';

-- name: begin
-- The first process of all says who counts; of two, one.
INSERT INTO kernel.hot_leases (tenant_id, key, holder, fence, expires_at)
VALUES (NULL, 'hot_state:hand', :holder, nextval('kernel.lease_fences'), timestamptz '9999-01-01 00:00:00+00')
ON CONFLICT (tenant_id, key) DO NOTHING;

-- name: propose
-- Another counts from now on, under a new number; only if it is still as the proposer knows it. Nobody goes back to Redis
-- while a living process can't use it.
WITH changed AS (
    UPDATE kernel.hot_leases AS hand SET holder = :holder, fence = nextval('kernel.lease_fences')
    WHERE hand.key = 'hot_state:hand' AND hand.fence = :fence
      AND (:holder = 'postgres' OR NOT EXISTS (
          SELECT FROM kernel.hot_presence AS other
          WHERE other.key = 'hot_state:unwell'
            AND other.expires_at > now() + interval '1 hour' - CAST(:silence AS interval)
      ))
    RETURNING hand.fence
)
SELECT fence, pg_notify('tidings_hot_state', 'changed') FROM changed;

-- name: filled
-- Redis knows all that Postgres knew; nobody needs to look there any more.
UPDATE kernel.hot_leases AS hand SET holder = :holder
WHERE hand.key = 'hot_state:hand' AND hand.fence = :fence;

-- name: take_part
-- A sign of life of a process that goes by this number.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
VALUES (NULL, 'hot_state:hand:' || CAST(:fence AS bigint), :member, now() + interval '1 hour')
ON CONFLICT (tenant_id, key, member) DO UPDATE SET expires_at = excluded.expires_at;

-- name: leave_others
-- It goes by no other number any more.
DELETE FROM kernel.hot_presence AS own
WHERE own.key >= 'hot_state:hand:' AND own.key < 'hot_state:hand;'
  AND own.key <> 'hot_state:hand:' || CAST(:fence AS bigint) AND own.member = :member;

-- name: say_unwell
-- This process can't use Redis, so nobody shall.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
VALUES (NULL, 'hot_state:unwell', :member, now() + interval '1 hour')
ON CONFLICT (tenant_id, key, member) DO UPDATE SET expires_at = excluded.expires_at;

-- name: say_well
-- It can again.
DELETE FROM kernel.hot_presence AS own WHERE own.key = 'hot_state:unwell' AND own.member = :member;
