-- name: load_addresses
-- All addresses of a set of recipients, each recipient's primaries first and then the oldest.
SELECT mine.id, mine.recipient_id, mine.channel, mine.address_hash, mine.address_ciphertext, mine.is_primary,
       mine.verified, mine.updated_at
FROM unnest(:recipient_ids::text[]) AS wanted (recipient_id)
CROSS JOIN LATERAL (
    SELECT a.id, a.recipient_id, a.channel, a.address_hash, a.address_ciphertext, a.is_primary, a.verified,
           a.updated_at
    FROM notification.recipient_addresses AS a
    WHERE a.tenant_id = :tenant_id AND a.recipient_id = wanted.recipient_id
      AND (CAST(:channels AS text[]) IS NULL OR a.channel = ANY(:channels::text[]))
    ORDER BY a.is_primary DESC, a.id
    OFFSET 0
) AS mine;

-- name: clear_primaries
-- First of two steps: one statement can't hand the mark over, because the index looks at every row by itself.
UPDATE notification.recipient_addresses AS mine
SET is_primary = false, updated_at = :now
FROM unnest(:recipient_ids::text[], :channels::text[]) AS moved (recipient_id, channel)
WHERE mine.tenant_id = :tenant_id AND mine.recipient_id = moved.recipient_id AND mine.channel = moved.channel
  AND mine.is_primary;

-- name: change_addresses
-- Under the lock of their recipients: the values are whole, not changes.
UPDATE notification.recipient_addresses AS mine
SET is_primary = fresh.is_primary, verified = fresh.verified, updated_at = :now
FROM unnest(:ids::text[], :primaries::boolean[], :verifieds::boolean[])
    AS fresh (id, is_primary, verified)
WHERE mine.tenant_id = :tenant_id AND mine.id = fresh.id;

-- name: prove_mailbox
-- Under the lock of their recipient. Of several mail addresses a link does not say which one it came to.
UPDATE notification.recipient_addresses AS mine
SET verified = true, updated_at = :now
WHERE mine.tenant_id = :tenant_id AND mine.recipient_id = :recipient_id AND mine.channel = 'email'
  AND NOT mine.verified
  AND NOT EXISTS (
      SELECT FROM notification.recipient_addresses AS other
      WHERE other.tenant_id = :tenant_id AND other.recipient_id = :recipient_id AND other.channel = 'email'
        AND other.id <> mine.id
  );

-- name: add_addresses
-- Under the lock of their recipients, or for new ones: no other writer can be adding the same.
INSERT INTO notification.recipient_addresses (
    tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, created_at, updated_at
)
SELECT fresh.tenant_id, fresh.id, fresh.recipient_id, fresh.channel, fresh.address_hash, fresh.address_ciphertext,
       fresh.is_primary, fresh.verified, fresh.created_at, fresh.created_at
FROM unnest(
    :tenant_ids::text[], :ids::text[], :recipient_ids::text[], :channels::text[], :hashes::text[], :ciphertexts::bytea[],
    :primaries::boolean[], :verifieds::boolean[], :created_ats::timestamptz[]
) AS fresh (tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, created_at);

-- name: remove_addresses
-- Forgotten for good. A suppression of the same address is a row of its own and goes on holding it back by its hash; what
-- can be read beside it goes, unless another recipient has the address: it could not be found when this person is erased.
WITH gone AS (
    DELETE FROM notification.recipient_addresses
    WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND id = ANY(:ids::text[])
    RETURNING id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, updated_at
), unread AS (
    UPDATE notification.suppressions AS mine
    SET address_ciphertext = NULL, notes = NULL
    FROM (SELECT DISTINCT address_hash FROM gone) AS theirs
    WHERE mine.tenant_id = :tenant_id AND mine.address_hash = theirs.address_hash AND NOT EXISTS (
        SELECT FROM notification.recipient_addresses AS other
        WHERE other.tenant_id = :tenant_id AND other.address_hash = theirs.address_hash AND other.id <> ALL (:ids::text[])
    )
)
SELECT id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, updated_at FROM gone;
