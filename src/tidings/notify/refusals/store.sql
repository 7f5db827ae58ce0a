-- name: add_refusals
-- Sorted, so that two clicks can't deadlock. One that holds already stays as it is: the first no is the one that is told of.
INSERT INTO notification.address_refusals (
    tenant_id, id, channel, address_hash, category, refused_at, source, evidence
)
SELECT :tenant_id, fresh.id, fresh.channel, fresh.address_hash, fresh.category, :now, :source, :evidence
FROM unnest(:ids::text[], :channels::text[], :hashes::text[], :categories::text[])
    AS fresh (id, channel, address_hash, category)
ORDER BY fresh.channel, fresh.address_hash, fresh.category
ON CONFLICT (tenant_id, channel, address_hash, (coalesce(category, ''))) WHERE withdrawn_at IS NULL DO NOTHING
RETURNING id;

-- name: withdraw_refusals
-- Its owner wants to hear again, of these categories ('' for the refusal of everything).
UPDATE notification.address_refusals AS mine
SET withdrawn_at = :now, withdrawn_by = :source
FROM (SELECT DISTINCT channel, address_hash FROM unnest(:channels::text[], :hashes::text[]) AS given (channel, address_hash))
    AS theirs
WHERE mine.tenant_id = :tenant_id AND mine.channel = theirs.channel AND mine.address_hash = theirs.address_hash
  AND mine.withdrawn_at IS NULL AND coalesce(mine.category, '') = ANY (:categories::text[])
RETURNING mine.id, mine.channel, mine.category;

-- name: withdraw_of_recipient
-- The same for all addresses of a recipient; an empty channel stands for all of them.
UPDATE notification.address_refusals AS mine
SET withdrawn_at = :now, withdrawn_by = :source
FROM (
    SELECT DISTINCT a.channel, a.address_hash FROM notification.recipient_addresses AS a
    WHERE a.tenant_id = :tenant_id AND a.recipient_id = :recipient_id
) AS theirs
CROSS JOIN unnest(:channels::text[], :categories::text[]) AS said (channel, category)
WHERE mine.tenant_id = :tenant_id AND mine.channel = theirs.channel AND mine.address_hash = theirs.address_hash
  AND mine.withdrawn_at IS NULL AND coalesce(mine.category, '') = said.category
  AND (said.channel = '' OR said.channel = mine.channel)
RETURNING mine.id, mine.channel, mine.category;

-- name: find_at
-- What holds for these addresses now.
SELECT mine.id, mine.channel, mine.address_hash, mine.category, mine.refused_at, mine.source, mine.evidence,
       mine.withdrawn_at, mine.withdrawn_by
FROM unnest(:channels::text[], :hashes::text[]) AS wanted (channel, address_hash)
CROSS JOIN LATERAL (
    SELECT r.id, r.channel, r.address_hash, r.category, r.refused_at, r.source, r.evidence, r.withdrawn_at, r.withdrawn_by
    FROM notification.address_refusals AS r
    WHERE r.tenant_id = :tenant_id AND r.channel = wanted.channel AND r.address_hash = wanted.address_hash
      AND r.withdrawn_at IS NULL
    OFFSET 0
) AS mine
ORDER BY mine.id;

-- name: find_refusals
-- By their keys, in force or not.
SELECT id, channel, address_hash, category, refused_at, source, evidence, withdrawn_at, withdrawn_by
FROM notification.address_refusals
WHERE tenant_id = :tenant_id AND id = ANY (:ids::text[]);

-- name: find_of_addresses
-- Everything that was ever refused from these addresses; by hash and not by channel, as suppressions are.
SELECT mine.id, mine.channel, mine.address_hash, mine.category, mine.refused_at, mine.source, mine.evidence,
       mine.withdrawn_at, mine.withdrawn_by
FROM (SELECT DISTINCT hash FROM unnest(:hashes::text[]) AS given (hash)) AS theirs
JOIN notification.address_refusals AS mine ON mine.tenant_id = :tenant_id AND mine.address_hash = theirs.hash
ORDER BY mine.id;
