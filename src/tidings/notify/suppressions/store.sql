-- name: retire_expired
-- One that ran out still holds the place of its address in the unique index; it makes room for a new one.
WITH over AS (
    -- Locked in one order, so that two sets can't wait for each other crosswise.
    SELECT mine.id
    FROM unnest(:channels::text[], :hashes::text[]) AS wanted (channel, address_hash)
    JOIN notification.suppressions AS mine
        ON mine.channel = wanted.channel AND mine.address_hash = wanted.address_hash
    WHERE mine.tenant_id = :tenant_id AND mine.released_at IS NULL AND mine.expires_at <= :now
    ORDER BY mine.channel, mine.address_hash
    FOR UPDATE OF mine
)
UPDATE notification.suppressions AS mine
SET released_at = mine.expires_at, released_by = 'system:expired'
FROM over
WHERE mine.tenant_id = :tenant_id AND mine.id = over.id;

-- name: add_suppressions
-- Sorted, so that two sets can't deadlock. One that is there already stays, and lasts as long as the longer of the two;
-- it counts as made when its id is the one that was brought.
INSERT INTO notification.suppressions AS known (
    tenant_id, id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at,
    created_at, occurred_at
)
SELECT :tenant_id, fresh.id, fresh.channel, fresh.address_hash, fresh.address_ciphertext, fresh.reason,
       fresh.source_notification_id, fresh.notes, fresh.expires_at, fresh.created_at, fresh.occurred_at
FROM unnest(
    :ids::text[], :channels::text[], :hashes::text[], :ciphertexts::bytea[], :reasons::text[], :sources::text[],
    :notes::text[], :expires_ats::timestamptz[], :created_ats::timestamptz[], :occurred_ats::timestamptz[]
) AS fresh (
    id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, created_at,
    occurred_at
)
ORDER BY fresh.channel, fresh.address_hash
ON CONFLICT (tenant_id, channel, address_hash) WHERE released_at IS NULL DO UPDATE SET
    expires_at = CASE WHEN known.expires_at IS NULL OR excluded.expires_at IS NULL THEN NULL
                      ELSE greatest(known.expires_at, excluded.expires_at) END
RETURNING id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at,
          released_at, released_by, occurred_at;

-- name: find_places
-- Who holds the places of these addresses, in force or run out: a file may hold nothing that is new.
SELECT wanted.n::integer AS n, found.expires_at
FROM unnest(:channels::text[], :hashes::text[]) WITH ORDINALITY AS wanted (channel, address_hash, n)
CROSS JOIN LATERAL (
    SELECT mine.expires_at FROM notification.suppressions AS mine
    WHERE mine.tenant_id = :tenant_id AND mine.channel = wanted.channel AND mine.address_hash = wanted.address_hash
      AND mine.released_at IS NULL
    OFFSET 0
) AS found;

-- name: import_suppressions
-- A file may be sent again and again: a row that would stay as it is is not written anew. Those that are new, and those
-- whose expiry moved, come back by their ids.
INSERT INTO notification.suppressions AS known (
    tenant_id, id, channel, address_hash, address_ciphertext, reason, notes, expires_at, created_at, occurred_at
)
SELECT :tenant_id, fresh.id, fresh.channel, fresh.address_hash, fresh.address_ciphertext, fresh.reason, fresh.notes,
       fresh.expires_at, :created_at, fresh.occurred_at
FROM unnest(
    :ids::text[], :channels::text[], :hashes::text[], :ciphertexts::bytea[], :reasons::text[], :notes::text[],
    :expires_ats::timestamptz[], :occurred_ats::timestamptz[]
) AS fresh (id, channel, address_hash, address_ciphertext, reason, notes, expires_at, occurred_at)
ORDER BY fresh.channel, fresh.address_hash
ON CONFLICT (tenant_id, channel, address_hash) WHERE released_at IS NULL DO UPDATE SET
    expires_at = CASE WHEN excluded.expires_at IS NULL THEN NULL
                      ELSE greatest(known.expires_at, excluded.expires_at) END
WHERE known.expires_at IS NOT NULL AND (excluded.expires_at IS NULL OR excluded.expires_at > known.expires_at)
RETURNING id;

-- name: lock_suppressions
-- Every release takes this lock, one at a time.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM notification.suppressions
WHERE tenant_id = :tenant_id AND id = ANY(:ids::text[])
ORDER BY id
FOR UPDATE;

-- name: release_suppressions
-- Released, never deleted: who asks later sees that it was, by whom and when.
UPDATE notification.suppressions
SET released_at = :now, released_by = :released_by
WHERE tenant_id = :tenant_id AND id = ANY(:ids::text[]) AND released_at IS NULL;

-- name: list_suppressions
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM notification.suppressions
WHERE tenant_id = :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND (CAST(:channel AS text) IS NULL OR channel = :channel)
  AND (CAST(:reason AS text) IS NULL OR reason = :reason)
  AND (:with_released OR (released_at IS NULL AND (expires_at IS NULL OR expires_at > :now)))
ORDER BY id DESC
LIMIT :limit;

-- name: find_by_target
-- All about one address, or about its whole domain: in force first, then the newest; each half by its own partial index.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM (
    SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
           released_by, occurred_at
    FROM notification.suppressions
    WHERE tenant_id = :tenant_id AND channel = ANY(:channels::text[]) AND address_hash = ANY(:hashes::text[])
      AND released_at IS NULL
    UNION ALL
    SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
           released_by, occurred_at
    FROM notification.suppressions
    WHERE tenant_id = :tenant_id AND channel = ANY(:channels::text[]) AND address_hash = ANY(:hashes::text[])
      AND released_at IS NOT NULL
) AS found
ORDER BY released_at IS NOT NULL, id DESC
LIMIT :limit;

-- name: find_suppression
-- By its key.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM notification.suppressions
WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_suppressions
-- By their keys, in force or not.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM notification.suppressions
WHERE tenant_id = :tenant_id AND id = ANY(:ids::text[]);

-- name: lock_in_force
-- What holds these addresses back, each by its place in the index and locked, in the order in which they are given.
SELECT found.id, found.channel, found.address_hash, found.address_ciphertext, found.reason, found.source_notification_id,
       found.notes, found.expires_at, found.released_at, found.released_by, found.occurred_at
FROM unnest(:channels::text[], :hashes::text[]) AS wanted (channel, address_hash)
CROSS JOIN LATERAL (
    SELECT mine.id, mine.channel, mine.address_hash, mine.address_ciphertext, mine.reason, mine.source_notification_id,
           mine.notes, mine.expires_at, mine.released_at, mine.released_by, mine.occurred_at
    FROM notification.suppressions AS mine
    WHERE mine.tenant_id = :tenant_id AND mine.channel = wanted.channel AND mine.address_hash = wanted.address_hash
      AND mine.released_at IS NULL AND (mine.expires_at IS NULL OR mine.expires_at > :now)
    LIMIT 1
    FOR UPDATE
) AS found;

-- name: export_suppressions
-- The oldest first, from an id on: an export of any length is read in parts, and nothing added meanwhile is missed.
SELECT id, channel, address_hash, address_ciphertext, reason, source_notification_id, notes, expires_at, released_at,
       released_by, occurred_at
FROM notification.suppressions
WHERE tenant_id = :tenant_id AND id > :after_id
  AND (CAST(:channel AS text) IS NULL OR channel = :channel)
  AND (CAST(:reason AS text) IS NULL OR reason = :reason)
  AND (:with_released OR (released_at IS NULL AND (expires_at IS NULL OR expires_at > :now)))
ORDER BY id
LIMIT :limit;

-- name: find_held
-- Asked right before sending, for a whole set: the tenant's own, by address and by mail domain, and the platform's
-- likewise, in one trip; and what its owner refused from it, of which the reason is the category. OFFSET 0 and LATERAL hold
-- the planner to one index look-up each.
SELECT wanted.place, 'tenant' AS held_by, found.id, found.reason
FROM unnest(:places::integer[], :tenant_ids::text[], :channels::text[], :hashes::text[]) AS wanted (place, tenant_id, channel, address_hash)
CROSS JOIN LATERAL (
    SELECT mine.id, mine.reason FROM notification.suppressions AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.channel = wanted.channel AND mine.address_hash = wanted.address_hash
      AND mine.released_at IS NULL AND (mine.expires_at IS NULL OR mine.expires_at > :now)
    OFFSET 0
) AS found
UNION ALL
SELECT wanted.place, 'tenant', found.id, found.reason
FROM unnest(:places::integer[], :tenant_ids::text[], :domain_hashes::text[]) AS wanted (place, tenant_id, address_hash)
CROSS JOIN LATERAL (
    SELECT mine.id, mine.reason FROM notification.suppressions AS mine
    WHERE mine.tenant_id = wanted.tenant_id AND mine.channel = 'email' AND mine.address_hash = wanted.address_hash
      AND mine.released_at IS NULL AND (mine.expires_at IS NULL OR mine.expires_at > :now)
    OFFSET 0
) AS found
UNION ALL
SELECT wanted.place, 'platform', found.id, found.reason
FROM unnest(:places::integer[], :channels::text[], :platform_hashes::text[]) AS wanted (place, channel, address_hash)
CROSS JOIN LATERAL (
    SELECT theirs.id, theirs.reason FROM notification_platform.suppressions AS theirs
    WHERE theirs.channel = wanted.channel AND theirs.address_hash = wanted.address_hash
      AND theirs.address_hash IS NOT NULL
      AND theirs.released_at IS NULL AND (theirs.expires_at IS NULL OR theirs.expires_at > :now)
    OFFSET 0
) AS found
UNION ALL
SELECT wanted.place, 'domain', found.id, found.reason
FROM unnest(:places::integer[], :mail_domains::text[]) AS wanted (place, mail_domain)
CROSS JOIN LATERAL (
    SELECT theirs.id, theirs.reason FROM notification_platform.suppressions AS theirs
    WHERE theirs.mail_domain = wanted.mail_domain AND theirs.mail_domain IS NOT NULL
      AND theirs.released_at IS NULL AND (theirs.expires_at IS NULL OR theirs.expires_at > :now)
    OFFSET 0
) AS found
UNION ALL
SELECT wanted.place, 'owner', found.id, found.category
FROM unnest(:places::integer[], :tenant_ids::text[], :channels::text[], :hashes::text[]) AS wanted (place, tenant_id, channel, address_hash)
CROSS JOIN LATERAL (
    SELECT said.id, coalesce(said.category, '') AS category FROM notification.address_refusals AS said
    WHERE said.tenant_id = wanted.tenant_id AND said.channel = wanted.channel AND said.address_hash = wanted.address_hash
      AND said.withdrawn_at IS NULL
    OFFSET 0
) AS found;

-- name: add_platform_suppressions
-- The platform's own: by an address, under its own pepper, or for a whole mail domain. One that is there stays.
INSERT INTO notification_platform.suppressions (
    id, channel, address_hash, mail_domain, reason, notes, expires_at, created_by, created_at
)
SELECT fresh.id, fresh.channel, fresh.address_hash, fresh.mail_domain, fresh.reason, fresh.notes, fresh.expires_at,
       :created_by, fresh.created_at
FROM unnest(
    :ids::text[], :channels::text[], :hashes::text[], :mail_domains::text[], :reasons::text[], :notes::text[],
    :expires_ats::timestamptz[], :created_ats::timestamptz[]
) AS fresh (id, channel, address_hash, mail_domain, reason, notes, expires_at, created_at)
ORDER BY fresh.channel, fresh.address_hash, fresh.mail_domain
ON CONFLICT DO NOTHING
RETURNING id;

-- name: notification_exists
-- Whether the tenant still has the notification that a suppression is to name.
SELECT EXISTS (
    SELECT FROM notification.notifications
    WHERE tenant_id = :tenant_id AND created_at = :created_at AND id = :id
);
