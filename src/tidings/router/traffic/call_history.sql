-- name: sum_calls
-- Calls of the newest attempts by account and hour; so many are read and no more, whatever a tenant sends. What a recipient
-- refuses is no failure of the vendor.
SELECT adapter_config_id AS account_id, provider AS vendor, date_trunc('hour', started_at, 'UTC') AS hour, count(*)::bigint AS calls,
       (count(*) FILTER (WHERE status IN ('failed_temp', 'failed_perm', 'rejected_by_provider', 'timed_out')))::bigint AS failed,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms)::bigint AS p50_ms,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms)::bigint AS p95_ms
FROM (
    SELECT adapter_config_id, provider, started_at, status, duration_ms
    FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND started_at >= :since AND provider IS NOT NULL AND adapter_config_id IS NOT NULL
      AND status NOT IN ('step_skipped', 'cancelled')
    ORDER BY started_at DESC
    LIMIT :most
) AS made
GROUP BY 1, 2, 3
ORDER BY 1, 3;
