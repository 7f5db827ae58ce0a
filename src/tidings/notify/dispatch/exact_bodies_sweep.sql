-- name: find_tenants
-- The tenants that may have bodies.
SELECT tenant_id FROM notification.tenants_local ORDER BY tenant_id;

-- name: find_body_refs
-- What these notifications name; the bounds leave all other months aside.
SELECT mine.id, mine.body_ref
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT n.id, n.body_ref FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine;
