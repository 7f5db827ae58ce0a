-- Notify's own log of what became of a notification, written from the router's outcome and engagement events.

CREATE TABLE IF NOT EXISTS notification.delivery_attempts (
    tenant_id         TEXT COLLATE "C" NOT NULL,
    id                TEXT COLLATE "C" NOT NULL,
    started_at        TIMESTAMPTZ NOT NULL,
    finished_at       TIMESTAMPTZ,
    attempt_number    INTEGER NOT NULL,
    http_status       INTEGER,
    latency_ms        INTEGER NOT NULL DEFAULT 0,
    retry_after_ms    INTEGER,
    notification_id   TEXT COLLATE "C" NOT NULL,
    execution_id      TEXT COLLATE "C",
    router_attempt_id TEXT COLLATE "C",
    channel           TEXT COLLATE "C" NOT NULL,
    vendor            TEXT COLLATE "C" NOT NULL,
    vendor_message_id TEXT COLLATE "C",
    outcome           TEXT COLLATE "C" NOT NULL,
    error_code        TEXT,
    error_message     TEXT,
    raw_response_ref  TEXT,
    CONSTRAINT pk_delivery_attempts PRIMARY KEY (tenant_id, started_at, id),
    CONSTRAINT ck_delivery_attempts_id CHECK (id LIKE 'dat\_%' AND length(id) = 30),
    CONSTRAINT ck_delivery_attempts_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_delivery_attempts_outcome CHECK (outcome IN
        ('accepted', 'rejected_retryable', 'rejected_terminal', 'timeout', 'delivered', 'bounced', 'complaint',
         'opened', 'clicked', 'failed'))
) PARTITION BY RANGE (started_at);
CREATE INDEX IF NOT EXISTS ix_delivery_attempts_notification
    ON notification.delivery_attempts (tenant_id, notification_id, attempt_number);
COMMENT ON TABLE notification.delivery_attempts IS 'Append-only log per notification: attempts, receipts, opens, clicks.';
COMMENT ON COLUMN notification.delivery_attempts.started_at IS 'The time inside the id.';
COMMENT ON COLUMN notification.delivery_attempts.notification_id IS
    'No foreign key to a partitioned table; its month is inside the id.';
COMMENT ON COLUMN notification.delivery_attempts.router_attempt_id IS 'The attempt in the router, whose schema we do not read.';
COMMENT ON COLUMN notification.delivery_attempts.error_message IS 'Redacted: no address, no body.';
COMMENT ON COLUMN notification.delivery_attempts.raw_response_ref IS 'Encrypted object in the blob store.';
CALL kernel.protect_tenant_table('notification.delivery_attempts', 'SELECT, INSERT');
CALL kernel.make_append_only('notification.delivery_attempts');
