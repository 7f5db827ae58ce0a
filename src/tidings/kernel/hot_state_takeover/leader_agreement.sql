-- name: read_leader
-- The leader, its fence, and whether a living process is still in another epoch. Times are the database's: the clocks
-- of the processes may differ. A heartbeat is written an hour ahead, out of reach of a sweeper whose clock is fast.
SELECT
    leader.holder,
    leader.fence,
    EXISTS (
        SELECT FROM kernel.hot_presence AS other
        WHERE other.key >= 'hot_state:hand:' AND other.key < 'hot_state:hand;'
          AND other.key <> 'hot_state:hand:' || leader.fence
          AND other.expires_at > now() + interval '1 hour' - CAST(:timeout AS interval)
    ) AS awaited
FROM kernel.hot_leases AS leader
WHERE leader.key = 'hot_state:hand';

-- name: insert_first_leader
-- The first process names the leader; of two at once, one does.
INSERT INTO kernel.hot_leases (tenant_id, key, holder, fence, expires_at)
VALUES (NULL, 'hot_state:hand', :holder, nextval('kernel.lease_fences'), timestamptz '9999-01-01 00:00:00+00')
ON CONFLICT (tenant_id, key) DO NOTHING;

-- name: propose_leader
-- Change the leader, with a new fence, only if the fence is still the one that the proposer knows. Redis does not lead
-- while a living process can't reach it.
WITH changed AS (
    UPDATE kernel.hot_leases AS leader SET holder = :holder, fence = nextval('kernel.lease_fences')
    WHERE leader.key = 'hot_state:hand' AND leader.fence = :fence
      AND (:holder = 'postgres' OR NOT EXISTS (
          SELECT FROM kernel.hot_presence AS other
          WHERE other.key = 'hot_state:unwell'
            AND other.expires_at > now() + interval '1 hour' - CAST(:timeout AS interval)
      ))
    RETURNING leader.fence
)
SELECT fence, pg_notify('tidings_hot_state', 'changed') FROM changed;

-- name: mark_filled
-- Redis has every state that Postgres had; no call needs to look there any more.
UPDATE kernel.hot_leases AS leader SET holder = :holder
WHERE leader.key = 'hot_state:hand' AND leader.fence = :fence;

-- name: write_heartbeat
-- The heartbeat of a process in this epoch.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
VALUES (NULL, 'hot_state:hand:' || CAST(:fence AS bigint), :member, now() + interval '1 hour')
ON CONFLICT (tenant_id, key, member) DO UPDATE SET expires_at = excluded.expires_at;

-- name: leave_other_epochs
-- The process is in no other epoch any more.
DELETE FROM kernel.hot_presence AS own
WHERE own.key >= 'hot_state:hand:' AND own.key < 'hot_state:hand;'
  AND own.key <> 'hot_state:hand:' || CAST(:fence AS bigint) AND own.member = :member;

-- name: report_unreachable
-- This process can't reach Redis, so Redis must not lead.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
VALUES (NULL, 'hot_state:unwell', :member, now() + interval '1 hour')
ON CONFLICT (tenant_id, key, member) DO UPDATE SET expires_at = excluded.expires_at;

-- name: report_reachable
-- It can again.
DELETE FROM kernel.hot_presence AS own WHERE own.key = 'hot_state:unwell' AND own.member = :member;
