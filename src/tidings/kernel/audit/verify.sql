-- name: next_tenants
-- Whose rows, heads or anchored streams there are: hops from tenant to tenant along the index instead of reading all rows.
WITH RECURSIVE in_rows (tenant_id) AS (
    (SELECT tenant_id FROM {schema}.audit WHERE tenant_id > :after ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT further.tenant_id FROM {schema}.audit AS further
        WHERE further.tenant_id > in_rows.tenant_id ORDER BY further.tenant_id LIMIT 1
    )
    FROM in_rows WHERE in_rows.tenant_id IS NOT NULL
)
SELECT known.tenant_id
FROM (
    (SELECT tenant_id FROM in_rows WHERE tenant_id IS NOT NULL LIMIT :limit)
    UNION
    (SELECT DISTINCT tenant_id FROM {schema}.audit_heads WHERE tenant_id > :after ORDER BY tenant_id LIMIT :limit)
    UNION
    (
        SELECT DISTINCT tenant_id FROM kernel.audit_anchor_lines
        WHERE tenant_id > :after AND log = '{schema}' ORDER BY tenant_id LIMIT :limit
    )
) AS known
ORDER BY known.tenant_id
LIMIT :limit;

-- name: entity_types
-- The streams of one tenant: those that have rows, those that have a head, those that an anchor remembers.
WITH RECURSIVE in_rows (entity_type) AS (
    (SELECT entity_type FROM {schema}.audit WHERE tenant_id IS NOT DISTINCT FROM :tenant_id ORDER BY entity_type LIMIT 1)
    UNION ALL
    SELECT (
        SELECT further.entity_type FROM {schema}.audit AS further
        WHERE further.tenant_id IS NOT DISTINCT FROM :tenant_id AND further.entity_type > in_rows.entity_type
        ORDER BY further.entity_type LIMIT 1
    )
    FROM in_rows WHERE in_rows.entity_type IS NOT NULL
)
SELECT entity_type FROM in_rows WHERE entity_type IS NOT NULL
UNION
SELECT entity_type FROM {schema}.audit_heads WHERE tenant_id IS NOT DISTINCT FROM :tenant_id
UNION
SELECT entity_type FROM kernel.audit_anchor_lines
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND log = '{schema}'
ORDER BY entity_type;

-- name: read_rows
-- The next rows of a stream; the id breaks ties, because a forger may have used a number twice.
SELECT tenant_id, entity_type, seq, id, occurred_at, entity_id, action, actor, before, after,
       ip_hash, user_agent_hash, trace_id, reason, prev_hash, record_hash
FROM {schema}.audit
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND entity_type = :entity_type
  AND seq >= :seq AND (seq, id) > (:seq, :id)
ORDER BY seq, id
LIMIT :limit;

-- name: read_head
-- Read after the rows: an honest head is never behind rows that were seen before it.
SELECT seq, record_hash FROM {schema}.audit_heads
WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND entity_type = :entity_type;

-- name: read_lines
-- Everything that was ever signed about a stream: one line for each month in which it grew.
SELECT line.anchor_number, anchor.id AS anchor_id, line.seq, line.record_hash, line.last_at
FROM kernel.audit_anchor_lines AS line
JOIN kernel.audit_anchors AS anchor ON anchor.log = line.log AND anchor.number = line.anchor_number
WHERE line.tenant_id IS NOT DISTINCT FROM :tenant_id AND line.log = '{schema}' AND line.entity_type = :entity_type
ORDER BY line.seq;

-- name: attached_bounds
-- A month counts as archived only when its partition is gone as a whole; a partition's name proves nothing.
SELECT pg_catalog.pg_get_expr(partition.relpartbound, partition.oid) AS bound
FROM pg_catalog.pg_inherits AS link
JOIN pg_catalog.pg_class AS partition ON partition.oid = link.inhrelid
WHERE link.inhparent = '{schema}.audit'::regclass;
