-- name: still_dispatched
-- One index look-up each; the bounds leave all other months aside, also in a plan that was made for any values.
SELECT mine.id
FROM unnest(:ids::text[], :created_ats::timestamptz[]) AS wanted (id, created_at)
CROSS JOIN LATERAL (
    SELECT n.id, n.status FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine
WHERE mine.status = 'dispatched';
