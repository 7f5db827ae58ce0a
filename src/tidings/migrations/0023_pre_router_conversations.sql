-- Two-way exchanges: an inbound message joins the open conversation of its sender and address.

CREATE TABLE IF NOT EXISTS chan.conversations (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    sender_id          TEXT COLLATE "C" NOT NULL,
    address_hash       TEXT COLLATE "C" NOT NULL,
    recipient_id       TEXT COLLATE "C",
    channel            TEXT NOT NULL,
    status             TEXT NOT NULL DEFAULT 'OPEN',
    turn_count         INTEGER NOT NULL DEFAULT 0,
    last_mt_message_id TEXT COLLATE "C",
    last_mo_message_id TEXT COLLATE "C",
    opened_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    last_seen_at       TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at         TIMESTAMPTZ NOT NULL,
    closed_at          TIMESTAMPTZ,
    close_reason       TEXT,
    version            INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_conversations PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_conversations_id CHECK (id ~ '^conv_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_conversations_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_conversations_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_conversations_status CHECK (status IN ('OPEN', 'CLOSED_STOP', 'CLOSED_IDLE', 'CLOSED_MANUAL')),
    CONSTRAINT ck_conversations_closed CHECK ((status = 'OPEN') = (closed_at IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_conversations_open
    ON chan.conversations (tenant_id, channel, sender_id, address_hash) WHERE status = 'OPEN';
CREATE INDEX IF NOT EXISTS ix_conversations_key ON chan.conversations (tenant_id, sender_id, address_hash);
CREATE INDEX IF NOT EXISTS ix_conversations_status_expiry ON chan.conversations (status, expires_at);
COMMENT ON TABLE chan.conversations IS 'Conversations between a sender of the tenant and an address; sliding end.';
COMMENT ON COLUMN chan.conversations.sender_id IS 'Short code, number or handle of the tenant''s side.';
COMMENT ON COLUMN chan.conversations.address_hash IS 'The other side, under the tenant''s pepper; a phone or a chat id.';
COMMENT ON COLUMN chan.conversations.last_mt_message_id IS 'Last message to them; last_mo_message_id is the last from them.';
CALL kernel.protect_tenant_table('chan.conversations', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('chan.conversations', 'SELECT (tenant_id, id, status, expires_at, closed_at), DELETE');
CALL kernel.set_policy('chan.conversations', 'worker_sweeps_what_is_closed',
    $q$AS RESTRICTIVE FOR DELETE TO tidings_worker USING (status <> 'OPEN')$q$);
