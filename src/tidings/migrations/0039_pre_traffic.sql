-- Circuits, weights and prices: which vendor gets the traffic, and what it costs.

-- The state itself was there from the start. A change makes a new version; the account's own version is left alone,
-- because that one opens its connections anew.
ALTER TABLE chan.channel_adapter_configs
    ADD COLUMN IF NOT EXISTS circuit_version     INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS circuit_changed_at  TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS circuit_until       TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS circuit_openings    INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS circuit_prober      TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS circuit_reason      TEXT,
    ADD COLUMN IF NOT EXISTS circuit_held        BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS circuit_held_until  TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS circuit_held_reason TEXT;
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_version IS 'Grows with every change; 0: the circuit never changed.';
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_opened_at IS 'Since when not all of its traffic goes through; null while closed.';
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_until IS 'OPEN: from when on it may be tried again; null: not before somebody says so.';
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_openings IS 'How often it opened since it was closed last; the pause doubles each time.';
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_prober IS 'HALF_OPEN: the process whose probes go through.';
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_held IS 'A person holds it in its state, whatever is counted.';
-- All that a process has to know: few accounts ever fail. There are so few accounts that an index takes no time.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_channel_adapter_configs_circuit
    ON chan.channel_adapter_configs (circuit_changed_at) WHERE circuit_version > 0;
-- Whose an account is, and how its circuit stands; never how to reach its secret.
CALL kernel.open_to_worker('chan.channel_adapter_configs',
    'SELECT (id, tenant_id, provider, active, circuit_state, circuit_version, circuit_changed_at, circuit_until, '
    'circuit_openings, circuit_prober, circuit_reason, circuit_held, circuit_held_until, circuit_opened_at)');

-- What each process saw in the last minutes. Lost with a crash of the server, and counted anew within a minute.
CREATE UNLOGGED TABLE IF NOT EXISTS chan.circuit_counts (
    account_id TEXT COLLATE "C" NOT NULL,
    bucket     TIMESTAMPTZ NOT NULL,
    prefix     TEXT COLLATE "C" NOT NULL,
    era        INTEGER NOT NULL,
    worker     TEXT COLLATE "C" NOT NULL,
    ok         BIGINT NOT NULL,
    failed     BIGINT NOT NULL,
    slow       BIGINT NOT NULL,
    seconds    DOUBLE PRECISION NOT NULL,
    CONSTRAINT pk_circuit_counts PRIMARY KEY (account_id, bucket, prefix, era, worker),
    CONSTRAINT ck_circuit_counts_counts CHECK (ok >= 0 AND failed >= 0 AND slow BETWEEN 0 AND ok + failed)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_circuit_counts_bad ON chan.circuit_counts (bucket) WHERE failed > 0 OR slow > 0;
COMMENT ON TABLE chan.circuit_counts IS 'Answers of vendors in the last minutes, by account, country and process; numbers alone.';
COMMENT ON COLUMN chan.circuit_counts.bucket IS 'The beginning of ten seconds.';
COMMENT ON COLUMN chan.circuit_counts.prefix IS 'The calling code of the numbers written to; empty for addresses without one.';
COMMENT ON COLUMN chan.circuit_counts.era IS 'The version of the circuit under which they were answered; -1: begun before it opened.';
CALL kernel.protect_service_table('chan.circuit_counts');
CALL kernel.open_to_worker('chan.circuit_counts', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE IF NOT EXISTS chan.vendor_weights (
    id         TEXT COLLATE "C" NOT NULL,
    tenant_id  TEXT COLLATE "C",
    channel    TEXT COLLATE "C" NOT NULL,
    home       JSONB NOT NULL,
    by_prefix  JSONB NOT NULL DEFAULT '{}',
    shifts     JSONB NOT NULL DEFAULT '{}',
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_vendor_weights PRIMARY KEY (id),
    CONSTRAINT uq_vendor_weights_channel UNIQUE NULLS NOT DISTINCT (tenant_id, channel),
    CONSTRAINT ck_vendor_weights_id CHECK (id ~ '^wgt_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_vendor_weights_updated ON chan.vendor_weights (updated_at);
COMMENT ON TABLE chan.vendor_weights IS
    'How vendors of one channel share its traffic. tenant_id null: the platform''s, for tenants without their own.';
COMMENT ON COLUMN chan.vendor_weights.home IS 'Points by vendor, 100 in all; empty: no weights, vendors in their order.';
COMMENT ON COLUMN chan.vendor_weights.by_prefix IS 'Other homes, by calling code.';
COMMENT ON COLUMN chan.vendor_weights.shifts IS 'Where points are or were away from home, by calling code: points, moved_at, sick_at.';
CALL kernel.protect_shared_table('chan.vendor_weights', 'SELECT, INSERT, UPDATE', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('chan.vendor_weights', 'SELECT');

CALL kernel.assert_protected();
