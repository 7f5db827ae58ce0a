-- tidings: oldest-release=0.1.0
-- The webhook portal: pages where the customers of a tenant look after their own endpoints, opened by links that end soon.
-- Calls are counted by the hour, so that a page of an endpoint reads some rows and not its deliveries.
-- squawk-ignore-file constraint-missing-not-valid, require-concurrent-index-creation, ban-drop-constraint

ALTER TABLE notification.webhook_subscriptions
    ADD COLUMN IF NOT EXISTS customer TEXT COLLATE "C",
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_customer,
    ADD CONSTRAINT ck_webhook_subscriptions_customer CHECK (customer ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$');
CREATE INDEX IF NOT EXISTS ix_webhook_subscriptions_customer
    ON notification.webhook_subscriptions (tenant_id, customer, id) WHERE customer IS NOT NULL;
COMMENT ON COLUMN notification.webhook_subscriptions.customer IS
    'What the tenant calls the customer whose endpoint this is; null: its own. A portal link shows all of one customer.';

CREATE TABLE IF NOT EXISTS notification.webhook_portal_links (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    token_hash      TEXT COLLATE "C" NOT NULL,
    subscription_id TEXT COLLATE "C" NOT NULL,
    customer        TEXT COLLATE "C",
    is_test         BOOLEAN NOT NULL,
    may_change      BOOLEAN NOT NULL,
    event_types     TEXT[] COLLATE "C" NOT NULL,
    locale          TEXT COLLATE "C",
    embed_origins   TEXT[] COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_webhook_portal_links PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_webhook_portal_links_hash UNIQUE (tenant_id, token_hash),
    CONSTRAINT ck_webhook_portal_links_id CHECK (id ~ '^wpl_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_webhook_portal_links_hash CHECK (token_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_webhook_portal_links_time CHECK (expires_at > created_at)
);
CREATE INDEX IF NOT EXISTS ix_webhook_portal_links_subscription
    ON notification.webhook_portal_links (tenant_id, subscription_id);
CREATE INDEX IF NOT EXISTS ix_webhook_portal_links_customer
    ON notification.webhook_portal_links (tenant_id, customer) WHERE customer IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_webhook_portal_links_expiry ON notification.webhook_portal_links (expires_at);
COMMENT ON TABLE notification.webhook_portal_links IS
    'Links to the webhook portal. The token carries its tenant inside; of the token only the hash is kept.';
COMMENT ON COLUMN notification.webhook_portal_links.subscription_id IS
    'The webhook that it was made for: whatever is made by this link has its condition, its body and its limits.';
COMMENT ON COLUMN notification.webhook_portal_links.customer IS 'Whose webhooks it shows; null: that one webhook.';
COMMENT ON COLUMN notification.webhook_portal_links.may_change IS 'Otherwise it only shows.';
COMMENT ON COLUMN notification.webhook_portal_links.event_types IS 'What its visitors may choose from, as NATS writes subjects.';
COMMENT ON COLUMN notification.webhook_portal_links.locale IS 'The language of its pages; null: what the browser asks for.';
COMMENT ON COLUMN notification.webhook_portal_links.embed_origins IS 'Sites that may show its pages in a frame.';
CALL kernel.protect_tenant_table('notification.webhook_portal_links', 'SELECT, INSERT, DELETE');
CALL kernel.open_to_worker('notification.webhook_portal_links', 'SELECT (tenant_id, id, expires_at), DELETE');

CREATE TABLE IF NOT EXISTS notification.webhook_call_counts (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    subscription_id TEXT COLLATE "C" NOT NULL,
    hour            TIMESTAMPTZ NOT NULL,
    taken           BIGINT NOT NULL,
    not_taken       BIGINT NOT NULL,
    CONSTRAINT pk_webhook_call_counts PRIMARY KEY (tenant_id, subscription_id, hour),
    CONSTRAINT ck_webhook_call_counts_counts CHECK (taken >= 0 AND not_taken >= 0)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_webhook_call_counts_hour ON notification.webhook_call_counts (hour);
COMMENT ON TABLE notification.webhook_call_counts IS
    'Calls of each webhook by the hour, for some days: written with the calls, under the lock of the endpoint.';
COMMENT ON COLUMN notification.webhook_call_counts.hour IS 'When it began, in UTC.';
COMMENT ON COLUMN notification.webhook_call_counts.taken IS 'Calls that were answered with 2xx.';
CALL kernel.protect_tenant_table('notification.webhook_call_counts', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_sets('notification.webhook_call_counts');
CALL kernel.open_to_worker('notification.webhook_call_counts', 'SELECT (tenant_id, subscription_id, hour), DELETE');

CALL kernel.assert_protected();
