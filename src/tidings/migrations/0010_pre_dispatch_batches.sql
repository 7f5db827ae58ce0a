-- One template to many recipients.

CREATE TABLE IF NOT EXISTS notification.dispatch_batches (
    tenant_id            TEXT COLLATE "C" NOT NULL,
    id                   TEXT COLLATE "C" NOT NULL,
    name                 TEXT NOT NULL,
    category             TEXT COLLATE "C" NOT NULL,
    template_key         TEXT COLLATE "C" NOT NULL,
    channel              TEXT NOT NULL,
    recipient_query      JSONB NOT NULL,
    variables_ciphertext BYTEA NOT NULL,
    scheduled_for        TIMESTAMPTZ,
    rate_limit           JSONB,
    status               TEXT NOT NULL DEFAULT 'draft',
    totals               JSONB NOT NULL DEFAULT '{}'::jsonb,
    created_by           TEXT NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    started_at           TIMESTAMPTZ,
    paused_at            TIMESTAMPTZ,
    completed_at         TIMESTAMPTZ,
    version              INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_dispatch_batches PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_dispatch_batches_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT fk_dispatch_batches_category FOREIGN KEY (category) REFERENCES notification_platform.categories (category),
    CONSTRAINT ck_dispatch_batches_id CHECK (id ~ '^dbt_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_dispatch_batches_channel CHECK (channel IN
        ('auto', 'email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_dispatch_batches_status CHECK (status IN
        ('draft', 'scheduled', 'running', 'paused', 'completed', 'cancelled', 'failed'))
);
COMMENT ON TABLE notification.dispatch_batches IS 'A batch: template, recipient query, pacing, totals.';
COMMENT ON COLUMN notification.dispatch_batches.variables_ciphertext IS 'Under the tenant''s key: they are everybody''s.';
COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS 'Pacing per vendor, sending account and mail domain.';
COMMENT ON COLUMN notification.dispatch_batches.totals IS 'Counters kept with the work, never counted from the big table.';
CALL kernel.protect_tenant_table('notification.dispatch_batches', 'SELECT, INSERT, UPDATE');
