-- part: columns
w.tenant_id, w.id, w.name, w.target_url, w.event_types, w.condition, w.is_test, w.ordered, w.max_in_flight, w.max_per_minute,
       w.timeout_seconds, w.disable_after, w.header_names, w.credentials_shown, w.transform, w.api_version, w.customer, w.status, w.disabled_at, w.disabled_reason, w.signing_secret_prev_until,
       w.created_by, w.created_at, w.updated_at, w.version,
       e.consecutive_failures, e.last_success_at, e.last_failure_at, e.resting_until

-- name: count_webhooks
-- Before one is made.
SELECT count(*) FROM notification.webhook_subscriptions WHERE tenant_id = :tenant_id AND is_test = :is_test;

-- name: insert_webhook
-- With its endpoint.
WITH made AS (
    INSERT INTO notification.webhook_subscriptions (
        tenant_id, id, name, target_url, event_types, condition, is_test, ordered, max_in_flight, max_per_minute, timeout_seconds,
        disable_after, header_names, headers_ciphertext, credentials_ciphertext, credentials_shown, transform, api_version, customer, signing_secret_ciphertext,
        created_by, created_at, updated_at
    )
    VALUES (
        :tenant_id, :id, :name, :target_url, :event_types, :condition, :is_test, :ordered, :max_in_flight, :max_per_minute,
        :timeout_seconds, :disable_after, :header_names, :headers_ciphertext, :credentials_ciphertext, :credentials_shown::jsonb,
        :transform::jsonb, :api_version, :customer, :signing_secret_ciphertext, :actor, :now, :now
    )
    RETURNING tenant_id, id
)
INSERT INTO notification.webhook_endpoints (tenant_id, id) SELECT tenant_id, id FROM made;

-- name: list_webhooks
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT {columns}
FROM notification.webhook_subscriptions AS w
JOIN notification.webhook_endpoints AS e ON e.tenant_id = w.tenant_id AND e.id = w.id
WHERE w.tenant_id = :tenant_id AND w.is_test = :is_test
  AND (CAST(:after_id AS text) IS NULL OR w.id < :after_id)
  AND (CAST(:status AS text) IS NULL OR w.status = :status)
  AND (CAST(:customer AS text) IS NULL OR w.customer = :customer)
ORDER BY w.id DESC
LIMIT :limit;

-- name: list_of_customer
-- Those of one customer, the oldest first: some dozens, by the index of customers.
SELECT {columns}
FROM notification.webhook_subscriptions AS w
JOIN notification.webhook_endpoints AS e ON e.tenant_id = w.tenant_id AND e.id = w.id
WHERE w.tenant_id = :tenant_id AND w.customer = :customer AND w.is_test = :is_test
ORDER BY w.id
LIMIT :limit;

-- name: count_customer_alone
-- Forms of two links of one customer wait for each other here, so that both count what the other has added.
SELECT pg_advisory_xact_lock(hashtextextended(:tenant_id || ' ' || :is_test::boolean || ' ' || :customer::text, 7411097));

-- name: find_webhook
-- By its key, in its environment.
SELECT {columns}
FROM notification.webhook_subscriptions AS w
JOIN notification.webhook_endpoints AS e ON e.tenant_id = w.tenant_id AND e.id = w.id
WHERE w.tenant_id = :tenant_id AND w.id = :id AND w.is_test = :is_test;

-- name: lock_webhook
-- Every change comes through here, one at a time; a worker that writes what became of calls has the endpoint's row, and waits too.
SELECT {columns}
FROM notification.webhook_endpoints AS e
JOIN notification.webhook_subscriptions AS w ON w.tenant_id = e.tenant_id AND w.id = e.id
WHERE e.tenant_id = :tenant_id AND e.id = :id AND w.is_test = :is_test
FOR NO KEY UPDATE;

-- name: find_sealed
-- What is sealed, for those who call it or sign anew.
SELECT signing_secret_ciphertext, signing_secret_prev_ciphertext, signing_secret_prev_until, headers_ciphertext, credentials_ciphertext
FROM notification.webhook_subscriptions
WHERE tenant_id = :tenant_id AND id = :id;

-- name: update_webhook
-- Under its lock: the values are whole. Headers and credentials that are not given stay. Another pin counts from a moment on, and
-- one that does not count yet is passed over: events in between are judged by the one that counts.
UPDATE notification.webhook_subscriptions
SET name = :name, target_url = :target_url, event_types = :event_types, condition = :condition, ordered = :ordered,
    max_in_flight = :max_in_flight, max_per_minute = :max_per_minute, timeout_seconds = :timeout_seconds,
    disable_after = :disable_after, header_names = :header_names,
    headers_ciphertext = CASE WHEN :changes_headers THEN :headers_ciphertext ELSE headers_ciphertext END,
    credentials_ciphertext = CASE WHEN :changes_credentials THEN :credentials_ciphertext ELSE credentials_ciphertext END,
    credentials_shown = :credentials_shown::jsonb, transform = :transform::jsonb, customer = :customer,
    api_version_before = CASE
        WHEN api_version = :api_version OR api_version_from > :now THEN api_version_before
        ELSE api_version
    END,
    api_version_from = CASE WHEN api_version = :api_version THEN api_version_from ELSE :api_version_from::timestamptz END,
    api_version = :api_version,
    updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: rotate_secret
-- Under its lock. The secret before signs as well until its time is over; one that is older than that signs no more.
UPDATE notification.webhook_subscriptions
SET signing_secret_prev_ciphertext = CASE WHEN :overlaps THEN signing_secret_ciphertext END,
    signing_secret_prev_until = CASE WHEN :overlaps THEN :until::timestamptz END,
    signing_secret_ciphertext = :signing_secret_ciphertext, signing_secret_rotated_at = :now, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: set_status
-- Under its lock; the endpoint goes with it. One that is opened again begins anew, and what has waited is due at once.
WITH changed AS (
    UPDATE notification.webhook_subscriptions
    SET status = :status, disabled_at = NULL, disabled_reason = NULL, updated_at = :now, version = version + 1
    WHERE tenant_id = :tenant_id AND id = :id
    RETURNING tenant_id, id, status = 'active' AS is_open
)
UPDATE notification.webhook_endpoints AS e
SET is_open = changed.is_open, due_at = CASE WHEN changed.is_open THEN :now::timestamptz END,
    resting_until = NULL, consecutive_failures = 0, is_proven = false
FROM changed
WHERE e.tenant_id = changed.tenant_id AND e.id = changed.id;

-- name: delete_webhook
-- What was delivered is still known by its id for as long as it is kept; what waits goes nowhere. Its counts go with it.
WITH gone AS (
    DELETE FROM notification.webhook_subscriptions WHERE tenant_id = :tenant_id AND id = :id RETURNING tenant_id, id
), uncounted AS (
    DELETE FROM notification.webhook_call_counts AS c USING gone WHERE c.tenant_id = gone.tenant_id AND c.subscription_id = gone.id
)
DELETE FROM notification.webhook_endpoints AS e USING gone WHERE e.tenant_id = gone.tenant_id AND e.id = gone.id;

-- name: load_filters
-- What the webhooks of these tenants want, whatever their status: what happens while one is paused or disabled waits for it.
SELECT tenant_id, id, event_types, condition, is_test, ordered, api_version, api_version_before, api_version_from,
       status = 'active' AS is_active
FROM notification.webhook_subscriptions
WHERE tenant_id = ANY (:tenant_ids::text[])
ORDER BY tenant_id, id;
