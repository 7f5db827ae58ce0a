-- tidings: oldest-release=0.1.0
-- STOP to a number that tenants share holds for each of them that wrote to that person from it: who did is kept for 18 months,
-- longer than any conversation.

CREATE TABLE IF NOT EXISTS chan.shared_number_contacts (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    platform_hash TEXT COLLATE "C" NOT NULL,
    sender_id     TEXT COLLATE "C" NOT NULL,
    channel       TEXT COLLATE "C" NOT NULL,
    last_sent_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_shared_number_contacts PRIMARY KEY (tenant_id, platform_hash, sender_id, channel),
    CONSTRAINT ck_shared_number_contacts_hash CHECK (platform_hash ~ '^sha256:[0-9a-f]{64}$')
);
-- Which tenants wrote to this person from this number.
CREATE INDEX IF NOT EXISTS ix_shared_number_contacts_person
    ON chan.shared_number_contacts (platform_hash, sender_id, channel);
CREATE INDEX IF NOT EXISTS ix_shared_number_contacts_age ON chan.shared_number_contacts (last_sent_at);
COMMENT ON TABLE chan.shared_number_contacts IS
    'Which tenant wrote to whom from which number of a shared account; hashes only. Swept 18 months after the last message.';
COMMENT ON COLUMN chan.shared_number_contacts.platform_hash IS 'The person''s address under the platform''s pepper.';
COMMENT ON COLUMN chan.shared_number_contacts.sender_id IS 'The number, short code or handle, in its one spelling.';
COMMENT ON COLUMN chan.shared_number_contacts.last_sent_at IS 'To the day: it is written once a day at most.';
CALL kernel.protect_tenant_table('chan.shared_number_contacts', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('chan.shared_number_contacts',
    'SELECT (tenant_id, platform_hash, sender_id, channel, last_sent_at), DELETE');

CALL kernel.assert_protected();
