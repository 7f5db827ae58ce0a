-- name: insert_link
-- The token itself is nowhere: only who holds the link can open it.
INSERT INTO notification.webhook_portal_links (
    tenant_id, id, token_hash, subscription_id, customer, is_test, may_change, event_types, locale, embed_origins, created_at, expires_at
)
VALUES (
    :tenant_id, :id, :token_hash, :subscription_id, :customer, :is_test, :may_change, :event_types, :locale, :embed_origins, :created_at,
    :expires_at
);

-- name: find_link
-- By the hash of what the address holds. One that has expired is found too: its page says so.
SELECT tenant_id, id, subscription_id, customer, is_test, may_change, event_types, locale, embed_origins, created_at, expires_at
FROM notification.webhook_portal_links
WHERE tenant_id = :tenant_id AND token_hash = :token_hash;

-- name: end_links
-- All that were made for one webhook, and where a customer is named all that show theirs: a link for one endpoint opens the others too.
DELETE FROM notification.webhook_portal_links
WHERE tenant_id = :tenant_id AND is_test = :is_test AND (subscription_id = :webhook_id OR customer = :customer)
  AND (CAST(:but AS text) IS NULL OR id <> :but);

-- name: sweep_links
-- Those whose time has been over for so long that no page needs to say so any more.
DELETE FROM notification.webhook_portal_links
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM notification.webhook_portal_links WHERE expires_at < :before ORDER BY expires_at LIMIT :limit
);
