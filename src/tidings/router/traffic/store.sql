-- name: add_counts
-- What this process saw since it last told; numbers of one bucket add up.
INSERT INTO chan.circuit_counts AS known (account_id, bucket, prefix, era, worker, ok, failed, slow, seconds)
SELECT fresh.account_id, :bucket, fresh.prefix, fresh.era, :worker, fresh.ok, fresh.failed, fresh.slow, fresh.seconds
FROM unnest(
    :account_ids::text[], :prefixes::text[], :eras::integer[], :oks::bigint[], :faileds::bigint[], :slows::bigint[],
    :seconds::double precision[]
) AS fresh (account_id, prefix, era, ok, failed, slow, seconds)
ON CONFLICT (account_id, bucket, prefix, era, worker) DO UPDATE
SET ok = known.ok + excluded.ok,
    failed = known.failed + excluded.failed,
    slow = known.slow + excluded.slow,
    seconds = known.seconds + excluded.seconds;

-- name: read_sums
-- What all processes saw of the accounts that did not do well, and of those that are asked for. All others do well.
WITH watched AS (
    SELECT account_id FROM chan.circuit_counts WHERE bucket >= :since AND (failed > 0 OR slow > 0)
    UNION
    SELECT asked.account_id FROM unnest(:account_ids::text[]) AS asked (account_id)
)
SELECT known.account_id, account.tenant_id, account.provider, known.prefix, known.era,
       sum(known.ok)::bigint AS ok, sum(known.failed)::bigint AS failed, sum(known.slow)::bigint AS slow,
       sum(known.seconds) AS seconds, max(known.bucket) FILTER (WHERE known.ok > 0) AS took_at
FROM watched
JOIN chan.circuit_counts AS known ON known.account_id = watched.account_id AND known.bucket >= :since
JOIN chan.channel_adapter_configs AS account ON account.id = known.account_id AND account.active
GROUP BY known.account_id, account.tenant_id, account.provider, known.prefix, known.era;

-- name: sweep_counts
-- Older ones count for nothing; those of processes that are gone fade in the same way.
DELETE FROM chan.circuit_counts WHERE bucket < :before;

-- name: read_circuits
-- Circuits that changed lately, or all that ever did.
SELECT id, tenant_id, provider, circuit_state, circuit_version, circuit_changed_at, circuit_until, circuit_openings,
       circuit_prober, circuit_reason, circuit_held, circuit_held_until, NULL::text AS circuit_held_reason
FROM chan.channel_adapter_configs
WHERE circuit_version > 0 AND (:since::timestamptz IS NULL OR circuit_changed_at >= :since);

-- name: find_circuits
-- The tenant's own accounts before the platform's; those of one account where an id is given.
SELECT id, tenant_id, provider, circuit_state, circuit_version, circuit_changed_at, circuit_until, circuit_openings,
       circuit_prober, circuit_reason, circuit_held, circuit_held_until, circuit_held_reason
FROM chan.channel_adapter_configs
WHERE (tenant_id = :tenant_id OR tenant_id IS NULL) AND (:id::text IS NULL OR id = :id)
ORDER BY tenant_id NULLS LAST, provider, id DESC;

-- name: change_circuit
-- Compare and set: of several processes that see the same one writes, the others find another version.
UPDATE chan.channel_adapter_configs
SET circuit_state = :state,
    circuit_version = :known_version + 1,
    circuit_changed_at = :now,
    circuit_opened_at = CASE WHEN :state = 'CLOSED' THEN NULL ELSE coalesce(circuit_opened_at, :now) END,
    circuit_until = :until::timestamptz,
    circuit_openings = :openings,
    circuit_prober = :prober::text,
    circuit_reason = :reason::text,
    circuit_held = :held,
    circuit_held_until = :held_until::timestamptz,
    circuit_held_reason = :held_reason::text
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id AND circuit_version = :known_version;

-- name: read_weights
-- Weights that changed lately, or all of them.
SELECT id, tenant_id, channel, home, by_prefix, shifts, version
FROM chan.vendor_weights
WHERE :since::timestamptz IS NULL OR updated_at >= :since;

-- name: find_weights
-- The tenant's own before the platform's.
SELECT id, tenant_id, channel, home, by_prefix, shifts, version
FROM chan.vendor_weights
WHERE (tenant_id = :tenant_id OR tenant_id IS NULL) AND (:channel::text IS NULL OR channel = :channel)
ORDER BY tenant_id NULLS LAST, channel;

-- name: insert_weights
-- Nothing happens where there are some already; the caller then finds those.
INSERT INTO chan.vendor_weights (id, tenant_id, channel, home, by_prefix, created_at, updated_at)
VALUES (:id, :tenant_id, :channel, :home::text::jsonb, :by_prefix::text::jsonb, :now, :now)
ON CONFLICT ON CONSTRAINT uq_vendor_weights_channel DO NOTHING;

-- name: change_weights
-- Compare and set, as with circuits.
UPDATE chan.vendor_weights
SET home = :home::text::jsonb,
    by_prefix = :by_prefix::text::jsonb,
    shifts = :shifts::text::jsonb,
    version = :known_version + 1,
    updated_at = :now
WHERE id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id AND version = :known_version;

-- name: accounts_of_tenants
-- The account that each of these tenants sends through with each of these vendors: its own, or else the platform's.
SELECT asked.place, asked.vendor, account.id
FROM unnest(:places::integer[], :tenant_ids::text[], :vendors::text[]) AS asked (place, tenant_id, vendor)
CROSS JOIN LATERAL (
    SELECT one.id FROM chan.channel_adapter_configs AS one
    WHERE one.provider = asked.vendor AND one.active AND (one.tenant_id = asked.tenant_id OR one.tenant_id IS NULL)
    ORDER BY one.tenant_id NULLS LAST, one.id DESC
    LIMIT 1
) AS account;
