-- name: lock_heads
-- Makes missing heads and locks all in the order of their names, so that two appenders never wait for each other crosswise.
INSERT INTO {schema}.audit_heads AS head (tenant_id, entity_type, seq, record_hash, last_at)
SELECT :tenant_id, wanted.entity_type, 0, NULL, :now
FROM unnest(CAST(:entity_types AS text[])) AS wanted (entity_type)
ORDER BY wanted.entity_type COLLATE "C"
ON CONFLICT (tenant_id, entity_type) DO UPDATE SET seq = head.seq
RETURNING entity_type, seq, record_hash, last_at;

-- name: append_rows
-- Rows and heads in one statement: there is no moment at which one knows of a row and the other does not.
WITH appended AS (
    INSERT INTO {schema}.audit (
        tenant_id, entity_type, seq, id, occurred_at, entity_id, action, actor, before, after,
        ip_hash, user_agent_hash, trace_id, reason, prev_hash, record_hash
    )
    SELECT :tenant_id, entity_type, seq, id, occurred_at, entity_id, action, actor, before, after,
           ip_hash, user_agent_hash, trace_id, reason, prev_hash, record_hash
    FROM unnest(
        CAST(:entity_type AS text[]), CAST(:seq AS bigint[]), CAST(:id AS text[]), CAST(:occurred_at AS timestamptz[]),
        CAST(:entity_id AS text[]), CAST(:action AS text[]), CAST(:actor AS text[]), CAST(:before AS text[]),
        CAST(:after AS text[]), CAST(:ip_hash AS text[]), CAST(:user_agent_hash AS text[]), CAST(:trace_id AS text[]),
        CAST(:reason AS text[]), CAST(:prev_hash AS text[]), CAST(:record_hash AS text[])
    ) AS fresh (
        entity_type, seq, id, occurred_at, entity_id, action, actor, before, after,
        ip_hash, user_agent_hash, trace_id, reason, prev_hash, record_hash
    )
)
UPDATE {schema}.audit_heads AS head
SET seq = last.seq, record_hash = last.record_hash, last_at = last.last_at
FROM unnest(
    CAST(:head_type AS text[]), CAST(:head_seq AS bigint[]), CAST(:head_hash AS text[]), CAST(:head_at AS timestamptz[])
) AS last (entity_type, seq, record_hash, last_at)
WHERE head.tenant_id IS NOT DISTINCT FROM :tenant_id AND head.entity_type = last.entity_type;

-- name: read_recent
-- The newest first, from a cursor on; the transaction's own tenant, or the platform's rows.
SELECT tenant_id, entity_type, seq, id, occurred_at, entity_id, action, actor, before, after,
       ip_hash, user_agent_hash, trace_id, reason, prev_hash, record_hash
FROM {schema}.audit
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id
  AND (CAST(:entity_type AS text) IS NULL OR entity_type = :entity_type)
  AND (CAST(:entity_id AS text) IS NULL OR entity_id = :entity_id)
  AND (CAST(:before_at AS timestamptz) IS NULL OR occurred_at <= :before_at)
  AND (CAST(:before_at AS timestamptz) IS NULL OR (occurred_at, id) < (:before_at, :before_id))
ORDER BY occurred_at DESC, id DESC
LIMIT :limit;
