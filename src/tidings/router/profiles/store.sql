-- name: open_profiles
-- Locks all of a set in one pass and in one order, those that are new among them: two sets can't wait for each other
-- crosswise, and of two that observe a recipient for the first time the second sees what the first wrote. Tombstones are
-- locked too, and not shown.
INSERT INTO chan.recipient_profiles AS known (tenant_id, id, recipient_id, created_at, updated_at)
SELECT :tenant_id, fresh.id, fresh.recipient_id, :now, :now
FROM unnest(:ids::text[], :recipient_ids::text[]) AS fresh (id, recipient_id)
ORDER BY fresh.recipient_id COLLATE "C"
ON CONFLICT (tenant_id, recipient_id) DO UPDATE SET
    updated_at = greatest(known.updated_at, excluded.updated_at),
    version = known.version + 1
WHERE NOT known.erased
RETURNING id, recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, telegram_chat_id_hash,
          telegram_chat_id_ciphertext, viber_id_hash, viber_id_ciphertext, email_verified,
          last_successful_channel, field_times, created_at, updated_at, version;

-- name: write_profiles
-- Rows that open_profiles has locked; whole values, not changes.
WITH found AS MATERIALIZED (
    SELECT learned.*, mine.place, NULL::text AS always_null
    FROM unnest(
        :recipient_ids::text[], :channel_preferences::text[], :field_times::text[], :discovery_states::text[],
        :last_observed_ats::timestamptz[], :last_successful_channels::text[], :whatsapps::text[], :voices::text[],
        :emails::boolean[], :telegram_hashes::text[], :telegram_ciphertexts::bytea[],
        :viber_hashes::text[], :viber_ciphertexts::bytea[]
    ) AS learned (
        recipient_id, channel_preferences, field_times, discovery_state, last_observed_at, last_successful_channel,
        whatsapp, voice, email, telegram_hash, telegram_ciphertext, viber_hash, viber_ciphertext
    )
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM chan.recipient_profiles
        WHERE tenant_id = :tenant_id AND recipient_id = learned.recipient_id
        OFFSET 0
    ) AS mine
)
UPDATE chan.recipient_profiles AS mine
SET channel_preferences = found.channel_preferences::jsonb,
    field_times = found.field_times::jsonb,
    discovery_state = found.discovery_state,
    last_observed_at = found.last_observed_at,
    last_successful_channel = found.last_successful_channel,
    has_whatsapp_business = found.whatsapp,
    voice_otp_supported = found.voice,
    email_verified = found.email,
    telegram_chat_id_hash = found.telegram_hash,
    telegram_chat_id_ciphertext = found.telegram_ciphertext,
    viber_id_hash = found.viber_hash,
    viber_id_ciphertext = found.viber_ciphertext
FROM found
-- Selectivity hint, true of every row: docs/performance.md, "Found by key, changed by ctid".
WHERE mine.ctid = found.place AND found.always_null IS NULL;

-- name: load_profiles
-- Before a ladder is ordered, for a whole set: one look-up each.
SELECT mine.*
FROM unnest(:tenant_ids::text[], :recipient_ids::text[]) AS wanted (tenant_id, recipient_id)
CROSS JOIN LATERAL (
    SELECT tenant_id, id, recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, telegram_chat_id_hash,
           telegram_chat_id_ciphertext, viber_id_hash, viber_id_ciphertext, email_verified,
           last_successful_channel, field_times, created_at, updated_at, version
    FROM chan.recipient_profiles
    WHERE tenant_id = wanted.tenant_id AND recipient_id = wanted.recipient_id AND NOT erased
    OFFSET 0
) AS mine;

-- name: lock_profile
-- Every deletion of one comes through here.
SELECT id, recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, telegram_chat_id_hash,
       telegram_chat_id_ciphertext, viber_id_hash, viber_id_ciphertext, email_verified,
       last_successful_channel, field_times, created_at, updated_at, version
FROM chan.recipient_profiles
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND NOT erased
FOR UPDATE;

-- name: delete_profile
-- By hand: the person stays known, and what comes next is learned anew. A tombstone stays.
DELETE FROM chan.recipient_profiles
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND NOT erased;

-- name: list_profiles
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, telegram_chat_id_hash,
       telegram_chat_id_ciphertext, viber_id_hash, viber_id_ciphertext, email_verified,
       last_successful_channel, field_times, created_at, updated_at, version
FROM chan.recipient_profiles
WHERE tenant_id = :tenant_id AND NOT erased AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: list_profiles_by_discovery
-- Those of one state, by an index of their own: with a million who are known well, the few who are not are found at once.
SELECT id, recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, telegram_chat_id_hash,
       telegram_chat_id_ciphertext, viber_id_hash, viber_id_ciphertext, email_verified,
       last_successful_channel, field_times, created_at, updated_at, version
FROM chan.recipient_profiles
WHERE tenant_id = :tenant_id AND discovery_state = :discovery AND NOT erased
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;
