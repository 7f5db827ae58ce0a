-- name: find_written_to
-- The addresses that these people have on these channels now, beside what is kept of the message: which of them it went to.
SELECT told.place::integer AS place, mine.is_test, mine.render_snapshot, a.id AS address_id, a.address_hash,
       a.address_ciphertext
FROM unnest(:ids::text[], :created_ats::timestamptz[], :recipient_ids::text[], :channels::text[]) WITH ORDINALITY
    AS told (id, created_at, recipient_id, channel, place)
CROSS JOIN LATERAL (
    SELECT n.is_test, n.render_snapshot FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = told.created_at AND n.id = told.id
      AND n.created_at BETWEEN :oldest AND :newest
    OFFSET 0
) AS mine
CROSS JOIN LATERAL (
    SELECT found.id, found.address_hash, found.address_ciphertext FROM notification.recipient_addresses AS found
    WHERE found.tenant_id = :tenant_id AND found.recipient_id = told.recipient_id AND found.channel = told.channel
    OFFSET 0
) AS a;

-- name: find_released
-- When these addresses were last released by a person, and not by running out.
SELECT wanted.place::integer AS place, latest.released_at
FROM unnest(:channels::text[], :hashes::text[]) WITH ORDINALITY AS wanted (channel, address_hash, place)
CROSS JOIN LATERAL (
    SELECT gone.released_at FROM notification.suppressions AS gone
    WHERE gone.tenant_id = :tenant_id AND gone.channel = wanted.channel AND gone.address_hash = wanted.address_hash
      AND gone.released_at IS NOT NULL AND gone.released_by <> 'system:expired'
    ORDER BY gone.released_at DESC
    LIMIT 1
) AS latest;
