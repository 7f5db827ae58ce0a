-- name: sum_counts
-- A few rows for each day, whatever was sent: the stripes are added up here.
SELECT day, name, channel, category, sum(n)::bigint AS n
FROM notification.counters
WHERE tenant_id = :tenant_id AND day BETWEEN :first AND :last AND name <> 'template'
GROUP BY day, name, channel, category
ORDER BY day, name, channel, category;
