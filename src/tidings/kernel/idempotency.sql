-- name: begin_requests
-- A key that another transaction is at work on is told at once by its lock, and nobody waits. Ours are fresh when there is
-- no row, or one that has expired or whose worker is gone.
WITH wanted AS (
    SELECT key, request_hash
    FROM unnest(CAST(:keys AS text[]), CAST(:request_hashes AS text[])) AS asked (key, request_hash)
), tried AS MATERIALIZED (
    SELECT key, request_hash,
           pg_try_advisory_xact_lock(hashtextextended(
               '{schema}.idempotency ' || CAST(:scope AS text) || ' ' || key,
               hashtextextended(coalesce(CAST(:tenant_id AS text), ''), 0))) AS locked
    FROM wanted
), fresh AS (
    INSERT INTO {schema}.idempotency_keys AS known
        (tenant_id, scope, key, request_hash, state, locked_until, created_at, expires_at)
    SELECT :tenant_id, :scope, key, request_hash, 'in_progress', :locked_until, :now, :expires_at
    FROM tried WHERE locked
    ORDER BY key
    ON CONFLICT (tenant_id, scope, key) DO UPDATE SET
        request_hash = excluded.request_hash, state = 'in_progress', locked_until = excluded.locked_until,
        status = NULL, response = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
    WHERE known.expires_at <= :now
       OR (known.state = 'in_progress' AND known.locked_until <= :now AND known.request_hash = excluded.request_hash)
    RETURNING key
)
SELECT tried.key, tried.locked, fresh.key IS NOT NULL AS fresh
FROM tried LEFT JOIN fresh ON fresh.key = tried.key;

-- name: read_answers
-- A statement of its own, after the locks: it sees what was committed while we were getting them.
SELECT key, request_hash, state, status, response
FROM {schema}.idempotency_keys
WHERE scope = :scope AND key = ANY (CAST(:keys AS text[]));

-- name: find_answer
-- Of a request that was done, for whoever may not do it any more.
SELECT request_hash, status, response
FROM {schema}.idempotency_keys
WHERE scope = :scope AND key = :key AND state = 'done' AND expires_at > :now;

-- name: finish_requests
-- The answer commits with the work that it tells of. Whose keys these are is row-level security's to say: a filter on a
-- nullable tenant would hide the index from the planner.
UPDATE {schema}.idempotency_keys AS known
SET state = 'done', status = answer.status, response = answer.response, locked_until = NULL
FROM unnest(CAST(:keys AS text[]), CAST(:statuses AS integer[]), CAST(:responses AS text[])) AS answer (key, status, response)
WHERE known.scope = :scope AND known.key = answer.key AND known.state = 'in_progress';

-- name: release_requests
-- Expired at once: the row stays for the sweeper, and whoever comes next takes the key over, with any body.
UPDATE {schema}.idempotency_keys
SET expires_at = :now
WHERE scope = :scope AND key = ANY (CAST(:keys AS text[])) AND state = 'in_progress';

-- name: sweep_expired
-- The oldest first, about so many at a time, across tenants; the worker sees keys and times, no answers.
DELETE FROM {schema}.idempotency_keys
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM {schema}.idempotency_keys WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);
