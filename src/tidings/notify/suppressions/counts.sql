-- name: read_counts
-- A few rows by key, whatever the number of suppressions.
SELECT channel, reason, sum(n)::bigint AS n
FROM notification.suppression_counts
WHERE tenant_id = :tenant_id
GROUP BY channel, reason
HAVING sum(n) <> 0
ORDER BY channel, reason;

-- name: tenants_to_fold
-- Those whose counts have fresh rows, in the order of the index that holds only these.
SELECT DISTINCT tenant_id FROM notification.suppression_counts WHERE bucket <> 0 ORDER BY tenant_id LIMIT :limit;

-- name: fold_counts
-- What is committed by now goes into bucket 0. Rows of transactions under way are not seen and stay; two who fold at
-- once don't take the same row.
WITH taken AS (
    SELECT tenant_id, channel, reason, bucket
    FROM notification.suppression_counts
    WHERE tenant_id = :tenant_id AND bucket <> 0
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM notification.suppression_counts AS fresh USING taken
    WHERE fresh.tenant_id = taken.tenant_id AND fresh.channel = taken.channel AND fresh.reason = taken.reason
      AND fresh.bucket = taken.bucket
    RETURNING fresh.channel, fresh.reason, fresh.n
), folded AS (
    INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
    SELECT :tenant_id, gone.channel, gone.reason, 0, sum(gone.n)::bigint
    FROM gone
    GROUP BY gone.channel, gone.reason
    ORDER BY gone.channel, gone.reason
    ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n
)
SELECT count(*) FROM gone;
