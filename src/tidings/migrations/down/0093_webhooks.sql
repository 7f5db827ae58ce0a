-- Emergency only: undoes 0093_pre_webhooks. All deliveries are lost, waiting ones too, and what each endpoint is told.

TRUNCATE notification.webhook_deliveries;
UPDATE kernel.partitioned_tables SET keep = NULL WHERE parent = 'notification.webhook_deliveries';
DROP POLICY IF EXISTS tenant_sets ON notification.webhook_deliveries;
DROP INDEX IF EXISTS notification.ix_webhook_deliveries_subscription;
DROP INDEX IF EXISTS notification.ix_webhook_deliveries_lane;
DROP INDEX IF EXISTS notification.ix_webhook_deliveries_due;
ALTER TABLE notification.webhook_deliveries
    DROP CONSTRAINT IF EXISTS ck_webhook_deliveries_status,
    DROP COLUMN IF EXISTS position,
    DROP COLUMN IF EXISTS happened_at,
    DROP COLUMN IF EXISTS payload_ciphertext,
    DROP COLUMN IF EXISTS calls,
    ALTER COLUMN payload_ref SET NOT NULL,
    ADD CONSTRAINT ck_webhook_deliveries_status CHECK (status IN ('queued', 'delivered', 'failed', 'disabled', 'dlq'));
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_due
    ON notification.webhook_deliveries (next_attempt_at) WHERE status IN ('queued', 'failed');
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_subscription
    ON notification.webhook_deliveries (tenant_id, subscription_id, created_at DESC);
COMMENT ON TABLE notification.webhook_deliveries IS 'Queue and history of webhooks out: one row per event and endpoint.';
COMMENT ON COLUMN notification.webhook_deliveries.payload_ref IS 'Object in the blob store, kept 90 days.';
COMMENT ON COLUMN notification.webhook_deliveries.status IS 'failed: will be tried again at next_attempt_at; dlq: given up.';
COMMENT ON COLUMN notification.webhook_deliveries.last_error IS 'Our words and the status code, never the answer''s body.';
COMMENT ON COLUMN notification.webhook_deliveries.attempts IS NULL;
COMMENT ON COLUMN notification.webhook_deliveries.claimed_by IS NULL;
COMMENT ON COLUMN notification.webhook_deliveries.claimed_until IS NULL;
CALL kernel.open_to_worker('notification.webhook_deliveries',
    'SELECT (tenant_id, id, created_at, updated_at, next_attempt_at, claimed_until, attempts, subscription_id, ordering_key, '
    'status, claimed_by), UPDATE (next_attempt_at, claimed_by, claimed_until, attempts, updated_at)');
DROP SEQUENCE IF EXISTS notification.webhook_positions;

DROP TABLE IF EXISTS notification.webhook_endpoints;

DROP TRIGGER IF EXISTS announce_change ON notification.webhook_subscriptions;
DROP POLICY IF EXISTS tenant_sets ON notification.webhook_subscriptions;
REVOKE ALL ON notification.webhook_subscriptions FROM tidings_runtime;
GRANT SELECT, INSERT, UPDATE ON notification.webhook_subscriptions TO tidings_runtime;
COMMENT ON COLUMN notification.webhook_subscriptions.name IS NULL;
-- A disabled one has no reason any more; `status` says it.
ALTER TABLE notification.webhook_subscriptions
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_limits,
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_disabled,
    DROP COLUMN IF EXISTS event_types,
    DROP COLUMN IF EXISTS condition,
    DROP COLUMN IF EXISTS is_test,
    DROP COLUMN IF EXISTS ordered,
    DROP COLUMN IF EXISTS max_in_flight,
    DROP COLUMN IF EXISTS max_per_minute,
    DROP COLUMN IF EXISTS timeout_seconds,
    DROP COLUMN IF EXISTS disable_after,
    DROP COLUMN IF EXISTS headers_ciphertext,
    DROP COLUMN IF EXISTS header_names,
    DROP COLUMN IF EXISTS credentials_ciphertext,
    DROP COLUMN IF EXISTS credentials_shown,
    DROP COLUMN IF EXISTS transform,
    DROP COLUMN IF EXISTS signing_secret_prev_until,
    DROP COLUMN IF EXISTS disabled_at,
    DROP COLUMN IF EXISTS disabled_reason,
    ADD COLUMN IF NOT EXISTS event_filters JSONB NOT NULL DEFAULT '[]'::jsonb,
    ADD COLUMN IF NOT EXISTS last_success_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS last_failure_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS auto_disable_threshold INTEGER NOT NULL DEFAULT 20,
    ADD CONSTRAINT ck_webhook_subscriptions_threshold CHECK (auto_disable_threshold > 0);
COMMENT ON COLUMN notification.webhook_subscriptions.consecutive_failures IS 'Reaching auto_disable_threshold disables the endpoint.';
