-- tidings: oldest-release=0.1.0
-- A no that came from a mailbox holds for the mailbox: for everybody of the tenant who has that address, now or later.

CREATE TABLE IF NOT EXISTS notification.address_refusals (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    channel      TEXT COLLATE "C" NOT NULL,
    address_hash TEXT COLLATE "C" NOT NULL,
    category     TEXT COLLATE "C",
    refused_at   TIMESTAMPTZ NOT NULL,
    source       TEXT NOT NULL,
    evidence     TEXT,
    withdrawn_at TIMESTAMPTZ,
    withdrawn_by TEXT,
    CONSTRAINT pk_address_refusals PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_address_refusals_id CHECK (id ~ '^arf_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_address_refusals_channel CHECK (channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_address_refusals_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$'),
    CONSTRAINT ck_address_refusals_withdrawn CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL))
);
-- One that holds for each address and category; saying no again changes nothing.
CREATE UNIQUE INDEX IF NOT EXISTS uq_address_refusals_holding
    ON notification.address_refusals (tenant_id, channel, address_hash, (coalesce(category, '')))
    WHERE withdrawn_at IS NULL;
-- Everything that was ever said about an address, for its owner who asks.
CREATE INDEX IF NOT EXISTS ix_address_refusals_address ON notification.address_refusals (tenant_id, address_hash);
COMMENT ON TABLE notification.address_refusals IS
    'Who unsubscribed, by address: holds for every recipient who has it. Withdrawn, never deleted; outlives an erasure.';
COMMENT ON COLUMN notification.address_refusals.address_hash IS 'Under the tenant''s pepper.';
COMMENT ON COLUMN notification.address_refusals.category IS 'Null: every category that can be unsubscribed from.';
COMMENT ON COLUMN notification.address_refusals.source IS 'one_click, unsubscribe_page or preference_page.';
COMMENT ON COLUMN notification.address_refusals.evidence IS 'token:oot_…, the link that was used; null after an erasure.';
COMMENT ON COLUMN notification.address_refusals.withdrawn_by IS 'How its owner said yes again: preference_page, confirmation_page, api.';
CALL kernel.protect_tenant_table('notification.address_refusals', 'SELECT, INSERT, UPDATE');

ALTER TABLE notification.opt_out_tokens ADD COLUMN IF NOT EXISTS address_hash TEXT COLLATE "C";
COMMENT ON COLUMN notification.opt_out_tokens.address_hash IS
    'The address that the message went to; null for links of older messages, and where it went to several devices.';

CALL kernel.assert_protected();
