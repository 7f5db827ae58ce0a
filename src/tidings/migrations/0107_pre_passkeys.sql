-- tidings: oldest-release=0.1.0
-- Passkeys of operators (WebAuthn), and the challenges that they sign.

CREATE TABLE IF NOT EXISTS bff_backoffice.passkeys (
    id              TEXT COLLATE "C" NOT NULL,
    tenant_id       TEXT COLLATE "C",
    operator_id     TEXT COLLATE "C" NOT NULL,
    credential_id   TEXT COLLATE "C" NOT NULL,
    public_key      BYTEA NOT NULL,
    proof_hash      TEXT COLLATE "C" NOT NULL,
    sign_count      BIGINT NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    is_synced       BOOLEAN NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    last_used_at    TIMESTAMPTZ,
    CONSTRAINT pk_passkeys PRIMARY KEY (id),
    CONSTRAINT fk_passkeys_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators (id),
    CONSTRAINT ck_passkeys_id CHECK (id ~ '^psk_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_passkeys_kind CHECK (kind IN ('this_device', 'security_key'))
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_passkeys_credential ON bff_backoffice.passkeys (credential_id);
CREATE INDEX IF NOT EXISTS ix_passkeys_operator ON bff_backoffice.passkeys (operator_id, id);
COMMENT ON TABLE bff_backoffice.passkeys IS 'Passkeys by which operators prove themselves. tenant_id null: of operators of the platform.';
COMMENT ON COLUMN bff_backoffice.passkeys.proof_hash IS
    'Proof that the application wrote whose key this is: a hash under a key that is not in the database. A row without the right one proves nothing.';
COMMENT ON COLUMN bff_backoffice.passkeys.sign_count IS 'As the authenticator counts; one that does not grow is a copy. 0: it does not count.';
COMMENT ON COLUMN bff_backoffice.passkeys.kind IS 'this_device: of a computer or telephone; security_key: a key of its own.';
-- What operators do to their own sign-in is no right of a role.
CALL kernel.protect_tenant_table('bff_backoffice.passkeys', 'SELECT, INSERT, UPDATE (sign_count, last_used_at), DELETE', true);
CALL kernel.open_to_platform('bff_backoffice.passkeys', 'SELECT, INSERT, UPDATE (sign_count, last_used_at), DELETE', true);
-- Who signs in by a passkey says which key it is, and not which tenant.
CALL kernel.set_policy('bff_backoffice.passkeys', 'platform_looks_up', 'FOR SELECT TO tidings_platform USING (true)');

CREATE TABLE IF NOT EXISTS bff_backoffice.passkey_challenges (
    challenge_hash TEXT COLLATE "C" NOT NULL,
    tenant_id      TEXT COLLATE "C",
    operator_id    TEXT COLLATE "C",
    purpose        TEXT COLLATE "C" NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_passkey_challenges PRIMARY KEY (challenge_hash),
    CONSTRAINT ck_passkey_challenges_purpose CHECK (purpose IN ('register', 'prove', 'sign_in'))
);
CREATE INDEX IF NOT EXISTS ix_passkey_challenges_expiry ON bff_backoffice.passkey_challenges (expires_at);
COMMENT ON TABLE bff_backoffice.passkey_challenges IS 'What a passkey is to sign: each once, within five minutes. tenant_id null: somebody who is not signed in yet, or of the platform.';
CALL kernel.protect_tenant_table('bff_backoffice.passkey_challenges', 'SELECT, INSERT, DELETE', true);
CALL kernel.open_to_platform('bff_backoffice.passkey_challenges', 'SELECT, INSERT, DELETE', true);
CALL kernel.open_to_worker('bff_backoffice.passkey_challenges', 'SELECT (tenant_id, challenge_hash, expires_at), DELETE');

ALTER TABLE bff_backoffice.operators ADD COLUMN IF NOT EXISTS passkeys INTEGER NOT NULL DEFAULT 0;
COMMENT ON COLUMN bff_backoffice.operators.passkeys IS 'How many they have.';

CALL kernel.assert_protected();
