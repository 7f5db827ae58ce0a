-- name: begin_requests
-- A key that another transaction is at work on is told at once by its lock, and no caller waits. Ours are fresh when there is
-- no row, or one that has expired or whose worker is gone.
WITH wanted AS (
    SELECT tenant_id, scope, key, request_hash
    FROM unnest(CAST(:tenant_ids AS text[]), CAST(:scopes AS text[]), CAST(:keys AS text[]), CAST(:request_hashes AS text[]))
        AS asked (tenant_id, scope, key, request_hash)
), tried AS MATERIALIZED (
    SELECT tenant_id, scope, key, request_hash,
           pg_try_advisory_xact_lock(hashtextextended(
               '{schema}.idempotency ' || scope || ' ' || key, hashtextextended(coalesce(tenant_id, ''), 0))) AS locked
    FROM wanted
), fresh AS (
    INSERT INTO {schema}.idempotency_keys AS known
        (tenant_id, scope, key, request_hash, state, locked_until, created_at, expires_at)
    SELECT tenant_id, scope, key, request_hash, 'in_progress', :locked_until, :now, :expires_at
    FROM tried WHERE locked
    ORDER BY tenant_id, scope, key
    ON CONFLICT (tenant_id, scope, key) DO UPDATE SET
        request_hash = excluded.request_hash, state = 'in_progress', locked_until = excluded.locked_until,
        status = NULL, response = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
    WHERE known.expires_at <= :now
       OR (known.state = 'in_progress' AND known.locked_until <= :now AND known.request_hash = excluded.request_hash)
    RETURNING tenant_id, scope, key
)
SELECT tried.tenant_id, tried.scope, tried.key, tried.locked, fresh.key IS NOT NULL AS fresh
FROM tried LEFT JOIN fresh
    ON fresh.tenant_id IS NOT DISTINCT FROM tried.tenant_id AND fresh.scope = tried.scope AND fresh.key = tried.key;

-- name: read_answers
-- A statement of its own, after the locks: it sees what was committed while we were getting them. Two arms, because an index
-- on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
SELECT found.tenant_id, found.scope, found.key, found.request_hash, found.state, found.status, found.response, found.expires_at
FROM unnest(CAST(:tenant_ids AS text[]), CAST(:scopes AS text[]), CAST(:keys AS text[])) AS asked (tenant_id, scope, key)
CROSS JOIN LATERAL (
    SELECT known.tenant_id, known.scope, known.key, known.request_hash, known.state, known.status, known.response, known.expires_at
    FROM {schema}.idempotency_keys AS known
    WHERE known.tenant_id = asked.tenant_id AND known.scope = asked.scope AND known.key = asked.key
    UNION ALL
    SELECT known.tenant_id, known.scope, known.key, known.request_hash, known.state, known.status, known.response, known.expires_at
    FROM {schema}.idempotency_keys AS known
    WHERE asked.tenant_id IS NULL AND known.tenant_id IS NULL AND known.scope = asked.scope AND known.key = asked.key
) AS found;

-- name: finish_requests
-- The answer commits with the work that it tells of.
UPDATE {schema}.idempotency_keys AS known
SET state = 'done', status = answer.status, response = answer.response, locked_until = NULL
FROM unnest(CAST(:tenant_ids AS text[]), CAST(:scopes AS text[]), CAST(:keys AS text[]), CAST(:statuses AS integer[]), CAST(:responses AS text[]))
    AS answer (tenant_id, scope, key, status, response)
WHERE known.tenant_id = answer.tenant_id AND known.scope = answer.scope AND known.key = answer.key AND known.state = 'in_progress';

-- name: finish_platform_requests
-- The same for the platform's own keys.
UPDATE {schema}.idempotency_keys AS known
SET state = 'done', status = answer.status, response = answer.response, locked_until = NULL
FROM unnest(CAST(:scopes AS text[]), CAST(:keys AS text[]), CAST(:statuses AS integer[]), CAST(:responses AS text[]))
    AS answer (scope, key, status, response)
WHERE known.tenant_id IS NULL AND known.scope = answer.scope AND known.key = answer.key AND known.state = 'in_progress';

-- name: release_requests
-- Expired at once: the row stays for the sweeper, and the next request takes the key over, with any body.
UPDATE {schema}.idempotency_keys AS known
SET expires_at = :now
FROM unnest(CAST(:tenant_ids AS text[]), CAST(:scopes AS text[]), CAST(:keys AS text[])) AS given (tenant_id, scope, key)
WHERE known.tenant_id = given.tenant_id AND known.scope = given.scope AND known.key = given.key AND known.state = 'in_progress';

-- name: sweep_expired
-- The oldest first, about so many at a time, across tenants; the worker sees keys and times, no answers.
DELETE FROM {schema}.idempotency_keys
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM {schema}.idempotency_keys WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);
