-- Webhooks to tenants' own systems: who wants to hear what, and each delivery with its retries.

CREATE TABLE IF NOT EXISTS notification.webhook_subscriptions (
    tenant_id                      TEXT COLLATE "C" NOT NULL,
    id                             TEXT COLLATE "C" NOT NULL,
    name                           TEXT NOT NULL,
    target_url                     TEXT NOT NULL,
    event_filters                  JSONB NOT NULL DEFAULT '[]'::jsonb,
    signing_secret_ciphertext      BYTEA NOT NULL,
    signing_secret_prev_ciphertext BYTEA,
    signing_secret_rotated_at      TIMESTAMPTZ,
    status                         TEXT NOT NULL DEFAULT 'active',
    created_by                     TEXT NOT NULL,
    created_at                     TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at                     TIMESTAMPTZ NOT NULL DEFAULT now(),
    last_success_at                TIMESTAMPTZ,
    last_failure_at                TIMESTAMPTZ,
    consecutive_failures           INTEGER NOT NULL DEFAULT 0,
    auto_disable_threshold         INTEGER NOT NULL DEFAULT 20,
    version                        INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_webhook_subscriptions PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_webhook_subscriptions_tenant FOREIGN KEY (tenant_id)
        REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT ck_webhook_subscriptions_id CHECK (id ~ '^whs_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_webhook_subscriptions_status CHECK (status IN ('active', 'paused', 'disabled')),
    CONSTRAINT ck_webhook_subscriptions_threshold CHECK (auto_disable_threshold > 0)
);
COMMENT ON TABLE notification.webhook_subscriptions IS 'A tenant''s endpoints and the events they want.';
COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_ciphertext IS 'Under the tenant''s key; the plain secret is never stored.';
COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_prev_ciphertext IS 'Signs as well while a rotation overlaps.';
COMMENT ON COLUMN notification.webhook_subscriptions.consecutive_failures IS 'Reaching auto_disable_threshold disables the endpoint.';
CALL kernel.protect_tenant_table('notification.webhook_subscriptions', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification.webhook_deliveries (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    next_attempt_at    TIMESTAMPTZ,
    first_attempted_at TIMESTAMPTZ,
    delivered_at       TIMESTAMPTZ,
    claimed_until      TIMESTAMPTZ,
    attempts           INTEGER NOT NULL DEFAULT 0,
    last_status_code   INTEGER,
    subscription_id    TEXT COLLATE "C" NOT NULL,
    event_type         TEXT COLLATE "C" NOT NULL,
    event_id           TEXT COLLATE "C" NOT NULL,
    ordering_key       TEXT COLLATE "C" NOT NULL DEFAULT '',
    payload_ref        TEXT NOT NULL,
    status             TEXT COLLATE "C" NOT NULL DEFAULT 'queued',
    claimed_by         TEXT,
    last_error         TEXT,
    CONSTRAINT pk_webhook_deliveries PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT ck_webhook_deliveries_id CHECK (id LIKE 'whd\_%' AND length(id) = 30),
    CONSTRAINT ck_webhook_deliveries_status CHECK (status IN ('queued', 'delivered', 'failed', 'disabled', 'dlq'))
) PARTITION BY RANGE (created_at);
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_due
    ON notification.webhook_deliveries (next_attempt_at) WHERE status IN ('queued', 'failed');
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_subscription
    ON notification.webhook_deliveries (tenant_id, subscription_id, created_at DESC);
COMMENT ON TABLE notification.webhook_deliveries IS 'Queue and history of webhooks out: one row per event and endpoint.';
COMMENT ON COLUMN notification.webhook_deliveries.created_at IS 'The time inside the id.';
COMMENT ON COLUMN notification.webhook_deliveries.payload_ref IS 'Object in the blob store, kept 90 days.';
COMMENT ON COLUMN notification.webhook_deliveries.status IS 'failed: will be tried again at next_attempt_at; dlq: given up.';
COMMENT ON COLUMN notification.webhook_deliveries.last_error IS 'Our words and the status code, never the answer''s body.';
CALL kernel.protect_tenant_table('notification.webhook_deliveries', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.webhook_deliveries',
    'SELECT (tenant_id, id, created_at, updated_at, next_attempt_at, claimed_until, attempts, subscription_id, ordering_key, '
    'status, claimed_by), UPDATE (next_attempt_at, claimed_by, claimed_until, attempts, updated_at)');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column, fillfactor) VALUES
    ('notification.webhook_deliveries', 'notify', 'month', 3, 'created_at', 80)
ON CONFLICT (parent) DO NOTHING;
