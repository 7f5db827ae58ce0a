-- name: ended_page
-- Along the index of their expiry, which stands thirty days after they were written. A whole set has the same moment: the page
-- ends with one, so that the next begins behind it. By the server's own clock, which stamped them.
WITH page AS (
    SELECT expires_at FROM chan.delivery_outbox
    WHERE expires_at > :after::timestamptz + interval '30 days'
      AND expires_at <= now() + interval '30 days' - :settled_for::interval
    ORDER BY expires_at LIMIT :limit
)
SELECT proof.tenant_id, proof.notification_id, proof.expires_at - interval '30 days' AS ended_at
FROM chan.delivery_outbox AS proof
WHERE proof.expires_at > :after::timestamptz + interval '30 days'
  AND proof.expires_at <= (SELECT max(expires_at) FROM page)
ORDER BY proof.expires_at;
