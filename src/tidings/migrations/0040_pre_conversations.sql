-- What people write: inbound messages wait until somebody knows whose they are, conversations keep a transcript, tenants
-- are told over a webhook.

-- An address that writes over an account of the platform is looked for among all tenants: under the platform's pepper,
-- because each tenant's own hashes mean nothing to the others.
ALTER TABLE chan.conversations
    ADD COLUMN IF NOT EXISTS platform_hash      TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS vendor             TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS account_id         TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS use_case           TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS opened_by          TEXT COLLATE "C" NOT NULL DEFAULT 'in',
    ADD COLUMN IF NOT EXISTS ttl_seconds        INTEGER NOT NULL DEFAULT 86400,
    ADD COLUMN IF NOT EXISTS last_mo_at         TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS last_mt_at         TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS key_subject        TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS address_ciphertext BYTEA;
-- Of somebody who was erased no hash is left.
-- squawk-ignore ban-drop-not-null
ALTER TABLE chan.conversations ALTER COLUMN address_hash DROP NOT NULL;
COMMENT ON COLUMN chan.conversations.platform_hash IS 'The other side under the platform''s pepper: how a shared account''s messages find their tenant.';
COMMENT ON COLUMN chan.conversations.account_id IS 'The vendor account over which the last message came or went; vendor is its name.';
COMMENT ON COLUMN chan.conversations.use_case IS 'Of the message that began it, whose policy says what STOP is; null where they began.';
COMMENT ON COLUMN chan.conversations.opened_by IS 'in: they wrote first; out: we did.';
COMMENT ON COLUMN chan.conversations.ttl_seconds IS 'It ends when nobody has said anything for so long.';
COMMENT ON COLUMN chan.conversations.address_ciphertext IS 'The other side, under the data key of key_subject: the recipient''s, or its own.';
-- Nothing was ever in these tables before this release: indexes are made at once.
-- Whose is a message that came over a shared account: the newest one first.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_conversations_platform
    ON chan.conversations (platform_hash, sender_id, channel, last_seen_at DESC) WHERE platform_hash IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_conversations_recipient
    ON chan.conversations (tenant_id, recipient_id) WHERE recipient_id IS NOT NULL;
-- What has been closed long enough.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_conversations_closed ON chan.conversations (closed_at) WHERE closed_at IS NOT NULL;
CALL kernel.open_to_worker('chan.conversations',
    'SELECT (tenant_id, id, channel, sender_id, platform_hash, account_id, status, opened_at, last_seen_at, expires_at, closed_at), DELETE');

-- A default route takes what no other route of its tenant takes: it has no number, and each tenant may have one.
-- squawk-ignore ban-drop-not-null
ALTER TABLE chan.tenant_inbound_routes ALTER COLUMN inbound DROP NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX IF NOT EXISTS ux_tenant_inbound_routes_default
    ON chan.tenant_inbound_routes (tenant_id) WHERE active AND inbound IS NULL;
ALTER TABLE chan.tenant_inbound_routes ADD COLUMN IF NOT EXISTS platform BOOLEAN NOT NULL DEFAULT false;
-- What a tenant says of its own accounts holds for those alone, and keeps nobody from a number. On accounts that all share a
-- number has one tenant, and an operator says which.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX IF EXISTS chan.ux_tenant_inbound_routes_inbound;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX IF NOT EXISTS ux_tenant_inbound_routes_shared
    ON chan.tenant_inbound_routes (ltrim(inbound, '+')) WHERE active AND platform;
COMMENT ON INDEX chan.ux_tenant_inbound_routes_shared IS
    'A number on shared accounts, with its plus or without, belongs to one tenant at a time; nobody learns whose by being refused.';
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX IF NOT EXISTS ux_tenant_inbound_routes_own
    ON chan.tenant_inbound_routes (tenant_id, inbound) WHERE active;
COMMENT ON COLUMN chan.tenant_inbound_routes.inbound IS 'Short code, number or handle that is written to; null: all others.';
COMMENT ON COLUMN chan.tenant_inbound_routes.platform IS
    'Takes messages of the platform''s accounts too. An operator said so: otherwise anybody could claim a number that all share.';
COMMENT ON COLUMN chan.tenant_inbound_routes.grace_period_ends_at IS
    'It was removed: until then it goes on working and can be restored, afterwards the number is free.';
CALL kernel.open_to_worker('chan.tenant_inbound_routes',
    'SELECT (tenant_id, id, inbound, platform, active, grace_period_ends_at)');

-- A message that people wrote is told again as events are; the same ledger knows both.
-- squawk-ignore ban-drop-constraint
ALTER TABLE chan.webhook_inbound_dedup DROP CONSTRAINT IF EXISTS ck_webhook_inbound_dedup_event_id;
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE chan.webhook_inbound_dedup ADD CONSTRAINT ck_webhook_inbound_dedup_event_id CHECK
    ((event_id LIKE 'whe\_%' AND length(event_id) = 30) OR (event_id LIKE 'mo\_%' AND length(event_id) = 29));
COMMENT ON COLUMN chan.webhook_inbound_dedup.type IS 'The vendor''s word for the event; mo for a message that somebody wrote.';

-- As callbacks: a row has no tenant until somebody knows whose it is. What it says is the platform's secret until then, and
-- stands in the transcript afterwards.
CREATE TABLE IF NOT EXISTS chan.inbound_messages (
    id                 TEXT COLLATE "C" NOT NULL,
    received_at        TIMESTAMPTZ NOT NULL,
    tenant_id          TEXT COLLATE "C",
    vendor             TEXT COLLATE "C" NOT NULL,
    adapter            TEXT COLLATE "C" NOT NULL,
    vendor_message_id  TEXT COLLATE "C" NOT NULL,
    channel            TEXT COLLATE "C" NOT NULL,
    destination        TEXT COLLATE "C" NOT NULL,
    payload_ciphertext BYTEA,
    status             TEXT COLLATE "C" NOT NULL DEFAULT 'queued',
    attempts           INTEGER NOT NULL DEFAULT 0,
    next_attempt_at    TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_inbound_messages PRIMARY KEY (id),
    CONSTRAINT ck_inbound_messages_id CHECK (id LIKE 'mo\_%' AND length(id) = 29),
    CONSTRAINT ck_inbound_messages_status CHECK (status IN ('queued', 'applied', 'unmatched', 'dead'))
);
CREATE INDEX IF NOT EXISTS ix_inbound_messages_due ON chan.inbound_messages (next_attempt_at) WHERE status = 'queued';
-- The same, account by account: they take turns.
CREATE INDEX IF NOT EXISTS ix_inbound_messages_turns ON chan.inbound_messages (adapter, next_attempt_at, id) WHERE status = 'queued';
CREATE INDEX IF NOT EXISTS ix_inbound_messages_done ON chan.inbound_messages (updated_at) WHERE status <> 'queued';
-- What operators look at and take up again: few among many that are done.
CREATE INDEX IF NOT EXISTS ix_inbound_messages_dead ON chan.inbound_messages (id) WHERE status = 'dead';
COMMENT ON TABLE chan.inbound_messages IS 'Messages from people, from the vendor''s request until they stand in a conversation.';
COMMENT ON COLUMN chan.inbound_messages.received_at IS 'The time inside the id.';
COMMENT ON COLUMN chan.inbound_messages.tenant_id IS 'Null until known; from then on the tenant may read the row.';
COMMENT ON COLUMN chan.inbound_messages.adapter IS 'The account that was written to.';
COMMENT ON COLUMN chan.inbound_messages.destination IS 'Short code, number or handle that was written to, in its one spelling.';
COMMENT ON COLUMN chan.inbound_messages.payload_ciphertext IS
    'Who wrote what, under a platform key; removed as soon as it stands in the transcript, or nobody''s it is.';
CALL kernel.protect_tenant_table('chan.inbound_messages', 'SELECT');
CALL kernel.open_to_worker('chan.inbound_messages',
    'SELECT (id, received_at, tenant_id, vendor, adapter, channel, destination, status, attempts, next_attempt_at, updated_at), '
    'UPDATE (tenant_id, payload_ciphertext, status, attempts, next_attempt_at, updated_at), DELETE');
-- Dead ones are given new patience.
CALL kernel.open_to_platform('chan.inbound_messages',
    'SELECT, INSERT, UPDATE (status, attempts, next_attempt_at, updated_at)');
CALL kernel.set_policy('chan.inbound_messages', 'platform_access',
    $q$FOR ALL TO tidings_platform
    USING (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);

CREATE TABLE IF NOT EXISTS chan.inbound_unmatched (
    destination TEXT COLLATE "C" NOT NULL,
    bucket      TIMESTAMPTZ NOT NULL,
    messages    BIGINT NOT NULL,
    CONSTRAINT pk_inbound_unmatched PRIMARY KEY (destination, bucket)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_inbound_unmatched_bucket ON chan.inbound_unmatched (bucket);
COMMENT ON TABLE chan.inbound_unmatched IS 'How many messages were nobody''s, by destination and minute; nothing about who wrote.';
COMMENT ON COLUMN chan.inbound_unmatched.bucket IS 'The beginning of a minute.';
CALL kernel.protect_service_table('chan.inbound_unmatched');
CALL kernel.open_to_worker('chan.inbound_unmatched', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_platform('chan.inbound_unmatched', 'SELECT');

CREATE TABLE IF NOT EXISTS chan.conversation_messages (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    at              TIMESTAMPTZ NOT NULL,
    occurred_at     TIMESTAMPTZ,
    next_attempt_at TIMESTAMPTZ,
    updated_at      TIMESTAMPTZ NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    direction       TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    reason          TEXT,
    keyword         TEXT,
    keyword_action  TEXT COLLATE "C",
    language        TEXT COLLATE "C",
    notification_id TEXT COLLATE "C",
    vendor          TEXT COLLATE "C",
    account_id      TEXT COLLATE "C",
    provider_id     TEXT COLLATE "C",
    claimed_by      TEXT COLLATE "C",
    key_subject     TEXT COLLATE "C",
    text_ciphertext BYTEA,
    CONSTRAINT pk_conversation_messages PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_conversation_messages_conversation FOREIGN KEY (tenant_id, conversation_id)
        REFERENCES chan.conversations (tenant_id, id),
    CONSTRAINT ck_conversation_messages_id CHECK ((id LIKE 'mo\_%' OR id LIKE 'mt\_%') AND length(id) = 29),
    CONSTRAINT ck_conversation_messages_direction CHECK (direction IN ('in', 'out')),
    CONSTRAINT ck_conversation_messages_status CHECK (status IN ('received', 'queued', 'sending', 'sent', 'failed', 'unlearned')),
    CONSTRAINT ck_conversation_messages_action CHECK (keyword_action IN ('stop', 'start', 'help')),
    CONSTRAINT ck_conversation_messages_queued CHECK ((status = 'queued') = (next_attempt_at IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS ix_conversation_messages_transcript
    ON chan.conversation_messages (tenant_id, conversation_id, at, id);
-- Confirmations that have to be sent, and those in somebody's hands.
CREATE INDEX IF NOT EXISTS ix_conversation_messages_due
    ON chan.conversation_messages (next_attempt_at) WHERE status = 'queued' AND claimed_by IS NULL;
-- The same, tenant by tenant: they take turns.
CREATE INDEX IF NOT EXISTS ix_conversation_messages_turns
    ON chan.conversation_messages (tenant_id, next_attempt_at) WHERE status = 'queued' AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_conversation_messages_claimed
    ON chan.conversation_messages (claimed_by) WHERE claimed_by IS NOT NULL;
COMMENT ON TABLE chan.conversation_messages IS
    'The transcript of conversations: what they wrote, that we wrote, and the confirmations of keywords, which are sent from here.';
COMMENT ON COLUMN chan.conversation_messages.id IS 'mo_…: of the inbound message, so that it is taken once. mt_…: of one of ours.';
COMMENT ON COLUMN chan.conversation_messages.kind IS 'text, button, image, …; notification; stop_confirmation, start_confirmation, help.';
COMMENT ON COLUMN chan.conversation_messages.status IS
    'received: theirs. A confirmation is queued, then sending, and then sent, failed, or unlearned; it never goes twice.';
COMMENT ON COLUMN chan.conversation_messages.keyword IS 'The word of our lists that it was; never the text.';
COMMENT ON COLUMN chan.conversation_messages.notification_id IS 'A message of ours has its words in its notification.';
COMMENT ON COLUMN chan.conversation_messages.provider_id IS 'How the vendor calls it.';
COMMENT ON COLUMN chan.conversation_messages.text_ciphertext IS
    'Under the data key of key_subject: the recipient''s, or the conversation''s own where nobody was known. Null: there are no words, or they were erased.';
CALL kernel.protect_tenant_table('chan.conversation_messages', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('chan.conversation_messages',
    'SELECT (tenant_id, id, conversation_id, status, reason, next_attempt_at, claimed_by, updated_at), '
    'UPDATE (status, reason, claimed_by, updated_at), DELETE');

CREATE TABLE IF NOT EXISTS chan.inbound_deliveries (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    message_id      TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    route_id        TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    next_attempt_at TIMESTAMPTZ DEFAULT now(),
    delivered_at    TIMESTAMPTZ,
    updated_at      TIMESTAMPTZ NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_status     INTEGER,
    status          TEXT COLLATE "C" NOT NULL DEFAULT 'pending',
    last_reason     TEXT,
    claimed_by      TEXT COLLATE "C",
    CONSTRAINT pk_inbound_deliveries PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_inbound_deliveries_message UNIQUE (tenant_id, message_id),
    CONSTRAINT ck_inbound_deliveries_id CHECK (id LIKE 'ibd\_%' AND length(id) = 30),
    CONSTRAINT ck_inbound_deliveries_status CHECK (status IN ('pending', 'delivered', 'dead')),
    CONSTRAINT ck_inbound_deliveries_pending CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS ix_inbound_deliveries_due
    ON chan.inbound_deliveries (next_attempt_at) WHERE status = 'pending' AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbound_deliveries_turns
    ON chan.inbound_deliveries (tenant_id, next_attempt_at) WHERE status = 'pending' AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_inbound_deliveries_claimed
    ON chan.inbound_deliveries (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_inbound_deliveries_conversation ON chan.inbound_deliveries (tenant_id, conversation_id);
CREATE INDEX IF NOT EXISTS ix_inbound_deliveries_done
    ON chan.inbound_deliveries (updated_at) WHERE status <> 'pending';
COMMENT ON TABLE chan.inbound_deliveries IS
    'Inbound messages on their way to their tenant''s webhook. What is told is made of the transcript when it is sent.';
COMMENT ON COLUMN chan.inbound_deliveries.claimed_by IS 'The worker that has it in hand; freed when that one dies.';
COMMENT ON COLUMN chan.inbound_deliveries.last_reason IS 'What the last try came to, in our words.';
CALL kernel.protect_tenant_table('chan.inbound_deliveries', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('chan.inbound_deliveries',
    'SELECT (tenant_id, id, conversation_id, status, next_attempt_at, claimed_by, updated_at), UPDATE (claimed_by), DELETE');

-- An answer goes to the address that its conversation is with.
ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS pinned TEXT;
COMMENT ON COLUMN notification.notifications.pinned IS
    'JSON, of an answer within a conversation: the address by its id, and the vendor and sender that the person wrote to. Null: the first choices.';
COMMENT ON COLUMN notification.suppressions.occurred_at IS
    'When another service suppressed it, by its list, or its owner wrote that they want no more; null: when it was added here.';

CALL kernel.assert_protected();
