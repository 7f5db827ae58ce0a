-- tidings: oldest-release=0.1.0
-- Operators: the people of a tenant, or of the platform, who sign in to the back office. Names and addresses stand in this table alone.

CREATE TABLE IF NOT EXISTS bff_backoffice.operators (
    id               TEXT COLLATE "C" NOT NULL,
    tenant_id        TEXT COLLATE "C",
    role             TEXT COLLATE "C" NOT NULL,
    status           TEXT COLLATE "C" NOT NULL DEFAULT 'invited',
    grant_hash       TEXT COLLATE "C" NOT NULL,
    name_ciphertext  BYTEA,
    email_ciphertext BYTEA,
    email_hash       TEXT COLLATE "C",
    password_hash    TEXT COLLATE "C",
    totp_ciphertext  BYTEA,
    totp_step        BIGINT NOT NULL DEFAULT 0,
    recovery_hashes  TEXT[] COLLATE "C" NOT NULL DEFAULT '{}',
    failures         INTEGER NOT NULL DEFAULT 0,
    code_failures    INTEGER NOT NULL DEFAULT 0,
    locked_until     TIMESTAMPTZ,
    link_hash        TEXT COLLATE "C",
    link_kind        TEXT COLLATE "C",
    link_expires_at  TIMESTAMPTZ,
    created_by       TEXT COLLATE "C" NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    erased_at        TIMESTAMPTZ,
    version          INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_operators PRIMARY KEY (id),
    CONSTRAINT ck_operators_id CHECK (id ~ '^oper_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_operators_role CHECK (role IN
        ('platform.channel.admin', 'platform.support', 'tenant.admin', 'tenant.support', 'tenant.viewer')),
    CONSTRAINT ck_operators_role_fits_tenant CHECK ((tenant_id IS NULL) = (role LIKE 'platform.%')),
    CONSTRAINT ck_operators_status CHECK (status IN ('invited', 'active', 'locked', 'disabled')),
    CONSTRAINT ck_operators_locked CHECK ((status = 'locked') = (locked_until IS NOT NULL)),
    CONSTRAINT ck_operators_link CHECK (
        (link_hash IS NULL) = (link_expires_at IS NULL) AND (link_hash IS NULL) = (link_kind IS NULL)
        AND link_kind IN ('join', 'open')),
    CONSTRAINT ck_operators_erased CHECK (
        erased_at IS NULL
        OR (status = 'disabled' AND num_nonnulls(name_ciphertext, email_ciphertext, email_hash, password_hash, totp_ciphertext, link_hash) = 0))
);
CREATE INDEX IF NOT EXISTS ix_operators_tenant ON bff_backoffice.operators (tenant_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS ux_operators_email ON bff_backoffice.operators (tenant_id, email_hash) NULLS NOT DISTINCT
    WHERE email_hash IS NOT NULL;
-- Who signs in says which mail is theirs, and not which tenant.
CREATE INDEX IF NOT EXISTS ix_operators_email ON bff_backoffice.operators (email_hash) WHERE email_hash IS NOT NULL;
COMMENT ON TABLE bff_backoffice.operators IS 'People who work in the back office. tenant_id null: operators of the platform, whom no tenant sees.';
COMMENT ON COLUMN bff_backoffice.operators.status IS
    'invited: has a link and no password yet; locked: after too many failures, until locked_until; disabled: until an admin enables them.';
COMMENT ON COLUMN bff_backoffice.operators.grant_hash IS
    'Proof that the application wrote tenant, role and status of this row: a hash of them under a key that is not in the database. A row without the right one lets nobody in.';
COMMENT ON COLUMN bff_backoffice.operators.email_hash IS 'Under the back office''s pepper: an operator is looked up before their tenant is known.';
COMMENT ON COLUMN bff_backoffice.operators.password_hash IS 'Argon2id, with its parameters and salt.';
COMMENT ON COLUMN bff_backoffice.operators.totp_ciphertext IS 'The secret of their authenticator.';
COMMENT ON COLUMN bff_backoffice.operators.totp_step IS 'The step of the last code that was used; none of it or before is taken again.';
COMMENT ON COLUMN bff_backoffice.operators.recovery_hashes IS 'Of the codes that are left; each works once.';
COMMENT ON COLUMN bff_backoffice.operators.failures IS 'Wrong passwords in a row, which anybody can give who knows the mail.';
COMMENT ON COLUMN bff_backoffice.operators.code_failures IS 'Wrong codes in a row, which take the password or a session; too many lock what asks for a code too.';
COMMENT ON COLUMN bff_backoffice.operators.link_hash IS 'Of the one link that works: of an invitation, or one that opens the console.';
COMMENT ON COLUMN bff_backoffice.operators.link_kind IS 'join: choose a password and an authenticator; open: opens a session at once.';
COMMENT ON COLUMN bff_backoffice.operators.erased_at IS 'When their personal data was removed; the id stays for the ledgers.';
CALL kernel.protect_tenant_table('bff_backoffice.operators', 'SELECT, INSERT, UPDATE');
-- Who signs in is looked for everywhere; the platform writes its own operators alone.
CALL kernel.open_to_platform('bff_backoffice.operators', 'SELECT, INSERT, UPDATE', true);
CALL kernel.set_policy('bff_backoffice.operators', 'platform_looks_up', 'FOR SELECT TO tidings_platform USING (true)');
-- What the cache of sessions knows of an operator: rights and status, which grant_hash covers. Not each failed sign-in.
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.operators;
CREATE TRIGGER announce_change AFTER UPDATE ON bff_backoffice.operators
    FOR EACH ROW WHEN (old.grant_hash IS DISTINCT FROM new.grant_hash) EXECUTE FUNCTION kernel.announce_change('id');

CALL kernel.assert_protected();
