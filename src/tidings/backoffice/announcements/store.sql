-- name: insert_announcements
-- They are numbered when the transaction commits, by a trigger.
INSERT INTO bff_backoffice.announcements (tenant_id, id, channel, property_id, operator_id, device_id, facts, told_at)
SELECT :tenant_id, told.id, told.channel, told.property_id, told.operator_id, told.device_id, told.facts, :now
FROM unnest(:ids::text[], :channels::text[], :property_ids::text[], :operator_ids::text[], :device_ids::text[], :facts::text[])
    AS told (id, channel, property_id, operator_id, device_id, facts);

-- name: find_heads
-- How far each of these tenants has come; those that were never told anything are missing.
SELECT tenant_id, latest FROM bff_backoffice.announcement_heads WHERE tenant_id = ANY(CAST(:tenant_ids AS text[]));

-- name: find_platform_head
-- The same for the platform.
SELECT latest FROM bff_backoffice.announcement_heads WHERE tenant_id IS NULL;

-- name: find_after
-- What came after a number in each of these tenants, in order; by index, so many for each.
SELECT told.tenant_id, told.id, told.number, told.channel, told.property_id, told.operator_id, told.device_id, told.facts, told.told_at
FROM unnest(:tenant_ids::text[], :numbers::bigint[]) AS wanted (tenant_id, number)
CROSS JOIN LATERAL (
    SELECT a.* FROM bff_backoffice.announcements AS a
    WHERE a.tenant_id = wanted.tenant_id AND a.number > wanted.number
    ORDER BY a.number LIMIT :most
) AS told
ORDER BY told.tenant_id, told.number;

-- name: find_platform_after
-- The same for the platform.
SELECT tenant_id, id, number, channel, property_id, operator_id, device_id, facts, told_at
FROM bff_backoffice.announcements
WHERE tenant_id IS NULL AND number > :number
ORDER BY number
LIMIT :most;

-- name: sweep_announcements
-- An hour after they were told, across tenants; the worker sees ids and times.
DELETE FROM bff_backoffice.announcements
WHERE id IN (SELECT id FROM bff_backoffice.announcements WHERE told_at <= :before ORDER BY told_at LIMIT :limit);
