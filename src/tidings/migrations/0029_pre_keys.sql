-- Keys, always wrapped: the master key (in a key file or KMS) wraps tenant and platform keys, a tenant's key wraps its
-- recipients' data keys. Nothing in these tables opens anything without the master key.

CREATE TABLE IF NOT EXISTS kernel.tenant_keys (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    purpose       TEXT COLLATE "C" NOT NULL,
    version       INTEGER NOT NULL,
    wrapped_key   BYTEA NOT NULL,
    master_key_id TEXT COLLATE "C" NOT NULL,
    state         TEXT NOT NULL DEFAULT 'active',
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    retired_at    TIMESTAMPTZ,
    CONSTRAINT pk_tenant_keys PRIMARY KEY (tenant_id, purpose, version),
    CONSTRAINT ck_tenant_keys_tenant CHECK (tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_tenant_keys_purpose CHECK (purpose IN ('wrapping', 'pepper')),
    CONSTRAINT ck_tenant_keys_version CHECK (version >= 1),
    -- A new pepper would orphan every hash, the suppressions' first of all.
    CONSTRAINT ck_tenant_keys_pepper_stays CHECK (purpose <> 'pepper' OR (version = 1 AND state = 'active')),
    CONSTRAINT ck_tenant_keys_state CHECK (state IN ('active', 'retired')),
    CONSTRAINT ck_tenant_keys_retired CHECK ((state = 'retired') = (retired_at IS NOT NULL))
);
COMMENT ON TABLE kernel.tenant_keys IS
    'A tenant''s key for wrapping data keys, and its pepper for hashing addresses; both wrapped by the master key.';
COMMENT ON COLUMN kernel.tenant_keys.state IS
    'The highest active version wraps; an older one is active while data keys are still being re-wrapped.';
COMMENT ON COLUMN kernel.tenant_keys.created_at IS
    'The time of the transaction that made it: a reader knows by it whether the row is its own and may yet be rolled back.';
CALL kernel.protect_tenant_table('kernel.tenant_keys',
    'SELECT, INSERT, UPDATE (wrapped_key, master_key_id, state, retired_at)');
-- Rotating the master key re-wraps every tenant's keys.
CALL kernel.open_to_platform('kernel.tenant_keys', 'SELECT, UPDATE (wrapped_key, master_key_id)');

CREATE TABLE IF NOT EXISTS kernel.data_keys (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    subject_id         TEXT COLLATE "C" NOT NULL,
    version            INTEGER NOT NULL,
    wrapped_key        BYTEA,
    tenant_key_version INTEGER NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    destroyed_at       TIMESTAMPTZ,
    CONSTRAINT pk_data_keys PRIMARY KEY (tenant_id, subject_id, version),
    CONSTRAINT ck_data_keys_tenant CHECK (tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_data_keys_subject CHECK (char_length(subject_id) BETWEEN 1 AND 200),
    CONSTRAINT ck_data_keys_version CHECK (version >= 1),
    CONSTRAINT ck_data_keys_destroyed CHECK ((wrapped_key IS NULL) = (destroyed_at IS NOT NULL))
);
-- What a tenant key still has to be kept for: re-wrapping takes it from here, retiring asks whether it is empty.
CREATE INDEX IF NOT EXISTS ix_data_keys_tenant_key
    ON kernel.data_keys (tenant_id, tenant_key_version) WHERE destroyed_at IS NULL;
COMMENT ON TABLE kernel.data_keys IS
    'The key of one recipient (or other subject), wrapped by its tenant''s key; destroying it makes all it sealed unreadable.';
COMMENT ON COLUMN kernel.data_keys.version IS
    'Version 1 is never removed: its row is locked by whoever changes which versions the subject has.';
COMMENT ON COLUMN kernel.data_keys.wrapped_key IS 'Null once destroyed; also for a subject that was destroyed before it had a key.';
CALL kernel.protect_tenant_table('kernel.data_keys',
    'SELECT, INSERT, UPDATE (wrapped_key, tenant_key_version, destroyed_at)');
CREATE OR REPLACE TRIGGER destroyed_stays_destroyed BEFORE UPDATE ON kernel.data_keys
    FOR EACH ROW WHEN (OLD.destroyed_at IS NOT NULL) EXECUTE FUNCTION kernel.refuse_change();

CREATE TABLE IF NOT EXISTS kernel.platform_keys (
    purpose       TEXT COLLATE "C" NOT NULL,
    version       INTEGER NOT NULL,
    wrapped_key   BYTEA NOT NULL,
    master_key_id TEXT COLLATE "C" NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_platform_keys PRIMARY KEY (purpose, version),
    CONSTRAINT ck_platform_keys_purpose CHECK (purpose ~ '^[a-z][a-z_]{0,62}$'),
    CONSTRAINT ck_platform_keys_version CHECK (version >= 1),
    CONSTRAINT ck_platform_keys_pepper_stays CHECK (purpose <> 'pepper' OR version = 1)
);
COMMENT ON TABLE kernel.platform_keys IS
    'The platform''s own keys, wrapped by the master key: its pepper, and the key for callbacks that nobody has claimed yet.';
CALL kernel.protect_service_table('kernel.platform_keys');
CALL kernel.open_to_platform('kernel.platform_keys', 'SELECT, INSERT, UPDATE (wrapped_key, master_key_id)');

CALL kernel.assert_protected();
