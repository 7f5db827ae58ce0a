-- name: insert_anchor
-- The number is the lock: of two who close the same month, one is refused.
INSERT INTO kernel.audit_anchors (
    log, number, id, kind, covers_from, covers_until, taken_at, stream_count, row_count,
    root, prev_digest, digest, key_id, signature
)
VALUES (
    :log, :number, :id, :kind, :covers_from, :covers_until, :taken_at, :stream_count, :row_count,
    :root, :prev_digest, :digest, :key_id, :signature
);

-- name: insert_lines
-- A chunk of an anchor's lines, as one set.
INSERT INTO kernel.audit_anchor_lines (log, anchor_number, tenant_id, entity_type, seq, record_hash, last_at)
SELECT :log, :number, tenant_id, entity_type, seq, record_hash, last_at
FROM unnest(
    CAST(:tenant_ids AS text[]), CAST(:entity_types AS text[]), CAST(:seqs AS bigint[]),
    CAST(:record_hashes AS text[]), CAST(:last_ats AS timestamptz[])
) AS line (tenant_id, entity_type, seq, record_hash, last_at);
