-- A ladder being climbed is a row in a small mutable table. What is over is history: append-only, by month.

CREATE TABLE IF NOT EXISTS chan.executions_live (
    tenant_id            TEXT COLLATE "C" NOT NULL,
    id                   TEXT COLLATE "C" NOT NULL,
    started_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at           TIMESTAMPTZ,
    due_at               TIMESTAMPTZ NOT NULL,
    cost_cap_micros      BIGINT,
    cost_reserved_micros BIGINT NOT NULL DEFAULT 0,
    cost_spent_micros    BIGINT NOT NULL DEFAULT 0,
    policy_version       INTEGER,
    version              INTEGER NOT NULL DEFAULT 1,
    receipts             INTEGER NOT NULL DEFAULT 0,
    is_test              BOOLEAN NOT NULL DEFAULT false,
    notification_id      TEXT COLLATE "C" NOT NULL,
    recipient_id         TEXT COLLATE "C" NOT NULL,
    use_case             TEXT COLLATE "C" NOT NULL,
    priority             TEXT COLLATE "C" NOT NULL DEFAULT 'normal',
    strategy             TEXT COLLATE "C" NOT NULL,
    policy_id            TEXT COLLATE "C",
    ladder_snapshot      TEXT NOT NULL,
    state                TEXT NOT NULL,
    cost_currency        TEXT COLLATE "C",
    claimed_by           TEXT COLLATE "C",
    trace_id             TEXT COLLATE "C",
    CONSTRAINT pk_executions_live PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_executions_live_recipient UNIQUE (tenant_id, notification_id, recipient_id),
    CONSTRAINT ck_executions_live_id CHECK (id LIKE 'exec\_%' AND length(id) = 31),
    CONSTRAINT ck_executions_live_use_case CHECK (use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    CONSTRAINT ck_executions_live_priority CHECK (priority IN ('critical', 'high', 'normal', 'low')),
    CONSTRAINT ck_executions_live_strategy CHECK (strategy IN ('SEQUENTIAL', 'PARALLEL', 'FAILOVER')),
    CONSTRAINT ck_executions_live_cost CHECK
        (cost_reserved_micros >= 0 AND cost_spent_micros >= 0
         AND (cost_cap_micros IS NULL OR cost_reserved_micros + cost_spent_micros <= cost_cap_micros)),
    CONSTRAINT ck_executions_live_currency CHECK (cost_currency ~ '^[A-Z]{3}$')
);
COMMENT ON TABLE chan.executions_live IS 'Ladders in progress: one per notification and recipient. Ended ones move to fallback_executions.';
COMMENT ON COLUMN chan.executions_live.ladder_snapshot IS 'JSON: the ladder as frozen at the start, its order and why.';
COMMENT ON COLUMN chan.executions_live.state IS
    'JSON: the steps under way, with vendor calls noted before they are made, and all calls and skipped steps so far.';
COMMENT ON COLUMN chan.executions_live.version IS
    'Grows with every write and with every receipt, so that whoever has it in hand learns of news before it writes.';
COMMENT ON COLUMN chan.executions_live.receipts IS 'How many were heard of; where there are none, none are read.';
COMMENT ON COLUMN chan.executions_live.cost_reserved_micros IS 'Worst case of the steps under way, settled when they end.';
COMMENT ON COLUMN chan.executions_live.due_at IS 'When somebody has to look at it again: a retry, a deadline, or at once.';
COMMENT ON COLUMN chan.executions_live.claimed_by IS 'The worker that has it in hand; freed when that one dies.';
-- What has to be looked at next, the most urgent first; a ladder in a worker's hands is not in it.
CREATE INDEX IF NOT EXISTS ix_executions_live_due ON chan.executions_live (priority, due_at) WHERE claimed_by IS NULL;
CALL kernel.protect_tenant_table('chan.executions_live', 'SELECT, INSERT, UPDATE, DELETE');
-- Ids, times and who has it; not the ladder.
CALL kernel.open_to_worker('chan.executions_live',
    'SELECT (tenant_id, id, updated_at, due_at, priority, claimed_by), UPDATE (claimed_by, due_at)');

CREATE TABLE IF NOT EXISTS chan.fallback_executions (
    tenant_id         TEXT COLLATE "C" NOT NULL,
    id                TEXT COLLATE "C" NOT NULL,
    started_at        TIMESTAMPTZ NOT NULL,
    terminated_at     TIMESTAMPTZ NOT NULL,
    total_cost_micros BIGINT NOT NULL DEFAULT 0,
    policy_version    INTEGER,
    notification_id   TEXT COLLATE "C" NOT NULL,
    recipient_id      TEXT COLLATE "C" NOT NULL,
    use_case          TEXT COLLATE "C" NOT NULL,
    strategy          TEXT COLLATE "C" NOT NULL,
    policy_id         TEXT COLLATE "C",
    ladder_snapshot   TEXT NOT NULL,
    final_channel     TEXT COLLATE "C",
    outcome           TEXT COLLATE "C" NOT NULL,
    evidence          TEXT COLLATE "C",
    cost_currency     TEXT COLLATE "C",
    fallback_path     TEXT NOT NULL DEFAULT '[]',
    trace_id          TEXT COLLATE "C",
    CONSTRAINT pk_fallback_executions PRIMARY KEY (tenant_id, started_at, id),
    CONSTRAINT ck_fallback_executions_id CHECK (id LIKE 'exec\_%' AND length(id) = 31),
    CONSTRAINT ck_fallback_executions_use_case CHECK
        (use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    CONSTRAINT ck_fallback_executions_strategy CHECK (strategy IN ('SEQUENTIAL', 'PARALLEL', 'FAILOVER')),
    CONSTRAINT ck_fallback_executions_outcome CHECK (outcome IN
        ('DELIVERED', 'FAILED', 'REFUSED_NO_CHANNEL', 'REFUSED_COST_CAP', 'REFUSED_CONSENT',
         'REFUSED_SENDER_UNAUTHORIZED')),
    CONSTRAINT ck_fallback_executions_evidence CHECK (evidence IN ('accepted', 'sent', 'delivered', 'read')),
    CONSTRAINT ck_fallback_executions_currency CHECK (cost_currency ~ '^[A-Z]{3}$')
) PARTITION BY RANGE (started_at);
CREATE INDEX IF NOT EXISTS ix_fallback_executions_notification
    ON chan.fallback_executions (tenant_id, notification_id, recipient_id);
COMMENT ON TABLE chan.fallback_executions IS 'Append-only history of ended ladders: exactly one outcome each.';
COMMENT ON COLUMN chan.fallback_executions.started_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.fallback_executions.evidence IS 'What DELIVERED rests on; accepted where the channel has no receipts.';
CALL kernel.protect_tenant_table('chan.fallback_executions', 'SELECT, INSERT');
CALL kernel.make_append_only('chan.fallback_executions');

CREATE TABLE IF NOT EXISTS chan.delivery_attempts (
    tenant_id           TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    started_at          TIMESTAMPTZ NOT NULL,
    terminated_at       TIMESTAMPTZ,
    cost_micros         BIGINT NOT NULL DEFAULT 0,
    step_index          INTEGER NOT NULL,
    duration_ms         INTEGER,
    execution_id        TEXT COLLATE "C" NOT NULL,
    channel             TEXT COLLATE "C" NOT NULL,
    adapter_config_id   TEXT COLLATE "C",
    provider            TEXT COLLATE "C",
    provider_message_id TEXT COLLATE "C",
    status              TEXT COLLATE "C" NOT NULL,
    reason              TEXT,
    cost_currency       TEXT COLLATE "C",
    raw_payload_ref     TEXT,
    CONSTRAINT pk_delivery_attempts PRIMARY KEY (tenant_id, started_at, id),
    CONSTRAINT ck_delivery_attempts_id CHECK (id LIKE 'attempt\_%' AND length(id) = 34),
    CONSTRAINT ck_delivery_attempts_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_delivery_attempts_status CHECK (status IN
        ('accepted', 'sent', 'delivered', 'delivered_read', 'failed_temp', 'failed_perm', 'rejected_by_provider',
         'rejected_by_recipient', 'step_skipped', 'timed_out', 'cancelled')),
    CONSTRAINT ck_delivery_attempts_currency CHECK (cost_currency ~ '^[A-Z]{3}$')
) PARTITION BY RANGE (started_at);
CREATE INDEX IF NOT EXISTS ix_delivery_attempts_execution ON chan.delivery_attempts (tenant_id, execution_id);
-- Callbacks come without a tenant: this one leads with what they bring.
CREATE INDEX IF NOT EXISTS ix_delivery_attempts_provider_message
    ON chan.delivery_attempts (provider_message_id, provider) WHERE provider_message_id IS NOT NULL;
COMMENT ON TABLE chan.delivery_attempts IS 'Append-only: one row per vendor call or skipped step, as it ended. Later news are events.';
COMMENT ON COLUMN chan.delivery_attempts.started_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.delivery_attempts.status IS 'What the call itself came to; receipts are in delivery_attempt_events.';
COMMENT ON COLUMN chan.delivery_attempts.raw_payload_ref IS 'Encrypted object in the blob store: what the vendor answered.';
CALL kernel.protect_tenant_table('chan.delivery_attempts', 'SELECT, INSERT');
CALL kernel.make_append_only('chan.delivery_attempts');
-- To find the tenant of a callback on a shared vendor account: ids only.
CALL kernel.open_to_worker('chan.delivery_attempts',
    'SELECT (tenant_id, id, started_at, execution_id, step_index, channel, adapter_config_id, provider, provider_message_id)');

CREATE TABLE IF NOT EXISTS chan.delivery_attempt_events (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    recorded_at   TIMESTAMPTZ NOT NULL,
    occurred_at   TIMESTAMPTZ,
    cost_micros   BIGINT,
    late          BOOLEAN NOT NULL DEFAULT false,
    attempt_id    TEXT COLLATE "C" NOT NULL,
    execution_id  TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL,
    provider_code TEXT COLLATE "C",
    reason        TEXT,
    cost_currency TEXT COLLATE "C",
    CONSTRAINT pk_delivery_attempt_events PRIMARY KEY (tenant_id, recorded_at, id),
    CONSTRAINT ck_delivery_attempt_events_status CHECK (status IN
        ('accepted', 'sent', 'delivered', 'delivered_read', 'failed_temp', 'failed_perm', 'rejected_by_provider',
         'rejected_by_recipient', 'step_skipped', 'timed_out', 'cancelled', 'bounced', 'complaint', 'opened',
         'clicked', 'unknown')),
    CONSTRAINT ck_delivery_attempt_events_currency CHECK (cost_currency ~ '^[A-Z]{3}$')
) PARTITION BY RANGE (recorded_at);
CREATE INDEX IF NOT EXISTS ix_delivery_attempt_events_attempt ON chan.delivery_attempt_events (tenant_id, attempt_id);
COMMENT ON TABLE chan.delivery_attempt_events IS 'Append-only: what vendors, and our own clock, said about an attempt afterwards.';
COMMENT ON COLUMN chan.delivery_attempt_events.id IS
    'The whe_ id of the vendor event, so that it is taken once; an evt_ id where our clock says it.';
COMMENT ON COLUMN chan.delivery_attempt_events.recorded_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.delivery_attempt_events.late IS 'The step had been given up: recorded, never billed or reported twice.';
CALL kernel.protect_tenant_table('chan.delivery_attempt_events', 'SELECT, INSERT');
CALL kernel.make_append_only('chan.delivery_attempt_events');

INSERT INTO kernel.partitioned_tables (parent, service, unit, ahead, time_column) VALUES
    ('chan.fallback_executions', 'router', 'month', 3, 'started_at'),
    ('chan.delivery_attempts', 'router', 'month', 3, 'started_at'),
    ('chan.delivery_attempt_events', 'router', 'month', 3, 'recorded_at')
ON CONFLICT (parent) DO NOTHING;
