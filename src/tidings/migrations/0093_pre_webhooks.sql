-- tidings: oldest-release=0.1.0
-- No release has written these tables. Columns that a row needs have a default for as long as the file takes.
-- squawk-ignore-file constraint-missing-not-valid, require-concurrent-index-creation, require-concurrent-index-deletion, ban-drop-constraint, ban-drop-column
-- squawk-ignore-file adding-field-with-default, adding-required-field, adding-foreign-key-constraint
-- squawk-ignore-file adding-not-nullable-field, ban-drop-default, ban-drop-not-null
-- Webhooks: what is to be told of each tenant's events, and where. A delivery is a row for one event and one subscription; an
-- endpoint is claimed as a whole, so that one that is slow or away holds up none but its own.

ALTER TABLE notification.webhook_subscriptions
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_threshold,
    DROP COLUMN IF EXISTS event_filters,
    DROP COLUMN IF EXISTS last_success_at,
    DROP COLUMN IF EXISTS last_failure_at,
    DROP COLUMN IF EXISTS auto_disable_threshold,
    ADD COLUMN IF NOT EXISTS event_types TEXT[] COLLATE "C" NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS condition TEXT,
    ADD COLUMN IF NOT EXISTS is_test BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS ordered BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS max_in_flight INTEGER NOT NULL DEFAULT 10,
    ADD COLUMN IF NOT EXISTS max_per_minute INTEGER,
    ADD COLUMN IF NOT EXISTS timeout_seconds INTEGER NOT NULL DEFAULT 15,
    ADD COLUMN IF NOT EXISTS disable_after INTEGER NOT NULL DEFAULT 20,
    ADD COLUMN IF NOT EXISTS headers_ciphertext BYTEA,
    ADD COLUMN IF NOT EXISTS header_names TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS credentials_ciphertext BYTEA,
    ADD COLUMN IF NOT EXISTS credentials_shown JSONB,
    ADD COLUMN IF NOT EXISTS transform JSONB,
    ADD COLUMN IF NOT EXISTS signing_secret_prev_until TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS disabled_at TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS disabled_reason TEXT COLLATE "C",
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_limits,
    ADD CONSTRAINT ck_webhook_subscriptions_limits CHECK (
        max_in_flight BETWEEN 1 AND 50 AND max_per_minute BETWEEN 1 AND 60000 AND timeout_seconds BETWEEN 1 AND 30
        AND disable_after BETWEEN 1 AND 1000),
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_disabled,
    ADD CONSTRAINT ck_webhook_subscriptions_disabled CHECK (
        (status = 'disabled') = (disabled_at IS NOT NULL) AND (disabled_at IS NULL) = (disabled_reason IS NULL)
        AND disabled_reason IN ('failures', 'gone'));
ALTER TABLE notification.webhook_subscriptions
    ALTER COLUMN event_types DROP DEFAULT,
    ALTER COLUMN is_test DROP DEFAULT;
COMMENT ON COLUMN notification.webhook_subscriptions.name IS 'Not personal: what the tenant calls it.';
COMMENT ON COLUMN notification.webhook_subscriptions.event_types IS 'Which events, as NATS writes subjects.';
COMMENT ON COLUMN notification.webhook_subscriptions.condition IS 'A condition over what the event says; null: all of these types.';
COMMENT ON COLUMN notification.webhook_subscriptions.is_test IS 'Made with a test key: it hears of tests alone, and others hear of none.';
COMMENT ON COLUMN notification.webhook_subscriptions.ordered IS 'Events of one key one after the other, each when the one before is delivered or given up.';
COMMENT ON COLUMN notification.webhook_subscriptions.max_in_flight IS 'Calls side by side.';
COMMENT ON COLUMN notification.webhook_subscriptions.disable_after IS 'So many failures in a row disable it.';
COMMENT ON COLUMN notification.webhook_subscriptions.headers_ciphertext IS 'Further headers of each call, under the tenant''s key.';
COMMENT ON COLUMN notification.webhook_subscriptions.header_names IS 'Not personal: the names of these headers, without their values.';
COMMENT ON COLUMN notification.webhook_subscriptions.credentials_ciphertext IS 'Client certificate and OAuth 2 client, under the tenant''s key.';
COMMENT ON COLUMN notification.webhook_subscriptions.credentials_shown IS 'What of these is no secret.';
COMMENT ON COLUMN notification.webhook_subscriptions.transform IS 'The body that is told in the place of the usual one: JSON with paths into the event.';
COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_prev_until IS 'Until then calls are signed with the secret before as well.';
COMMENT ON COLUMN notification.webhook_subscriptions.consecutive_failures IS 'Not used: it changes with each call, and stands with the endpoint.';
COMMENT ON COLUMN notification.webhook_subscriptions.disabled_reason IS 'failures: too many in a row; gone: it answered 410.';
REVOKE ALL ON notification.webhook_subscriptions FROM tidings_runtime;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification.webhook_subscriptions TO tidings_runtime;
CALL kernel.open_to_sets('notification.webhook_subscriptions');
DROP TRIGGER IF EXISTS announce_change ON notification.webhook_subscriptions;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.webhook_subscriptions
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TABLE IF NOT EXISTS notification.webhook_endpoints (
    tenant_id            TEXT COLLATE "C" NOT NULL,
    id                   TEXT COLLATE "C" NOT NULL,
    is_open              BOOLEAN NOT NULL DEFAULT true,
    due_at               TIMESTAMPTZ,
    claimed_by           TEXT COLLATE "C",
    next_slot_at         TIMESTAMPTZ,
    resting_until        TIMESTAMPTZ,
    consecutive_failures INTEGER NOT NULL DEFAULT 0,
    is_proven            BOOLEAN NOT NULL DEFAULT false,
    last_success_at      TIMESTAMPTZ,
    last_failure_at      TIMESTAMPTZ,
    CONSTRAINT pk_webhook_endpoints PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_webhook_endpoints_due ON notification.webhook_endpoints (due_at)
    WHERE due_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_webhook_endpoints_claimed ON notification.webhook_endpoints (claimed_by) WHERE claimed_by IS NOT NULL;
COMMENT ON TABLE notification.webhook_endpoints IS 'When each webhook subscription is called next, and how it has answered: one row for each.';
COMMENT ON COLUMN notification.webhook_endpoints.id IS 'The subscription''s.';
COMMENT ON COLUMN notification.webhook_endpoints.is_open IS 'Neither paused nor disabled; otherwise its deliveries wait.';
COMMENT ON COLUMN notification.webhook_endpoints.due_at IS 'When a worker looks at its deliveries next. Null: none is waiting, or it is not open.';
COMMENT ON COLUMN notification.webhook_endpoints.next_slot_at IS 'When the next call may go, where calls are limited by the minute.';
COMMENT ON COLUMN notification.webhook_endpoints.resting_until IS 'After failures it is left alone until then.';
COMMENT ON COLUMN notification.webhook_endpoints.consecutive_failures IS 'Reaching disable_after of the subscription disables it.';
COMMENT ON COLUMN notification.webhook_endpoints.is_proven IS 'Its last calls were taken; until then it gets one at a time.';
CALL kernel.store_as_queue('notification.webhook_endpoints');
CALL kernel.protect_tenant_table('notification.webhook_endpoints', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_sets('notification.webhook_endpoints');
CALL kernel.open_to_worker('notification.webhook_endpoints', 'SELECT (tenant_id, id, due_at, claimed_by), UPDATE (claimed_by)');

CREATE SEQUENCE IF NOT EXISTS notification.webhook_positions AS BIGINT CACHE 1;
COMMENT ON SEQUENCE notification.webhook_positions IS 'The order of deliveries of one key. Numbers may be missing.';
REVOKE ALL ON SEQUENCE notification.webhook_positions FROM PUBLIC;
GRANT USAGE ON SEQUENCE notification.webhook_positions TO tidings_runtime;

DROP INDEX IF EXISTS notification.ix_webhook_deliveries_due;
DROP INDEX IF EXISTS notification.ix_webhook_deliveries_subscription;
DROP POLICY IF EXISTS worker_claims ON notification.webhook_deliveries;
REVOKE ALL ON notification.webhook_deliveries FROM tidings_worker;
ALTER TABLE notification.webhook_deliveries
    DROP CONSTRAINT IF EXISTS ck_webhook_deliveries_status,
    ALTER COLUMN payload_ref DROP NOT NULL,
    ADD COLUMN IF NOT EXISTS position BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS happened_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    ADD COLUMN IF NOT EXISTS payload_ciphertext BYTEA NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS calls JSONB NOT NULL DEFAULT '[]'::jsonb,
    ADD CONSTRAINT ck_webhook_deliveries_status CHECK (status IN ('queued', 'blocked', 'delivered', 'dlq'));
ALTER TABLE notification.webhook_deliveries
    ALTER COLUMN position DROP DEFAULT,
    ALTER COLUMN happened_at DROP DEFAULT,
    ALTER COLUMN payload_ciphertext DROP DEFAULT;
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_due
    ON notification.webhook_deliveries (tenant_id, subscription_id, next_attempt_at, position) WHERE status = 'queued';
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_lane
    ON notification.webhook_deliveries (tenant_id, subscription_id, ordering_key, position) WHERE status IN ('queued', 'blocked');
CREATE INDEX IF NOT EXISTS ix_webhook_deliveries_subscription
    ON notification.webhook_deliveries (tenant_id, subscription_id, created_at, id);
COMMENT ON TABLE notification.webhook_deliveries IS 'Queue and history of webhooks: one row for each event and subscription.';
COMMENT ON COLUMN notification.webhook_deliveries.position IS 'Deliveries of one subscription and key go in this order, where order is asked for.';
COMMENT ON COLUMN notification.webhook_deliveries.happened_at IS 'When what the event tells of happened.';
COMMENT ON COLUMN notification.webhook_deliveries.payload_ciphertext IS 'What the event says, under the tenant''s key.';
COMMENT ON COLUMN notification.webhook_deliveries.status IS
    'queued: called at next_attempt_at; blocked: behind an earlier one of its key; dlq: given up, and can be delivered again.';
COMMENT ON COLUMN notification.webhook_deliveries.attempts IS 'Calls since it was last ordered; retries are counted by these.';
COMMENT ON COLUMN notification.webhook_deliveries.last_error IS 'Our word for why the last call was not taken, never the answer''s body.';
COMMENT ON COLUMN notification.webhook_deliveries.payload_ref IS 'Not used: what is told is some hundred bytes, and lies sealed in the row.';
COMMENT ON COLUMN notification.webhook_deliveries.claimed_by IS 'Not used: a worker claims the endpoint.';
COMMENT ON COLUMN notification.webhook_deliveries.claimed_until IS 'Not used: a claim has no time limit, and ends with its worker.';
COMMENT ON COLUMN notification.webhook_deliveries.calls IS 'Its last calls: when, what was answered, why it was not taken, how long it took.';
CALL kernel.open_to_sets('notification.webhook_deliveries');
-- Whole months: what was told is kept for 90 days at least.
UPDATE kernel.partitioned_tables SET keep = 4 WHERE parent = 'notification.webhook_deliveries';

CALL kernel.assert_protected();
