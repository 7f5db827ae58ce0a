-- name: forget_conversations
-- Nothing by which they could be found or read; those that are open are over. Also what they said at the same place before
-- the recipient was known. In one order with all workers.
WITH known AS MATERIALIZED (
    SELECT id, channel, sender_id, address_hash FROM chan.conversations
    WHERE tenant_id = :tenant_id AND recipient_id = ANY(:recipient_ids::text[])
), theirs AS MATERIALIZED (
    SELECT id, status FROM chan.conversations
    WHERE tenant_id = :tenant_id AND id IN (
        SELECT id FROM known
        UNION
        SELECT stranger.id
        FROM known
        JOIN chan.conversations AS stranger
          ON stranger.tenant_id = :tenant_id AND stranger.sender_id = known.sender_id
         AND stranger.address_hash = known.address_hash AND stranger.channel = known.channel
        WHERE stranger.recipient_id IS NULL
    )
    ORDER BY channel, sender_id, address_hash
    FOR UPDATE
), lines AS (
    UPDATE chan.conversation_messages AS line
    SET text_ciphertext = NULL, key_subject = NULL, updated_at = :now::timestamptz,
        status = CASE WHEN line.status = 'queued' THEN 'failed' ELSE line.status END,
        next_attempt_at = NULL,
        reason = CASE WHEN line.status = 'queued' THEN 'erased' ELSE line.reason END
    FROM theirs
    WHERE line.tenant_id = :tenant_id AND line.conversation_id = theirs.id
      AND (line.text_ciphertext IS NOT NULL OR line.status = 'queued')
), deliveries AS (
    UPDATE chan.inbound_deliveries AS delivery
    SET status = 'dead', next_attempt_at = NULL, last_reason = 'erased', updated_at = :now::timestamptz
    FROM theirs
    WHERE delivery.tenant_id = :tenant_id AND delivery.conversation_id = theirs.id AND delivery.status = 'pending'
)
UPDATE chan.conversations AS known
SET address_hash = NULL, platform_hash = NULL, address_ciphertext = NULL, key_subject = NULL,
    status = CASE WHEN known.status = 'OPEN' THEN 'CLOSED_MANUAL' ELSE known.status END,
    closed_at = CASE WHEN known.status = 'OPEN' THEN :now::timestamptz ELSE known.closed_at END,
    close_reason = CASE WHEN known.status = 'OPEN' THEN 'recipient_erased' ELSE known.close_reason END,
    version = known.version + 1
FROM theirs
WHERE known.tenant_id = :tenant_id AND known.id = theirs.id
RETURNING known.id, known.channel, known.recipient_id, known.status, known.closed_at, theirs.status = 'OPEN' AS was_open;
