-- Vendor callbacks. The router owns them: adapters know signatures and codes. A row has no tenant until it
-- is correlated; until then the platform role alone reads it, and afterwards its tenant does. The worker claims
-- by ids and reads no content. To hand a row over, the platform's transaction names the tenant in app.tenant_id,
-- because an UPDATE may not lead to a row that its writer can't see.

CREATE TABLE IF NOT EXISTS chan.webhook_inbound (
    id                TEXT COLLATE "C" NOT NULL,
    received_at       TIMESTAMPTZ NOT NULL,
    tenant_id         TEXT COLLATE "C",
    vendor            TEXT COLLATE "C" NOT NULL,
    adapter           TEXT COLLATE "C" NOT NULL,
    signature_valid   BOOLEAN NOT NULL,
    raw_body_ref      TEXT NOT NULL,
    status            TEXT NOT NULL DEFAULT 'received',
    reason            TEXT,
    updated_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_webhook_inbound PRIMARY KEY (received_at, id),
    CONSTRAINT ck_webhook_inbound_id CHECK (id LIKE 'whi\_%' AND length(id) = 30),
    CONSTRAINT ck_webhook_inbound_status CHECK (status IN ('received', 'applied', 'rejected', 'dlq'))
) PARTITION BY RANGE (received_at);
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_recent ON chan.webhook_inbound (vendor, received_at DESC);
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_pending ON chan.webhook_inbound (received_at) WHERE status = 'received';
COMMENT ON TABLE chan.webhook_inbound IS 'One row per callback request as it came; the raw body is in the blob store.';
COMMENT ON COLUMN chan.webhook_inbound.received_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.webhook_inbound.tenant_id IS 'Null until known: a shared vendor account serves many tenants.';
COMMENT ON COLUMN chan.webhook_inbound.adapter IS 'The account that was called: last part of /hooks/{vendor}/{adapter}.';
COMMENT ON COLUMN chan.webhook_inbound.raw_body_ref IS 'Encrypted object, under a platform key until correlated.';
CALL kernel.protect_tenant_table('chan.webhook_inbound', 'SELECT');
CALL kernel.open_to_worker('chan.webhook_inbound',
    'SELECT (id, received_at, tenant_id, vendor, adapter, status, updated_at), UPDATE (status, updated_at)');
CALL kernel.open_to_platform('chan.webhook_inbound', 'SELECT, INSERT, UPDATE (tenant_id, status, reason, updated_at)');
CALL kernel.set_policy('chan.webhook_inbound', 'platform_access',
    $q$FOR ALL TO tidings_platform
    USING (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);

CREATE TABLE IF NOT EXISTS chan.webhook_inbound_events (
    id                  TEXT COLLATE "C" NOT NULL,
    received_at         TIMESTAMPTZ NOT NULL,
    tenant_id           TEXT COLLATE "C",
    webhook_inbound_id  TEXT COLLATE "C" NOT NULL,
    vendor              TEXT COLLATE "C" NOT NULL,
    adapter             TEXT COLLATE "C" NOT NULL,
    vendor_message_id   TEXT COLLATE "C" NOT NULL,
    type                TEXT COLLATE "C" NOT NULL,
    occurred_at         TIMESTAMPTZ,
    payload_ciphertext  BYTEA,
    status              TEXT NOT NULL DEFAULT 'queued',
    attempt_id          TEXT COLLATE "C",
    correlate_attempts  INTEGER NOT NULL DEFAULT 0,
    next_correlate_at   TIMESTAMPTZ,
    applied_at          TIMESTAMPTZ,
    updated_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_webhook_inbound_events PRIMARY KEY (received_at, id),
    CONSTRAINT ck_webhook_inbound_events_id CHECK (id LIKE 'whe\_%' AND length(id) = 30),
    CONSTRAINT ck_webhook_inbound_events_status CHECK (status IN ('queued', 'applied', 'late_correlate', 'dlq'))
) PARTITION BY RANGE (received_at);
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_events_pending
    ON chan.webhook_inbound_events (status, received_at) WHERE status IN ('queued', 'late_correlate');
COMMENT ON TABLE chan.webhook_inbound_events IS 'What a callback said, event by event; waits until its attempt is found.';
COMMENT ON COLUMN chan.webhook_inbound_events.received_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.webhook_inbound_events.tenant_id IS 'Null until correlated; from then on the tenant may read the row.';
COMMENT ON COLUMN chan.webhook_inbound_events.occurred_at IS 'As the vendor says; null where it does not.';
COMMENT ON COLUMN chan.webhook_inbound_events.payload_ciphertext IS
    'Under a platform key until correlated, then under the recipient''s.';
CALL kernel.protect_tenant_table('chan.webhook_inbound_events', 'SELECT');
CALL kernel.open_to_worker('chan.webhook_inbound_events',
    'SELECT (id, received_at, tenant_id, webhook_inbound_id, vendor, adapter, vendor_message_id, type, status, attempt_id, '
    'correlate_attempts, next_correlate_at, updated_at), UPDATE (status, correlate_attempts, next_correlate_at, updated_at)');
CALL kernel.open_to_platform('chan.webhook_inbound_events',
    'SELECT, INSERT, UPDATE (tenant_id, payload_ciphertext, status, attempt_id, applied_at, updated_at)');
CALL kernel.set_policy('chan.webhook_inbound_events', 'platform_access',
    $q$FOR ALL TO tidings_platform
    USING (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);

-- A unique key cannot reach across months: this narrow table says whether an event was seen before.
CREATE TABLE IF NOT EXISTS chan.webhook_inbound_dedup (
    vendor            TEXT COLLATE "C" NOT NULL,
    adapter           TEXT COLLATE "C" NOT NULL,
    vendor_message_id TEXT COLLATE "C" NOT NULL,
    type              TEXT COLLATE "C" NOT NULL,
    discriminator     TEXT COLLATE "C" NOT NULL,
    event_id          TEXT COLLATE "C" NOT NULL,
    received_at       TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at        TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '90 days',
    CONSTRAINT pk_webhook_inbound_dedup PRIMARY KEY (vendor, adapter, vendor_message_id, type, discriminator),
    CONSTRAINT ck_webhook_inbound_dedup_event_id CHECK (event_id LIKE 'whe\_%' AND length(event_id) = 30)
);
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_dedup_expiry ON chan.webhook_inbound_dedup (expires_at);
COMMENT ON TABLE chan.webhook_inbound_dedup IS
    'Vendor events already taken in; swept by expires_at. No tenant: it is asked before one is known.';
COMMENT ON COLUMN chan.webhook_inbound_dedup.adapter IS
    'Part of the key: two accounts of one vendor can give out the same message id (SMPP counts from 1).';
COMMENT ON COLUMN chan.webhook_inbound_dedup.discriminator IS
    'When it occurred; where the vendor gives no time, its event id or a hash of the canonical payload.';
CALL kernel.protect_service_table('chan.webhook_inbound_dedup');
CALL kernel.open_to_worker('chan.webhook_inbound_dedup', 'SELECT, INSERT, DELETE');
CALL kernel.open_to_platform('chan.webhook_inbound_dedup', 'SELECT, INSERT');
