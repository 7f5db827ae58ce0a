-- name: degrade
-- One of the tenant's own accounts takes no messages. What the operator wants, the version and its ETag stay as they are.
UPDATE notification.channels
SET health = jsonb_set(health, ARRAY[:vendor::text], :health::jsonb),
    status = CASE
        WHEN status = 'disabled' THEN status
        WHEN (vendor = :vendor OR health ? vendor)
             AND (fallback_vendor IS NULL OR fallback_vendor = :vendor OR health ? fallback_vendor) THEN 'down'
        ELSE 'degraded'
    END
WHERE tenant_id = :tenant_id AND (vendor = :vendor OR fallback_vendor = :vendor) AND channel = ANY (:channels::text[]);

-- name: degrade_shared
-- The platform's account takes no messages: for all tenants that go through it. One with an account of its own does not.
UPDATE notification.channels AS mine
SET health = jsonb_set(health, ARRAY[:vendor::text], :health::jsonb),
    status = CASE
        WHEN status = 'disabled' THEN status
        WHEN (vendor = :vendor OR health ? vendor)
             AND (fallback_vendor IS NULL OR fallback_vendor = :vendor OR health ? fallback_vendor) THEN 'down'
        ELSE 'degraded'
    END
WHERE (vendor = :vendor OR fallback_vendor = :vendor) AND channel = ANY (:channels::text[])
  AND NOT EXISTS (
      SELECT FROM notification.channel_credentials AS own
      WHERE own.tenant_id = mine.tenant_id AND own.vendor = :vendor AND own.status = 'active'
  );

-- name: restore
-- The account takes messages again: by the account, because a tenant may have got one of its own since.
-- For the tenant of the transaction; for all of them where that is the platform's.
UPDATE notification.channels
SET health = health - :vendor::text,
    status = CASE
        WHEN status = 'disabled' THEN status
        WHEN (vendor <> :vendor AND health ? vendor) OR (fallback_vendor <> :vendor AND health ? fallback_vendor) THEN 'degraded'
        ELSE 'active'
    END
WHERE (:tenant_id::text IS NULL OR tenant_id = :tenant_id) AND health -> :vendor::text ->> 'account_id' = :account_id;
