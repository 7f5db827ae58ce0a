-- What codes mean, codes that nobody has given a meaning, and what messages cost by day.

-- By code alone: whose meaning counts is decided among the few that speak of it. There are so few lines that it takes no time.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_adapter_status_map_code ON chan.adapter_status_map (provider_code);

CREATE TABLE IF NOT EXISTS chan.unknown_provider_codes (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    vendor     TEXT COLLATE "C" NOT NULL,
    code       TEXT COLLATE "C" NOT NULL,
    adapter    TEXT COLLATE "C" NOT NULL,
    count      BIGINT NOT NULL DEFAULT 0,
    first_seen TIMESTAMPTZ NOT NULL,
    last_seen  TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_unknown_provider_codes PRIMARY KEY (tenant_id, vendor, code),
    CONSTRAINT ck_unknown_provider_codes_adapter CHECK (adapter ~ '^[a-z][a-z0-9_]{1,62}$'),
    CONSTRAINT ck_unknown_provider_codes_code CHECK (length(code) BETWEEN 1 AND 64),
    CONSTRAINT ck_unknown_provider_codes_count CHECK (count >= 0)
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS ix_unknown_provider_codes_seen ON chan.unknown_provider_codes (last_seen);
COMMENT ON TABLE chan.unknown_provider_codes IS
    'What vendors said about a tenant''s messages that nobody has given a meaning; the receipts themselves are kept.';
COMMENT ON COLUMN chan.unknown_provider_codes.code IS 'The vendor''s code; of an event without one its word.';
COMMENT ON COLUMN chan.unknown_provider_codes.adapter IS 'The adapter behind the vendor''s name.';
CALL kernel.protect_tenant_table('chan.unknown_provider_codes', 'SELECT, INSERT, UPDATE');
-- Operators see what their vendors say to all tenants together: codes and counts, and nothing of any message.
CALL kernel.open_to_platform('chan.unknown_provider_codes', 'SELECT');
CALL kernel.open_to_worker('chan.unknown_provider_codes', 'SELECT (tenant_id, vendor, code, last_seen), DELETE');

ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS meaning TEXT COLLATE "C";
COMMENT ON COLUMN chan.delivery_attempts.reason IS 'A code: the vendor''s, or one of ours.';
COMMENT ON COLUMN chan.delivery_attempts.meaning IS
    'What the vendor''s code means by the status map as it was then: a word of ours. Null: nobody has said.';
COMMENT ON COLUMN chan.delivery_attempts.execution_id IS
    'The ladder. Of a confirmation in a conversation the line of the transcript (mt_…): it has no ladder.';

-- Nothing was ever kept as unknown before this release: this is made at once.
-- Receipts that wait for a meaning, by what is to be given one.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_delivery_attempt_events_code
    ON chan.delivery_attempt_events (tenant_id, provider_code, recorded_at) WHERE provider_code IS NOT NULL;
COMMENT ON COLUMN chan.delivery_attempt_events.provider_code IS
    'The vendor''s code; of an unknown event without one its word, so that it can be given a meaning.';

CREATE TABLE IF NOT EXISTS chan.spend_daily (
    tenant_id        TEXT COLLATE "C" NOT NULL,
    day              DATE NOT NULL,
    stripe           INTEGER NOT NULL,
    channel          TEXT COLLATE "C" NOT NULL,
    vendor           TEXT COLLATE "C" NOT NULL,
    currency         TEXT COLLATE "C" NOT NULL,
    messages         BIGINT NOT NULL DEFAULT 0,
    estimated_micros BIGINT NOT NULL DEFAULT 0,
    real_micros      BIGINT NOT NULL DEFAULT 0,
    corrected        BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT pk_spend_daily PRIMARY KEY (tenant_id, day, stripe, channel, vendor, currency),
    CONSTRAINT ck_spend_daily_currency CHECK (currency ~ '^[A-Z]{3}$')
) WITH (fillfactor = 50);
COMMENT ON TABLE chan.spend_daily IS
    'What messages cost, by day (UTC) of their attempts; kept in the transactions that write attempts and receipts.';
COMMENT ON COLUMN chan.spend_daily.stripe IS 'The sum over all stripes is the amount; one stripe alone may be below nothing.';
COMMENT ON COLUMN chan.spend_daily.messages IS 'Vendor calls that cost something, of ladders and of confirmations in conversations.';
COMMENT ON COLUMN chan.spend_daily.estimated_micros IS 'By the price lists, as it was reckoned before the calls.';
COMMENT ON COLUMN chan.spend_daily.real_micros IS 'What the vendors said they take; the estimate where they said nothing.';
COMMENT ON COLUMN chan.spend_daily.corrected IS 'Of how many the vendor has told the price.';
CALL kernel.protect_tenant_table('chan.spend_daily', 'SELECT, INSERT, UPDATE');

CALL kernel.assert_protected();
