-- name: find_meanings
-- What vendors' codes and words mean: a vendor's own name before that of its kind, the tenant's own reading before the platform's.
SELECT DISTINCT ON (wanted.vendor, wanted.code) wanted.vendor, wanted.code, known.canonical, known.reason
FROM unnest(:vendors::text[], :codes::text[]) AS wanted (vendor, code)
JOIN chan.adapter_status_map AS known
  ON known.provider_code = wanted.code
 AND (known.adapter = wanted.vendor OR starts_with(wanted.vendor, known.adapter || '_'))
 AND (known.tenant_id IS NULL OR known.tenant_id = :tenant_id)
ORDER BY wanted.vendor, wanted.code, length(known.adapter) DESC, known.tenant_id NULLS LAST;

-- name: load_own
-- All that one tenant says, for a memory.
SELECT adapter, provider_code, canonical, reason FROM chan.adapter_status_map WHERE tenant_id = :tenant_id;

-- name: load_everybodys
-- All that the platform says, for the same.
SELECT adapter, provider_code, canonical, reason FROM chan.adapter_status_map WHERE tenant_id IS NULL;

-- name: list_lines
-- Page after page of codes, each with the tenant's own line, the platform's, or both.
WITH page AS (
    SELECT DISTINCT adapter, provider_code
    FROM chan.adapter_status_map
    WHERE (tenant_id = :tenant_id OR tenant_id IS NULL)
      AND (:adapter::text IS NULL OR adapter = :adapter)
      AND (:after_adapter::text IS NULL OR (adapter, provider_code) > (:after_adapter::text, :after_code::text))
    ORDER BY adapter, provider_code LIMIT :limit
)
SELECT line.tenant_id, line.adapter, line.provider_code, line.canonical, line.reason, line.version, line.updated_by,
       line.updated_at, '[]' AS history
FROM page
JOIN chan.adapter_status_map AS line
  ON line.adapter = page.adapter AND line.provider_code = page.provider_code
 AND (line.tenant_id = :tenant_id OR line.tenant_id IS NULL)
ORDER BY line.adapter, line.provider_code, line.tenant_id NULLS LAST;

-- name: find_lines
-- One code: the tenant's own line, then the platform's.
SELECT tenant_id, adapter, provider_code, canonical, reason, version, updated_by, updated_at, history
FROM chan.adapter_status_map
WHERE (tenant_id = :tenant_id OR tenant_id IS NULL) AND adapter = :adapter AND provider_code = :code
ORDER BY tenant_id NULLS LAST;

-- name: lock_line
-- Every change of a line comes through here, one at a time.
SELECT tenant_id, adapter, provider_code, canonical, reason, version, updated_by, updated_at, history
FROM chan.adapter_status_map
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id::text AND adapter = :adapter AND provider_code = :code
FOR UPDATE;

-- name: count_lines
-- How many one owner has.
SELECT count(*) FROM chan.adapter_status_map WHERE tenant_id IS NOT DISTINCT FROM :tenant_id::text;

-- name: insert_line
-- Two who write the same at once: one line stays, and the other finds it.
INSERT INTO chan.adapter_status_map (tenant_id, adapter, provider_code, canonical, reason, updated_by, updated_at)
VALUES (:tenant_id::text, :adapter, :code, :canonical, :reason, :actor, :now)
ON CONFLICT (tenant_id, adapter, provider_code) DO NOTHING;

-- name: update_line
-- Under its lock; what it said before stays with it.
UPDATE chan.adapter_status_map
SET canonical = :canonical, reason = :reason, version = :version, history = :history::text::jsonb,
    updated_by = :actor, updated_at = :now
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id::text AND adapter = :adapter AND provider_code = :code;

-- name: delete_line
-- Under its lock.
DELETE FROM chan.adapter_status_map
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id::text AND adapter = :adapter AND provider_code = :code;

-- name: seed_lines
-- What adapters bring along, in one order for all processes that start at once. A line that an operator has changed stays.
INSERT INTO chan.adapter_status_map AS known (tenant_id, adapter, provider_code, canonical, reason, updated_by, updated_at)
SELECT NULL, fresh.adapter, fresh.code, fresh.canonical, fresh.reason, 'seed', :now
FROM unnest(:adapters::text[], :codes::text[], :canonicals::text[], :reasons::text[])
    AS fresh (adapter, code, canonical, reason)
ORDER BY fresh.adapter, fresh.code
ON CONFLICT (tenant_id, adapter, provider_code) DO UPDATE
SET canonical = excluded.canonical, reason = excluded.reason, updated_at = excluded.updated_at
WHERE known.updated_by = 'seed' AND known.version = 1
  AND (known.canonical, known.reason) IS DISTINCT FROM (excluded.canonical, excluded.reason);

-- name: note_unknown
-- What has no meaning is counted, in one order for all. A vendor that makes up ever new codes is not counted without end.
INSERT INTO chan.unknown_provider_codes AS known (tenant_id, vendor, code, adapter, count, first_seen, last_seen)
SELECT :tenant_id, told.vendor, told.code, told.adapter, told.count, :now, :now
FROM unnest(:vendors::text[], :codes::text[], :adapters::text[], :counts::bigint[])
    AS told (vendor, code, adapter, count)
WHERE (SELECT count(*) FROM chan.unknown_provider_codes WHERE tenant_id = :tenant_id) < :most
   OR EXISTS (
       SELECT FROM chan.unknown_provider_codes AS seen
       WHERE seen.tenant_id = :tenant_id AND seen.vendor = told.vendor AND seen.code = told.code
   )
ORDER BY told.vendor, told.code
ON CONFLICT (tenant_id, vendor, code) DO UPDATE
SET count = known.count + excluded.count, last_seen = greatest(known.last_seen, excluded.last_seen);

-- name: list_unknown
-- The most frequent first; in a transaction of the platform those of all tenants together. Each with the platform's meaning, or
-- the tenant's own, where it has got one since.
WITH seen AS (
    SELECT vendor, code, min(adapter) AS adapter, sum(count)::bigint AS count, count(*)::integer AS tenants,
           min(first_seen) AS first_seen, max(last_seen) AS last_seen
    FROM chan.unknown_provider_codes
    WHERE (:tenant_id::text IS NULL OR tenant_id = :tenant_id)
      AND (:adapter::text IS NULL OR adapter = :adapter OR vendor = :adapter)
    GROUP BY vendor, code
)
SELECT seen.vendor, seen.code, seen.adapter, seen.count, seen.tenants, seen.first_seen, seen.last_seen,
       meaning.canonical, meaning.reason
FROM seen
LEFT JOIN LATERAL (
    SELECT known.canonical, known.reason
    FROM chan.adapter_status_map AS known
    WHERE known.provider_code = seen.code
      AND (known.adapter = seen.vendor OR starts_with(seen.vendor, known.adapter || '_'))
      AND (known.tenant_id IS NULL OR known.tenant_id = :tenant_id)
    ORDER BY length(known.adapter) DESC, known.tenant_id NULLS LAST LIMIT 1
) AS meaning ON true
ORDER BY (meaning.canonical IS NULL) DESC, seen.count DESC, seen.vendor, seen.code
LIMIT :limit;

-- name: tenants_with_unknown
-- Who was told a code of an adapter lately, after the tenant before.
SELECT DISTINCT tenant_id
FROM chan.unknown_provider_codes
WHERE code = :code AND (vendor = :adapter OR starts_with(vendor, :adapter || '_')) AND last_seen > :since
  AND (:after::text IS NULL OR tenant_id > :after)
ORDER BY tenant_id LIMIT :limit;

-- name: sweep_unknown
-- Codes that vendors have stopped to say.
WITH old AS (
    SELECT tenant_id, vendor, code FROM chan.unknown_provider_codes WHERE last_seen < :before
    ORDER BY last_seen LIMIT :limit
)
DELETE FROM chan.unknown_provider_codes AS known
USING old
WHERE known.tenant_id = old.tenant_id AND known.vendor = old.vendor AND known.code = old.code;

-- name: find_unknown_receipts
-- Failures and unknown words that waited for this very line, the oldest first, each with what it means now. The receipt that
-- follows from one has its attempt, its moment and its code: where that is there, nothing is left to do.
SELECT DISTINCT ON (event.recorded_at, event.attempt_id) event.id, event.recorded_at, event.occurred_at, event.attempt_id, event.execution_id, event.provider_code,
       made.started_at, meaning.canonical, meaning.reason
FROM chan.delivery_attempt_events AS event
CROSS JOIN LATERAL (
    SELECT started_at, provider FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND execution_id = event.execution_id AND id = event.attempt_id
      AND started_at BETWEEN event.recorded_at - INTERVAL '90 days' AND event.recorded_at + INTERVAL '1 hour'
    LIMIT 1
) AS made
CROSS JOIN LATERAL (
    SELECT known.adapter, known.canonical, known.reason
    FROM chan.adapter_status_map AS known
    WHERE known.provider_code = event.provider_code
      AND (known.adapter = made.provider OR starts_with(made.provider, known.adapter || '_'))
      AND (known.tenant_id IS NULL OR known.tenant_id = :tenant_id)
    ORDER BY length(known.adapter) DESC, known.tenant_id NULLS LAST LIMIT 1
) AS meaning
WHERE event.tenant_id = :tenant_id AND event.provider_code = :code
  AND event.status IN ('unknown', 'failed_temp', 'failed_perm', 'rejected_by_provider', 'rejected_by_recipient', 'bounced')
  AND event.recorded_at > :since AND meaning.adapter = :adapter
  AND NOT EXISTS (
      SELECT FROM chan.delivery_attempt_events AS done
      WHERE done.tenant_id = :tenant_id AND done.recorded_at = event.recorded_at AND done.attempt_id = event.attempt_id
        AND done.provider_code = event.provider_code AND done.status = meaning.canonical
        AND done.reason = meaning.reason
  )
ORDER BY event.recorded_at, event.attempt_id, event.id
LIMIT :limit;
