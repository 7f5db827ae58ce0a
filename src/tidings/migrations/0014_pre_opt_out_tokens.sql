-- Links in messages that let a recipient change their mind without logging in.

CREATE TABLE IF NOT EXISTS notification.opt_out_tokens (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    recipient_id TEXT COLLATE "C" NOT NULL,
    channel      TEXT NOT NULL,
    category     TEXT COLLATE "C",
    token_hash   TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at   TIMESTAMPTZ NOT NULL,
    consumed_at  TIMESTAMPTZ,
    CONSTRAINT pk_opt_out_tokens PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_opt_out_tokens_hash UNIQUE (tenant_id, token_hash),
    CONSTRAINT fk_opt_out_tokens_recipient FOREIGN KEY (tenant_id, recipient_id)
        REFERENCES notification.recipients (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_opt_out_tokens_id CHECK (id ~ '^oot_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_opt_out_tokens_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_opt_out_tokens_hash CHECK (token_hash ~ '^sha256:[0-9a-f]{64}$')
);
CREATE INDEX IF NOT EXISTS ix_opt_out_tokens_expiry ON notification.opt_out_tokens (expires_at);
COMMENT ON TABLE notification.opt_out_tokens IS 'Unsubscribe and preference-page tokens; the token carries its tenant inside.';
COMMENT ON COLUMN notification.opt_out_tokens.category IS 'Null: every category that can be unsubscribed from.';
COMMENT ON COLUMN notification.opt_out_tokens.consumed_at IS 'First use. The page stays usable until expires_at.';
CALL kernel.protect_tenant_table('notification.opt_out_tokens', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.opt_out_tokens', 'SELECT (tenant_id, id, expires_at), DELETE');
