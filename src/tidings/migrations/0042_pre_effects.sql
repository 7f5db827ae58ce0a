-- What vendors say afterwards has effects: addresses that bounce softly are counted, and a bounce that is heard before its
-- notification's outcome waits for it.
--
-- Statement by statement, because an index on a big table is built online.
-- tidings: transaction=off

CREATE TABLE IF NOT EXISTS notification.soft_bounces (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    target_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    channel         TEXT COLLATE "C" NOT NULL,
    address_hash    TEXT COLLATE "C" NOT NULL,
    bounced_at      TIMESTAMPTZ NOT NULL,
    -- Led by the address: one that is removed, or whose owner is erased, takes its bounces along.
    CONSTRAINT pk_soft_bounces PRIMARY KEY (tenant_id, target_id, notification_id),
    CONSTRAINT fk_soft_bounces_address FOREIGN KEY (tenant_id, target_id)
        REFERENCES notification.recipient_addresses (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_soft_bounces_hash CHECK (address_hash ~ '^sha256:[0-9a-f]{64}$')
);
-- Two people may share an address; its bounces are counted together.
CREATE INDEX IF NOT EXISTS ix_soft_bounces_address ON notification.soft_bounces (tenant_id, channel, address_hash);
CREATE INDEX IF NOT EXISTS ix_soft_bounces_age ON notification.soft_bounces (bounced_at);
COMMENT ON TABLE notification.soft_bounces IS
    'Messages that came back softly, by address; some within a while suppress it. Swept after that while.';
COMMENT ON COLUMN notification.soft_bounces.target_id IS 'The recipient''s address that it went to.';
COMMENT ON COLUMN notification.soft_bounces.notification_id IS 'A message counts once, however often its vendor tells of it.';
COMMENT ON COLUMN notification.soft_bounces.bounced_at IS 'As the vendor says, and never after we heard it.';
CALL kernel.protect_tenant_table('notification.soft_bounces', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.soft_bounces',
    'SELECT (tenant_id, target_id, notification_id, bounced_at), DELETE');

CREATE TABLE IF NOT EXISTS notification.early_bounces (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    attempt_id      TEXT COLLATE "C" NOT NULL,
    bounced_at      TIMESTAMPTZ NOT NULL,
    lost            BOOLEAN NOT NULL DEFAULT false,
    reason          TEXT NOT NULL,
    CONSTRAINT pk_early_bounces PRIMARY KEY (tenant_id, notification_id, attempt_id)
);
CREATE INDEX IF NOT EXISTS ix_early_bounces_age ON notification.early_bounces (bounced_at);
COMMENT ON TABLE notification.early_bounces IS
    'Bounces heard while the ladder was under way, or before its outcome was: what delivered may be another attempt.';
COMMENT ON COLUMN notification.early_bounces.attempt_id IS 'The attempt in the router, whose schema we do not read.';
COMMENT ON COLUMN notification.early_bounces.reason IS 'A code.';
COMMENT ON COLUMN notification.early_bounces.lost IS
    'Its vendor only says that it did not arrive: it counts where nobody has said that it did.';
CALL kernel.protect_tenant_table('notification.early_bounces', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_worker('notification.early_bounces', 'SELECT (tenant_id, notification_id, attempt_id, bounced_at), DELETE');

COMMENT ON COLUMN notification.counters.name IS
    'accepted, deferred, a status, complaint, or what people did: read, opened, clicked; the last two _again and _by_machine.';
COMMENT ON COLUMN notification.delivery_attempts.attempt_number IS 'Counts from 1; 0 for what was said or done afterwards.';

-- When an address was released last: what a vendor says of an earlier message does not suppress it again. Of all
-- suppressions few are released, and the index holds only these.
-- tidings: online
-- squawk-ignore require-concurrent-index-creation, prefer-robust-stmts
CREATE INDEX ix_suppressions_released
    ON notification.suppressions (tenant_id, channel, address_hash, released_at) WHERE released_at IS NOT NULL;

CALL kernel.assert_protected();
