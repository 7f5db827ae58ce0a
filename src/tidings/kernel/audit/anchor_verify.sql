-- name: read_anchors
-- In the order in which they were made: each must repeat the digest of the one before.
SELECT log, number, id, kind, covers_from, covers_until, taken_at, stream_count, row_count,
       root, prev_digest, digest, key_id, signature
FROM kernel.audit_anchors
WHERE log = :log AND number > :after
ORDER BY number
LIMIT :limit;

-- name: find_anchor
-- One that may have been made while the others were being read.
SELECT log, number, id, kind, covers_from, covers_until, taken_at, stream_count, row_count,
       root, prev_digest, digest, key_id, signature
FROM kernel.audit_anchors
WHERE log = :log AND id = :id;

-- name: read_tenant_lines
-- One anchor's lines about tenants, in the order in which its root was taken.
SELECT tenant_id, entity_type, seq, record_hash, last_at
FROM kernel.audit_anchor_lines
WHERE log = :log AND anchor_number = :number AND tenant_id >= :tenant_id
  AND (tenant_id, entity_type) > (:tenant_id, :entity_type)
ORDER BY tenant_id, entity_type
LIMIT :limit;

-- name: read_platform_lines
-- The rest of its lines: the platform's own few streams.
SELECT tenant_id, entity_type, seq, record_hash, last_at
FROM kernel.audit_anchor_lines
WHERE log = :log AND anchor_number = :number AND tenant_id IS NULL
ORDER BY entity_type;
