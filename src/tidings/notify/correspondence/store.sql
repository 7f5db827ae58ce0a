-- name: find_writers
-- Who has these addresses. Where several have one, the one that was written to last: by ix_notifications_recipient, whose order is
-- said as a range, as in `look_back_at_recipient`. A recipient who was erased has no address.
SELECT DISTINCT ON (wanted.place) wanted.place::integer AS place, theirs.recipient_id
FROM unnest(:channels::text[], :hashes::text[]) WITH ORDINALITY AS wanted (channel, address_hash, place)
CROSS JOIN LATERAL (
    SELECT a.recipient_id, count(*) OVER () AS owners
    FROM notification.recipient_addresses AS a
    WHERE a.tenant_id = :tenant_id AND a.channel = wanted.channel AND a.address_hash = wanted.address_hash
    OFFSET 0
) AS theirs
LEFT JOIN LATERAL (
    SELECT n.created_at FROM notification.notifications AS n
    WHERE theirs.owners > 1 AND n.tenant_id = :tenant_id
      AND n.recipient_id >= theirs.recipient_id AND n.recipient_id <= theirs.recipient_id
    ORDER BY n.recipient_id, n.created_at DESC
    LIMIT 1
) AS last ON true
ORDER BY wanted.place, last.created_at DESC NULLS LAST, theirs.recipient_id;

-- name: find_address
-- Whether they still have it. Whether it may be written to, the gates ask when it is sent.
SELECT id FROM notification.recipient_addresses
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id AND channel = :channel AND address_hash = :address_hash;
