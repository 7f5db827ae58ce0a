-- name: insert_tokens
-- Most are there already: a month's messages about one category share one. Sorted, so that two sets that meet the same
-- new ones wait for each other in one order.
INSERT INTO notification.opt_out_tokens (
    tenant_id, id, recipient_id, channel, category, address_hash, purpose, token_hash, created_at, expires_at
)
SELECT fresh.tenant_id, fresh.id, fresh.recipient_id, fresh.channel, fresh.category, fresh.address_hash, fresh.purpose,
       fresh.token_hash, :now, fresh.expires_at
FROM unnest(
    :tenant_ids::text[], :ids::text[], :recipient_ids::text[], :channels::text[], :categories::text[], :address_hashes::text[],
    :purposes::text[], :hashes::text[], :expires_ats::timestamptz[]
) AS fresh (tenant_id, id, recipient_id, channel, category, address_hash, purpose, token_hash, expires_at)
ORDER BY fresh.tenant_id, fresh.recipient_id, fresh.token_hash
ON CONFLICT ON CONSTRAINT uq_opt_out_tokens_hash DO NOTHING;

-- name: find_token
-- By the hash of what the link holds.
SELECT id, recipient_id, channel, category, address_hash, purpose, expires_at, consumed_at
FROM notification.opt_out_tokens
WHERE tenant_id = :tenant_id AND token_hash = :token_hash;

-- name: mark_used
-- The first use stays noted; later ones change nothing.
UPDATE notification.opt_out_tokens SET consumed_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND consumed_at IS NULL;

-- name: sweep_tokens
-- Those whose time has been over for so long that no page needs to say so any more.
DELETE FROM notification.opt_out_tokens
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM notification.opt_out_tokens WHERE expires_at < :before ORDER BY expires_at LIMIT :limit
);
