-- The means: vendor accounts, static routes for inbound messages, and what vendors' codes mean.

CREATE TABLE IF NOT EXISTS chan.channel_adapter_configs (
    id                        TEXT COLLATE "C" NOT NULL,
    tenant_id                 TEXT COLLATE "C",
    provider                  TEXT COLLATE "C" NOT NULL,
    phone_number_id_or_handle TEXT COLLATE "C",
    secret_ref                TEXT NOT NULL,
    circuit_state             TEXT NOT NULL DEFAULT 'CLOSED',
    circuit_opened_at         TIMESTAMPTZ,
    rate_limit_per_second     INTEGER,
    rate_limit_per_day        INTEGER,
    pricing_model             JSONB NOT NULL,
    active                    BOOLEAN NOT NULL DEFAULT true,
    created_at                TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at                TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                   INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_channel_adapter_configs PRIMARY KEY (id),
    CONSTRAINT ck_channel_adapter_configs_id CHECK (id ~ '^adcfg_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_channel_adapter_configs_provider CHECK (provider ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_channel_adapter_configs_secret_ref CHECK (secret_ref ~ '^[a-z][a-z0-9+.-]*://'),
    CONSTRAINT ck_channel_adapter_configs_circuit CHECK (circuit_state IN ('CLOSED', 'OPEN', 'HALF_OPEN')),
    CONSTRAINT ck_channel_adapter_configs_limits CHECK (rate_limit_per_second > 0 AND rate_limit_per_day > 0)
);
CREATE INDEX IF NOT EXISTS ix_channel_adapter_configs_provider
    ON chan.channel_adapter_configs (tenant_id, provider);
COMMENT ON TABLE chan.channel_adapter_configs IS 'Vendor accounts. tenant_id null: the platform''s, usable by all tenants.';
COMMENT ON COLUMN chan.channel_adapter_configs.provider IS
    'Name in the adapter registry. No list here: a new adapter is one file and no migration.';
COMMENT ON COLUMN chan.channel_adapter_configs.secret_ref IS 'A reference (file://, env://, vault://…), never the secret.';
COMMENT ON COLUMN chan.channel_adapter_configs.pricing_model IS 'Base, per segment, per minute…, in micros and a currency.';
CALL kernel.protect_shared_table('chan.channel_adapter_configs', 'SELECT, INSERT, UPDATE', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS chan.tenant_inbound_routes (
    tenant_id            TEXT COLLATE "C" NOT NULL,
    id                   TEXT COLLATE "C" NOT NULL,
    inbound              TEXT COLLATE "C" NOT NULL,
    webhook_url          TEXT NOT NULL,
    secret_ref           TEXT NOT NULL,
    active               BOOLEAN NOT NULL DEFAULT true,
    grace_period_ends_at TIMESTAMPTZ,
    created_at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    version              INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_tenant_inbound_routes PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_tenant_inbound_routes_id CHECK (id ~ '^route_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_tenant_inbound_routes_secret_ref CHECK (secret_ref ~ '^[a-z][a-z0-9+.-]*://')
);
-- One number, one tenant: unique across all of them, whatever the row-level security shows.
CREATE UNIQUE INDEX IF NOT EXISTS ux_tenant_inbound_routes_inbound
    ON chan.tenant_inbound_routes (inbound) WHERE active;
COMMENT ON TABLE chan.tenant_inbound_routes IS 'Short code or E.164 number to the tenant whose inbound messages it takes.';
COMMENT ON INDEX chan.ux_tenant_inbound_routes_inbound IS
    'Across tenants: the answer to a violation must not say who has the number, nor differ from "not yours to route".';
CALL kernel.protect_tenant_table('chan.tenant_inbound_routes', 'SELECT, INSERT, UPDATE');
-- An inbound message has a number and no tenant yet.
CALL kernel.open_to_worker('chan.tenant_inbound_routes', 'SELECT (tenant_id, id, inbound, active, grace_period_ends_at)');

CREATE TABLE IF NOT EXISTS chan.adapter_status_map (
    tenant_id     TEXT COLLATE "C",
    adapter       TEXT COLLATE "C" NOT NULL,
    provider_code TEXT COLLATE "C" NOT NULL,
    canonical     TEXT NOT NULL,
    reason        TEXT NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1,
    history       JSONB NOT NULL DEFAULT '[]'::jsonb,
    updated_by    TEXT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT uq_adapter_status_map_code UNIQUE NULLS NOT DISTINCT (tenant_id, adapter, provider_code),
    CONSTRAINT ck_adapter_status_map_adapter CHECK (adapter ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_adapter_status_map_canonical CHECK (canonical IN
        ('accepted', 'sent', 'delivered', 'delivered_read', 'failed_temp', 'failed_perm', 'rejected_by_provider',
         'rejected_by_recipient', 'timed_out', 'cancelled', 'bounced', 'complaint', 'opened', 'clicked')),
    CONSTRAINT ck_adapter_status_map_history CHECK (jsonb_typeof(history) = 'array')
);
ALTER TABLE chan.adapter_status_map REPLICA IDENTITY FULL;
COMMENT ON TABLE chan.adapter_status_map IS
    'Provider code to canonical status. tenant_id null: for all; a tenant''s own row wins for its own attempts.';
COMMENT ON COLUMN chan.adapter_status_map.history IS 'Earlier versions: version, canonical, reason, until, by.';
CALL kernel.protect_shared_table('chan.adapter_status_map', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO chan.adapter_status_map (tenant_id, adapter, provider_code, canonical, reason, updated_by) VALUES
    (NULL, 'whatsapp_cloud', '131026', 'rejected_by_recipient', 'recipient_unsupported', 'seed'),
    (NULL, 'whatsapp_cloud', '131051', 'rejected_by_recipient', 'unsupported_message_type', 'seed'),
    (NULL, 'telegram_bot', '403', 'rejected_by_recipient', 'bot_blocked', 'seed'),
    (NULL, 'viber', 'failed', 'failed_perm', 'permanent_failure', 'seed')
ON CONFLICT (tenant_id, adapter, provider_code) DO NOTHING;
