-- name: enter_attendees
-- Renewed where they are here already.
INSERT INTO kernel.hot_presence (tenant_id, key, member, expires_at)
SELECT given.tenant_id, given.key, given.member, :expires_at
FROM unnest(:tenant_ids::text[], :keys::text[], :members::text[]) AS given (tenant_id, key, member)
ON CONFLICT ON CONSTRAINT uq_hot_presence_member DO UPDATE SET expires_at = excluded.expires_at;

-- name: remove_attendees
-- Those who said goodbye; all others expire.
DELETE FROM kernel.hot_presence AS here
USING unnest(:tenant_ids::text[], :keys::text[], :members::text[]) AS gone (tenant_id, key, member)
WHERE here.tenant_id = gone.tenant_id AND here.key = gone.key AND here.member = gone.member;

-- name: find_attendees
-- Those whose time is not over, whether or not the sweeper has come by.
SELECT here.tenant_id, here.key, here.member
FROM unnest(:tenant_ids::text[], :keys::text[]) AS wanted (tenant_id, key)
CROSS JOIN LATERAL (
    SELECT p.* FROM kernel.hot_presence AS p
    WHERE p.tenant_id = wanted.tenant_id AND p.key = wanted.key AND p.expires_at > :now
    OFFSET 0
) AS here
ORDER BY here.member;
