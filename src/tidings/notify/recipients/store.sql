-- part: asked
-- Who is meant: by id, by identity, or by address. By address a recipient without an identity comes first (the oldest, so that all
-- callers agree), then the only one who has it; `nameless` leaves all who have an identity aside. Where several have it none
-- is chosen, and they are named. OFFSET 0 and LATERAL hold the planner to one index look-up each: a generic plan knows
-- nothing of the length of an array.
asked AS (
    SELECT wanted.place, wanted.tenant_id, wanted.id, NULL::text[] AS candidates
    FROM unnest(:id_places::integer[], :id_tenants::text[], :ids::text[]) AS wanted (place, tenant_id, id)
    UNION ALL
    SELECT wanted.place, wanted.tenant_id, found.id, NULL
    FROM unnest(:identity_places::integer[], :identity_tenants::text[], :identity_types::text[], :identity_ids::text[])
        AS wanted (place, tenant_id, identity_type, identity_id)
    CROSS JOIN LATERAL (
        SELECT mine.id FROM notification.recipients AS mine
        WHERE mine.tenant_id = wanted.tenant_id AND mine.identity_type = wanted.identity_type
          AND mine.identity_id = wanted.identity_id
        OFFSET 0
    ) AS found
    UNION ALL
    SELECT wanted.place, wanted.tenant_id,
           coalesce(min(found.id) FILTER (WHERE found.nameless),
                    CASE WHEN min(found.id) = max(found.id) THEN min(found.id) END),
           array_agg(DISTINCT found.id)
    FROM unnest(:address_places::integer[], :address_tenants::text[], :address_channels::text[], :address_hashes::text[],
                :nameless::boolean[]) AS wanted (place, tenant_id, channel, address_hash, nameless)
    CROSS JOIN LATERAL (
        SELECT address.recipient_id FROM notification.recipient_addresses AS address
        WHERE address.tenant_id = wanted.tenant_id AND address.channel = wanted.channel
          AND address.address_hash = wanted.address_hash
        OFFSET 0
    ) AS there
    CROSS JOIN LATERAL (
        SELECT mine.id, mine.identity_id IS NULL AS nameless FROM notification.recipients AS mine
        WHERE mine.tenant_id = wanted.tenant_id AND mine.id = there.recipient_id
          AND (mine.identity_id IS NULL OR NOT wanted.nameless) AND mine.erased_at IS NULL
        OFFSET 0
    ) AS found
    GROUP BY wanted.place, wanted.tenant_id
)

-- part: found
-- Addresses and the wrapped data keys come along as arrays, to spare a second trip; a recipient and its keys are of one snapshot.
SELECT asked.place, asked.candidates, mine.id, mine.identity_type, mine.identity_id, mine.display_name_ciphertext,
       mine.primary_locale, mine.primary_timezone, mine.tags, mine.attributes, mine.erased_at, mine.version,
       mine.updated_at, known.address_ids, known.channels, known.hashes, known.primaries, known.verifieds,
       keys.key_versions, keys.wrapped_keys, keys.tenant_key_versions
FROM asked
LEFT JOIN LATERAL (
    SELECT r.id, r.identity_type, r.identity_id, r.display_name_ciphertext, r.primary_locale, r.primary_timezone,
           r.tags, r.attributes, r.erased_at, r.version, r.updated_at
    FROM notification.recipients AS r
    WHERE r.tenant_id = asked.tenant_id AND r.id = asked.id
    OFFSET 0
) AS mine ON true
CROSS JOIN LATERAL (
    SELECT array_agg(a.id) AS address_ids, array_agg(a.channel) AS channels, array_agg(a.address_hash) AS hashes,
           array_agg(a.is_primary) AS primaries, array_agg(a.verified) AS verifieds
    FROM notification.recipient_addresses AS a
    WHERE a.tenant_id = asked.tenant_id AND a.recipient_id = asked.id
) AS known
CROSS JOIN LATERAL (
    SELECT array_agg(k.version) AS key_versions, array_agg(k.wrapped_key) AS wrapped_keys,
           array_agg(k.tenant_key_version) AS tenant_key_versions
    FROM kernel.data_keys AS k
    WHERE k.tenant_id = asked.tenant_id AND k.subject_id = asked.id
) AS keys

-- name: match_recipients
-- Finds all recipients of a set at once.
WITH {asked}
{found};

-- name: find_or_make_recipients
-- The same, and those that are given as fresh are made in the same trip, with their keys and addresses; one whose identity is there
-- already is not. Neither found nor made is one that another transaction made in the meantime, and one whose key is not under the
-- newest wrapping key in use: KEY SHARE makes the retirement of that one wait for us. What is not said of a recipient is the
-- tenant's default. Wrapping keys are locked by tenant and recipients made by identity, in their order, so that two sets can't
-- deadlock. Whether a key's or an address's recipient was made is looked up in a hash: `IS TRUE` keeps the planner from a
-- join, which without hash joins compared all pairs.
WITH {asked}, fresh AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :new_ids::text[], :new_types::text[], :new_identities::text[], :names::bytea[], :locales::text[],
        :timezones::text[], :tags::text[], :attributes::text[], :created_ats::timestamptz[], :wrapped_keys::bytea[],
        :tenant_key_versions::integer[]
    ) AS given (
        tenant_id, id, identity_type, identity_id, display_name_ciphertext, locale, timezone, tags, attributes, created_at, wrapped_key,
        tenant_key_version
    )
), wrapping AS (
    SELECT known.tenant_id, known.version
    FROM (SELECT DISTINCT tenant_id, tenant_key_version FROM fresh ORDER BY tenant_id) AS used
    CROSS JOIN LATERAL (
        SELECT mine.tenant_id, mine.version FROM kernel.tenant_keys AS mine
        WHERE mine.tenant_id = used.tenant_id AND mine.purpose = 'wrapping' AND mine.version = used.tenant_key_version
          AND mine.state = 'active'
          AND NOT EXISTS (
              SELECT FROM kernel.tenant_keys AS newer
              WHERE newer.tenant_id = used.tenant_id AND newer.purpose = 'wrapping' AND newer.version > used.tenant_key_version
                AND newer.state = 'active')
        FOR KEY SHARE
    ) AS known
), made AS (
    INSERT INTO notification.recipients (
        tenant_id, id, identity_type, identity_id, display_name_ciphertext, primary_locale, primary_timezone, tags,
        attributes, created_at, updated_at
    )
    SELECT fresh.tenant_id, fresh.id, fresh.identity_type, fresh.identity_id, fresh.display_name_ciphertext,
           coalesce(fresh.locale, tenant.default_locale), coalesce(fresh.timezone, tenant.default_timezone),
           ARRAY(SELECT jsonb_array_elements_text(fresh.tags::jsonb)), fresh.attributes::jsonb, fresh.created_at,
           fresh.created_at
    FROM fresh
    JOIN wrapping ON wrapping.tenant_id = fresh.tenant_id AND wrapping.version = fresh.tenant_key_version
    JOIN notification.tenants_local AS tenant ON tenant.tenant_id = fresh.tenant_id
    ORDER BY fresh.tenant_id, fresh.identity_type, fresh.identity_id, fresh.id
    ON CONFLICT ON CONSTRAINT uq_recipients_identity DO NOTHING
    RETURNING id, identity_type, identity_id, display_name_ciphertext, primary_locale, primary_timezone, tags, attributes,
              erased_at, version, updated_at
), keyed AS (
    INSERT INTO kernel.data_keys (tenant_id, subject_id, version, wrapped_key, tenant_key_version)
    SELECT tenant_id, id, 1, wrapped_key, tenant_key_version
    FROM fresh WHERE (id IN (SELECT id FROM made)) IS TRUE
), reached AS (
    INSERT INTO notification.recipient_addresses (
        tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, created_at, updated_at
    )
    SELECT tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, created_at, created_at
    FROM unnest(
        :new_address_tenants::text[], :new_address_ids::text[], :new_address_recipients::text[], :new_address_channels::text[],
        :new_address_hashes::text[], :new_address_ciphertexts::bytea[], :new_address_primaries::boolean[],
        :new_address_verifieds::boolean[], :new_address_created_ats::timestamptz[]
    ) AS given (tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary, verified, created_at)
    WHERE (recipient_id IN (SELECT id FROM made)) IS TRUE
)
{found}
UNION ALL
SELECT NULL, NULL, id, identity_type, identity_id, display_name_ciphertext, primary_locale, primary_timezone, tags, attributes, erased_at,
       version, updated_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM made;

-- name: lock_new_addresses
-- A recipient known by address alone has no unique key: a transaction that makes one for an address waits here for one that is
-- making it just now. Sorted, so that two sets never wait for each other crosswise.
SELECT pg_advisory_xact_lock(sorted.key)
FROM (SELECT DISTINCT hashtextextended(wanted, 7411002) AS key
      FROM unnest(:addresses::text[]) AS wanted ORDER BY 1) AS sorted;

-- name: lock_recipients
-- Every change of a recipient, an address or preferences takes this lock; in the order of ids. No statement changes a key,
-- so that a row that only refers to them (a link of theirs) need not wait.
SELECT mine.id, mine.identity_type, mine.identity_id, mine.display_name_ciphertext, mine.primary_locale,
       mine.primary_timezone, mine.tags, mine.attributes, mine.erased_at, mine.version, mine.updated_at
FROM notification.recipients AS mine
WHERE mine.tenant_id = :tenant_id AND mine.id = ANY(:ids::text[])
ORDER BY mine.id
FOR NO KEY UPDATE;

-- name: update_recipients
-- Under the lock of each row: the values are whole, not changes.
UPDATE notification.recipients AS mine
SET display_name_ciphertext = fresh.display_name_ciphertext,
    primary_locale = fresh.locale,
    primary_timezone = fresh.timezone,
    tags = ARRAY(SELECT jsonb_array_elements_text(fresh.tags::jsonb)),
    attributes = fresh.attributes::jsonb,
    updated_at = :now,
    version = mine.version + 1
FROM unnest(
    :ids::text[], :names::bytea[], :locales::text[], :timezones::text[], :tags::text[], :attributes::text[]
) AS fresh (id, display_name_ciphertext, locale, timezone, tags, attributes)
WHERE mine.tenant_id = :tenant_id AND mine.id = fresh.id
RETURNING mine.id, mine.identity_type, mine.identity_id, mine.display_name_ciphertext, mine.primary_locale,
          mine.primary_timezone, mine.tags, mine.attributes, mine.erased_at, mine.version, mine.updated_at;

-- name: find_recipients
-- Those of the ids that exist.
SELECT mine.id, mine.identity_type, mine.identity_id, mine.display_name_ciphertext, mine.primary_locale,
       mine.primary_timezone, mine.tags, mine.attributes, mine.erased_at, mine.version, mine.updated_at
FROM unnest(:ids::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT r.id, r.identity_type, r.identity_id, r.display_name_ciphertext, r.primary_locale, r.primary_timezone,
           r.tags, r.attributes, r.erased_at, r.version, r.updated_at
    FROM notification.recipients AS r
    WHERE r.tenant_id = :tenant_id AND r.id = wanted.id
    OFFSET 0
) AS mine;

-- name: list_recipients
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, identity_type, identity_id, display_name_ciphertext, primary_locale, primary_timezone, tags, attributes,
       erased_at, version, updated_at
FROM notification.recipients
WHERE tenant_id = :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND (CAST(:identity_type AS text) IS NULL OR identity_type = :identity_type)
  AND (CAST(:tag AS text) IS NULL OR tags @> ARRAY[CAST(:tag AS text)])
ORDER BY id DESC
LIMIT :limit;

-- name: find_by_address
-- All recipients who have one of these addresses now, the oldest first; by ix_recipient_addresses_hash.
SELECT DISTINCT there.recipient_id
FROM unnest(:channels::text[]) AS wanted (channel)
CROSS JOIN LATERAL (
    SELECT address.recipient_id FROM notification.recipient_addresses AS address
    WHERE address.tenant_id = :tenant_id AND address.channel = wanted.channel AND address.address_hash = :address_hash
    OFFSET 0
) AS there
ORDER BY there.recipient_id
LIMIT :limit;
