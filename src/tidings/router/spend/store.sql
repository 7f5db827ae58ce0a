-- name: add_spent
-- One statement a set, in one order for all: a transaction that adds at the same time waits for a moment and never in a ring.
INSERT INTO chan.spend_daily AS known (
    tenant_id, day, stripe, channel, vendor, currency, messages, estimated_micros, real_micros, corrected
)
SELECT fresh.tenant_id, fresh.day, :stripe, fresh.channel, fresh.vendor, fresh.currency, fresh.messages, fresh.estimated,
       fresh.real, fresh.corrected
FROM unnest(
    :tenant_ids::text[], :days::date[], :channels::text[], :vendors::text[], :currencies::text[], :messages::bigint[], :estimateds::bigint[],
    :reals::bigint[], :correcteds::bigint[]
) AS fresh (tenant_id, day, channel, vendor, currency, messages, estimated, real, corrected)
ORDER BY fresh.tenant_id, fresh.day, fresh.channel, fresh.vendor, fresh.currency
ON CONFLICT (tenant_id, day, stripe, channel, vendor, currency) DO UPDATE
SET messages = known.messages + excluded.messages,
    estimated_micros = known.estimated_micros + excluded.estimated_micros,
    real_micros = known.real_micros + excluded.real_micros,
    corrected = known.corrected + excluded.corrected;

-- name: sum_spent
-- A few rows a day, whatever the number of messages. What was taken back altogether is nothing to show.
SELECT CASE :by::text WHEN 'day' THEN day::text WHEN 'channel' THEN channel ELSE vendor END AS part, currency,
       sum(messages)::bigint AS messages, sum(estimated_micros)::bigint AS estimated, sum(real_micros)::bigint AS real,
       sum(corrected)::bigint AS corrected
FROM chan.spend_daily
WHERE tenant_id = :tenant_id AND day BETWEEN :since AND :until
GROUP BY 1, 2
HAVING (sum(messages), sum(estimated_micros), sum(real_micros), sum(corrected)) <> (0, 0, 0, 0)
ORDER BY 1, 2;

-- name: count_unpriced
-- Calls that may have been taken and are not known to have cost anything; so many are counted and no more.
SELECT CASE :by::text WHEN 'day' THEN (started_at AT TIME ZONE 'UTC')::date::text WHEN 'channel' THEN channel
                      ELSE provider END AS part,
       count(*)::bigint AS messages
FROM (
    SELECT made.started_at, made.channel, made.provider
    FROM chan.delivery_attempts AS made
    WHERE made.tenant_id = :tenant_id AND made.started_at >= :since::date::timestamp AT TIME ZONE 'UTC'
      AND made.started_at < (:until::date + 1)::timestamp AT TIME ZONE 'UTC'
      AND made.provider IS NOT NULL AND made.cost_micros = 0 AND made.status IN ('accepted', 'timed_out')
      AND NOT EXISTS (
          SELECT FROM chan.delivery_attempt_events AS heard
          WHERE heard.tenant_id = :tenant_id AND heard.attempt_id = made.id AND heard.cost_micros IS NOT NULL
            AND heard.recorded_at >= made.started_at - INTERVAL '5 minutes'
      )
    LIMIT :most
) AS unpriced
GROUP BY 1
ORDER BY 1;

-- name: lock_attempts
-- A transaction with another price of the same attempt at the same time waits, and then sees ours: nothing is counted twice.
SELECT pg_advisory_xact_lock(hashtextextended(wanted.attempt_id, 7411006))
FROM unnest(:attempt_ids::text[]) AS wanted (attempt_id);

-- name: find_prices
-- Attempts with their estimate, and what vendors said that they take: before these receipts, and with them. Of several the
-- one that happened last is right, in whatever order they came.
SELECT made.id, made.started_at, made.channel, made.provider, made.cost_micros AS estimated, made.cost_currency,
       before.cost_micros AS before_micros, before.cost_currency AS before_currency,
       after.cost_micros AS after_micros, after.cost_currency AS after_currency
FROM unnest(:attempt_ids::text[], :attempt_started_ats::timestamptz[]) AS wanted (id, started_at)
CROSS JOIN LATERAL (
    SELECT id, started_at, channel, provider, cost_micros, cost_currency
    FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND id = wanted.id AND started_at = wanted.started_at
    LIMIT 1
) AS made
LEFT JOIN LATERAL (
    SELECT cost_micros, cost_currency FROM chan.delivery_attempt_events
    WHERE tenant_id = :tenant_id AND attempt_id = wanted.id AND cost_micros IS NOT NULL AND cost_currency IS NOT NULL
      AND recorded_at >= wanted.started_at - INTERVAL '5 minutes' AND id <> ALL (:ids::text[])
    ORDER BY occurred_at DESC NULLS LAST, recorded_at DESC, id DESC LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT cost_micros, cost_currency FROM chan.delivery_attempt_events
    WHERE tenant_id = :tenant_id AND attempt_id = wanted.id AND cost_micros IS NOT NULL AND cost_currency IS NOT NULL
      AND recorded_at >= wanted.started_at - INTERVAL '5 minutes'
    ORDER BY occurred_at DESC NULLS LAST, recorded_at DESC, id DESC LIMIT 1
) AS after ON true
WHERE made.provider IS NOT NULL;

-- name: costs_of_messages
-- What the newest messages of these days have cost by their executions, so many at most; those under way are not among them.
SELECT notification_id, cost_currency AS currency, total_cost_micros AS micros
FROM chan.fallback_executions
WHERE tenant_id = :tenant_id AND started_at >= :since::date::timestamp AT TIME ZONE 'UTC'
  AND started_at < (:until::date + 1)::timestamp AT TIME ZONE 'UTC' AND total_cost_micros > 0 AND cost_currency IS NOT NULL
ORDER BY started_at DESC
LIMIT :most;
