-- name: forget_profiles
-- A tombstone in the place of each, also of those without a profile: a receipt that is still under way must not
-- bring a profile back. It has the recipient's own id, so not even the time when something was first learned is left.
WITH gone AS (
    INSERT INTO chan.recipient_profiles AS known (tenant_id, id, recipient_id, erased)
    SELECT :tenant_id, 'profile_' || right(theirs.recipient_id, 26), theirs.recipient_id, true
    FROM unnest(:recipient_ids::text[]) AS theirs (recipient_id)
    ORDER BY theirs.recipient_id COLLATE "C"
    ON CONFLICT (tenant_id, recipient_id) DO UPDATE SET
        id = excluded.id,
        erased = true,
        channel_preferences = excluded.channel_preferences,
        field_times = excluded.field_times,
        discovery_state = excluded.discovery_state,
        last_observed_at = excluded.last_observed_at,
        last_successful_channel = excluded.last_successful_channel,
        has_whatsapp_business = excluded.has_whatsapp_business,
        voice_otp_supported = excluded.voice_otp_supported,
        email_verified = excluded.email_verified,
        telegram_chat_id_hash = excluded.telegram_chat_id_hash,
        telegram_chat_id_ciphertext = excluded.telegram_chat_id_ciphertext,
        viber_id_hash = excluded.viber_id_hash,
        viber_id_ciphertext = excluded.viber_id_ciphertext,
        created_at = excluded.created_at,
        updated_at = excluded.updated_at,
        version = known.version + 1
    WHERE NOT known.erased
    RETURNING known.version
)
-- One that is new has the version 1: nothing was there.
SELECT count(*) FILTER (WHERE version > 1)::integer AS profiles FROM gone;
