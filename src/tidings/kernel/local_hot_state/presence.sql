-- name: touch_members
-- Many at once, in one order, because two processes may tell of the same recipient at the same time.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
SELECT :tenant_id, here.key, here.member, :expires_at
FROM unnest(CAST(:keys AS text[]), CAST(:members AS text[])) AS here (key, member)
ORDER BY here.key COLLATE "C", here.member COLLATE "C"
ON CONFLICT (tenant_id, key, member) DO UPDATE SET expires_at = excluded.expires_at;

-- name: remove_members
-- Who leaves by itself is gone at once. Whose keys these are is row-level security's to say: a filter on a nullable tenant
-- would hide the index from the planner.
DELETE FROM kernel.hot_presence AS known
USING unnest(CAST(:keys AS text[]), CAST(:members AS text[])) AS gone (key, member)
WHERE known.key = gone.key AND known.member = gone.member;

-- name: read_members
-- Only those whose time has not run out; the sweeper comes later.
SELECT key, member FROM kernel.hot_presence
WHERE key = ANY (CAST(:keys AS text[])) AND expires_at > :now;
