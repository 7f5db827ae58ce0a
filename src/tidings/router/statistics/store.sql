-- name: begin_mark
-- Statistics begin with the first transaction whose executions say which one they were written in.
INSERT INTO kernel.roll_up_marks (name, after_xid, not_before)
SELECT :name::text, 0, 'epoch' WHERE NOT EXISTS (SELECT FROM kernel.roll_up_marks WHERE name = :name::text)
ON CONFLICT DO NOTHING;

-- name: take_mark
-- Whoever has it rolls up; the others pass by. Transactions before `finished` are over, those from `unborn` on have not begun.
SELECT after_xid, not_before, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS finished,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS unborn
FROM kernel.roll_up_marks WHERE name = :name FOR UPDATE SKIP LOCKED;

-- name: move_mark
-- In the transaction that rolls up: where that fails, nothing was counted.
UPDATE kernel.roll_up_marks SET after_xid = :after, not_before = coalesce(:not_before, not_before) WHERE name = :name;

-- name: roll_up
-- Executions that these transactions have ended, added to what is there. The last call of a step says what became of the step;
-- the step that delivered is the last one on the final channel whose call was taken.
WITH ended AS MATERIALIZED (
    SELECT tenant_id, id, terminated_at, use_case, final_channel, outcome, fallback_path::jsonb AS path
    FROM chan.fallback_executions
    WHERE recorded_in >= :after AND recorded_in < :until AND started_at >= :not_before AND started_at >= :oldest
), tried AS MATERIALIZED (
    SELECT ended.tenant_id, ended.id, made.step, made.channel, coalesce(made.vendor, '') AS vendor, made.status, made.started_at,
           coalesce(nullif(made.reason, ''), made.status) AS code,
           greatest(0, extract(epoch FROM made.ended_at - made.started_at) * 1000)::bigint AS ms,
           made.vendor IS NOT NULL AND made.status <> 'step_skipped' AS is_call,
           row_number() OVER (PARTITION BY ended.tenant_id, ended.id, made.step ORDER BY made.started_at DESC, made.id DESC) = 1
               AS is_last,
           ended.outcome = 'DELIVERED' AND made.step = max(made.step) FILTER (
               WHERE made.channel = ended.final_channel AND made.status IN ('accepted', 'sent', 'delivered', 'delivered_read')
           ) OVER (PARTITION BY ended.tenant_id, ended.id) AS delivered
    FROM ended
    CROSS JOIN LATERAL jsonb_to_recordset(ended.path) AS made (
        id text, step integer, channel text, vendor text, status text, reason text, started_at timestamptz, ended_at timestamptz
    )
), placed AS MATERIALIZED (
    SELECT *, CASE WHEN is_call THEN width_bucket(ms, ARRAY[6, 11, 26, 51, 101, 251, 501, 1001, 2501, 5001, 10001, 30001]::bigint[]) END
        AS bucket
    FROM tried
), steps AS (
    INSERT INTO chan.step_statistics AS known (
        tenant_id, hour, step, channel, vendor, reached, delivered, calls, accepted, failed, timed_out, skipped, latency_ms, latencies
    )
    SELECT tenant_id, date_trunc('hour', started_at, 'UTC'), step, channel, vendor,
           count(*) FILTER (WHERE is_last), count(*) FILTER (WHERE is_last AND delivered), count(*) FILTER (WHERE is_call),
           count(*) FILTER (WHERE status IN ('accepted', 'sent', 'delivered', 'delivered_read')),
           count(*) FILTER (WHERE status IN ('failed_temp', 'failed_perm', 'rejected_by_provider', 'rejected_by_recipient')),
           count(*) FILTER (WHERE status = 'timed_out'), count(*) FILTER (WHERE status = 'step_skipped'),
           coalesce(sum(ms) FILTER (WHERE is_call), 0)::bigint,
           ARRAY[count(*) FILTER (WHERE bucket = 0), count(*) FILTER (WHERE bucket = 1), count(*) FILTER (WHERE bucket = 2),
                 count(*) FILTER (WHERE bucket = 3), count(*) FILTER (WHERE bucket = 4), count(*) FILTER (WHERE bucket = 5),
                 count(*) FILTER (WHERE bucket = 6), count(*) FILTER (WHERE bucket = 7), count(*) FILTER (WHERE bucket = 8),
                 count(*) FILTER (WHERE bucket = 9), count(*) FILTER (WHERE bucket = 10), count(*) FILTER (WHERE bucket = 11),
                 count(*) FILTER (WHERE bucket = 12)]
    FROM placed GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, hour, step, channel, vendor) DO UPDATE
    SET reached = known.reached + excluded.reached, delivered = known.delivered + excluded.delivered,
        calls = known.calls + excluded.calls, accepted = known.accepted + excluded.accepted, failed = known.failed + excluded.failed,
        timed_out = known.timed_out + excluded.timed_out, skipped = known.skipped + excluded.skipped,
        latency_ms = known.latency_ms + excluded.latency_ms,
        latencies = ARRAY(SELECT one + more FROM unnest(known.latencies, excluded.latencies) WITH ORDINALITY AS pair (one, more, place)
                          ORDER BY place)
), errors AS (
    INSERT INTO chan.error_statistics AS known (tenant_id, day, channel, vendor, code, n)
    SELECT tenant_id, (started_at AT TIME ZONE 'UTC')::date, channel, vendor, left(code, 64), count(*)
    FROM placed WHERE status NOT IN ('accepted', 'sent', 'delivered', 'delivered_read', 'cancelled')
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, day, channel, vendor, code) DO UPDATE SET n = known.n + excluded.n
), outcomes AS (
    INSERT INTO chan.outcome_statistics AS known (tenant_id, hour, use_case, channel, outcome, n)
    SELECT tenant_id, date_trunc('hour', terminated_at, 'UTC'), use_case, coalesce(final_channel, ''), outcome, count(*)
    FROM ended GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, hour, use_case, channel, outcome) DO UPDATE SET n = known.n + excluded.n
)
SELECT count(*) FROM ended;

-- name: sweep_steps
-- By the hour for a quarter of a year.
DELETE FROM chan.step_statistics WHERE ctid IN (SELECT ctid FROM chan.step_statistics WHERE hour < :before LIMIT :limit);

-- name: sweep_outcomes
-- A few rows an hour: kept longer.
DELETE FROM chan.outcome_statistics WHERE ctid IN (SELECT ctid FROM chan.outcome_statistics WHERE hour < :before LIMIT :limit);

-- name: sweep_errors
-- As long as outcomes.
DELETE FROM chan.error_statistics WHERE ctid IN (SELECT ctid FROM chan.error_statistics WHERE day < :before LIMIT :limit);

-- name: sum_steps
-- Of all vendors of a step together, and each channel for itself.
SELECT step, channel, sum(reached)::bigint AS reached, sum(delivered)::bigint AS delivered, sum(calls)::bigint AS calls,
       sum(failed)::bigint AS failed, sum(timed_out)::bigint AS timed_out, sum(skipped)::bigint AS skipped
FROM chan.step_statistics
WHERE tenant_id = :tenant_id AND hour >= :since AND hour < :until
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: sum_vendors
-- Each bucket of latency is added up for itself.
SELECT channel, vendor, sum(calls)::bigint AS calls, sum(accepted)::bigint AS accepted, sum(failed)::bigint AS failed,
       sum(timed_out)::bigint AS timed_out, sum(latency_ms)::bigint AS latency_ms,
       ARRAY[sum(latencies[1]), sum(latencies[2]), sum(latencies[3]), sum(latencies[4]), sum(latencies[5]), sum(latencies[6]),
             sum(latencies[7]), sum(latencies[8]), sum(latencies[9]), sum(latencies[10]), sum(latencies[11]), sum(latencies[12]),
             sum(latencies[13])]::bigint[] AS latencies
FROM chan.step_statistics
WHERE tenant_id = :tenant_id AND hour >= :since AND hour < :until AND vendor <> ''
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: sum_costs
-- A few rows a day, kept in the transactions that write attempts and receipts.
SELECT day, channel, vendor, currency, sum(messages)::bigint AS messages, sum(estimated_micros)::bigint AS estimated_micros,
       sum(real_micros)::bigint AS real_micros
FROM chan.spend_daily
WHERE tenant_id = :tenant_id AND day BETWEEN :since AND :until
GROUP BY 1, 2, 3, 4
HAVING (sum(messages), sum(estimated_micros), sum(real_micros)) <> (0, 0, 0)
ORDER BY 1, 2, 3, 4;

-- name: sum_errors
-- The most frequent ones.
SELECT channel, vendor, code, sum(n)::bigint AS n
FROM chan.error_statistics
WHERE tenant_id = :tenant_id AND day BETWEEN :since AND :until
GROUP BY 1, 2, 3
ORDER BY n DESC, 1, 2, 3
LIMIT :limit;

-- name: sum_outcomes
-- By the hour or the day.
SELECT date_trunc(:every::text, hour, 'UTC') AS at, channel, outcome, sum(n)::bigint AS n
FROM chan.outcome_statistics
WHERE tenant_id = :tenant_id AND hour >= :since AND hour < :until AND (:use_case::text IS NULL OR use_case = :use_case)
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;

-- name: sum_tenants
-- The loudest first.
SELECT tenant_id, sum(n)::bigint AS n, coalesce(sum(n) FILTER (WHERE outcome = 'DELIVERED'), 0)::bigint AS delivered,
       coalesce(sum(n) FILTER (WHERE outcome = 'FAILED'), 0)::bigint AS failed
FROM chan.outcome_statistics
WHERE hour >= :since AND hour < :until
GROUP BY 1
ORDER BY n DESC, 1
LIMIT :limit;
