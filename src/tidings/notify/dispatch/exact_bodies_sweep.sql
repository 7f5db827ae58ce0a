-- name: find_body_refs
-- What these notifications name; the bounds leave all other months aside.
SELECT wanted.tenant_id, mine.id, mine.body_ref
FROM unnest(:tenant_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS wanted (tenant_id, id, created_at)
CROSS JOIN LATERAL (
    SELECT n.id, n.body_ref FROM notification.notifications AS n
    WHERE n.tenant_id = wanted.tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine;
